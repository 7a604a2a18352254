import { authorities, connectionOf } from '../../functions/_shared/settings/connection.ts'
import { variable } from '../config/environment.ts'

export const databaseAt = (url: string) =>
  connectionOf(url, { ca: authorities(variable('DATABASE_CA')) })
