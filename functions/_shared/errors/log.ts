// All processes log JSON lines with time, level, version, region and the ids of the request.
import { AsyncLocalStorage } from 'node:async_hooks'
import { causeOf, stackLinesOf } from './refusal.ts'

/** Must match package.json. */
export const version = '1.0.0-rc.1'

type Request = { ids: { requestId: string; traceId?: string }; traceparent?: string }

const current = new AsyncLocalStorage<Request | undefined>()
let regionName: string | undefined

/** Sets the region that every log line contains. */
export const runIn = (name: string | undefined) => void (regionName = name)

export const region = (): string | undefined => regionName

/** Logs one line. No field may contain a token, a code, a complete phone number or the text of a message. */
export function log(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>): void {
  const { ids } = current.getStore() ?? {}
  const time = new Date().toISOString()
  const line = JSON.stringify({ time, level, version, region: regionName, ...ids, ...fields })
  if (level === 'error') console.error(line)
  else console.log(line)
}

/**
 * Logs a failure that no client sees. Leaves out the values that error messages of Postgres and of parsers
 * quote.
 */
export function logFailure(failed: string, thrown: unknown): void {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  log('error', { failed, cause: causeOf(error), stack: stackLinesOf(error) })
}

const traceForm = /^(?!ff)[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)[\da-f]{16}-([\da-f]{2})$/

/** Runs the work as a request with its own id, as part of the trace in the W3C header `traceparent`. */
export function inRequest<T>(
  traceparent: string | null | undefined,
  work: (requestId: string) => T,
): T {
  const requestId = crypto.randomUUID()
  const [, traceId, flags] = traceForm.exec(traceparent ?? '') ?? []
  // The second half of the request id serves as the span id.
  const span = requestId.replaceAll('-', '').slice(16)
  return current.run({
    ids: { requestId, traceId },
    traceparent: traceId && `00-${traceId}-${span}-${flags}`,
  }, () => work(requestId))
}

/**
 * Binds a function to the current request, so that its log lines contain the request's ids even if it runs
 * later.
 */
export function forThisRequest<Args extends unknown[], T>(work: (...args: Args) => T) {
  const request = current.getStore()
  return (...args: Args): T => current.run(request, () => work(...args))
}

/** Headers that add a request to another Supabase service to the current trace. */
export function traceHeaders(): Record<string, string> {
  const { traceparent } = current.getStore() ?? {}
  return traceparent ? { traceparent } : {}
}
