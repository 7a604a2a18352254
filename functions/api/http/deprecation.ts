// A deprecated route announces its removal a year ahead, in the OpenAPI description and in every response.
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../../_shared/caller/context.ts'

/** The first day on which the route may be removed, one year after the announcement. */
function lastDay(announced: string): Date {
  const day = new Date(announced)
  day.setUTCFullYear(day.getUTCFullYear() + 1)
  return day
}

/** Sends the Deprecation (RFC 9745) and Sunset (RFC 8594) headers, which have different time formats. */
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
