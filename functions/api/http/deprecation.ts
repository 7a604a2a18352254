// A route that will be removed announces it a year ahead, in its description and with every answer.
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../../_shared/caller/context.ts'

/** The day from which a route may be removed, a year after the announcement. */
function lastDay(announced: string): Date {
  const day = new Date(announced)
  day.setUTCFullYear(day.getUTCFullYear() + 1)
  return day
}

/** Sends the headers of RFC 9745 and RFC 8594, which write times in different ways. */
export function announceEnd(announced: string): MiddlewareHandler<ApiEnv> {
  const headers = {
    Deprecation: `@${Date.parse(announced) / 1000}`,
    Sunset: lastDay(announced).toUTCString(),
  }
  return (c, next) => {
    Object.assign(c.get('headers'), headers)
    return next()
  }
}

export const sayEnd = (announced: string) =>
  `Deprecated since ${announced}; may be gone from ${
    lastDay(announced).toISOString().slice(0, 10)
  } on.`
