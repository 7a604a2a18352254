import { env } from '../settings/env.ts'

const local = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

export const isAllowedOrigin = (origin: string): boolean =>
  env.corsOrigins.includes(origin) || !env.production && local.test(origin)
