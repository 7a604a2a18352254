import { authorities, connectionOf } from '../../functions/_shared/connection.ts'
import { variable } from '../environment.ts'

/** The way to any database, for programs that may meet one of another machine. */
export const databaseAt = (url: string) =>
  connectionOf(url, { ca: authorities(variable('DATABASE_CA')) })
