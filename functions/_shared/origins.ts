/** Which pages in browsers may call: those that are named, and outside production those of a developer. */
import { env } from './env.ts'

const local = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

export const isAllowedOrigin = (origin: string): boolean =>
  env.corsOrigins.includes(origin) || !env.production && local.test(origin)
