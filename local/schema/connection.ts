import { authorities, connectionOf } from '../../functions/_shared/connection.ts'
import { variable } from '../config/environment.ts'

/** How to connect to a database, which may be on another machine. */
export const databaseAt = (url: string) =>
  connectionOf(url, { ca: authorities(variable('DATABASE_CA')) })
