// Every line of every process is JSON: when, how bad, which version, where, and for which request.
import { AsyncLocalStorage } from 'node:async_hooks'
import { causeOf, stackLinesOf } from './refusal.ts'

/** The same version as in package.json. */
export const version = '1.0.0-rc.1'

type Request = { ids: { requestId: string; traceId?: string }; traceparent?: string }

const current = new AsyncLocalStorage<Request | undefined>()
let regionName: string | undefined

/** Sets the region that all lines name. */
export const runIn = (name: string | undefined) => void (regionName = name)

export const region = (): string | undefined => regionName

/** Logs one line. No field may contain a token, a code, a full number or the text of a message. */
export function log(level: 'info' | 'warn' | 'error', fields: Record<string, unknown>): void {
  const { ids } = current.getStore() ?? {}
  const time = new Date().toISOString()
  const line = JSON.stringify({ time, level, version, region: regionName, ...ids, ...fields })
  if (level === 'error') console.error(line)
  else console.log(line)
}

/** Logs a failure that reaches no client, without the values that Postgres and parsers repeat in errors. */
export function logFailure(failed: string, thrown: unknown): void {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  log('error', { failed, cause: causeOf(error), stack: stackLinesOf(error) })
}

const traceForm = /^(?!ff)[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)[\da-f]{16}-([\da-f]{2})$/

/** Does the work as a request with an id of its own, in the trace that `traceparent` names (W3C). */
export function inRequest<T>(
  traceparent: string | null | undefined,
  work: (requestId: string) => T,
): T {
  const requestId = crypto.randomUUID()
  const [, traceId, flags] = traceForm.exec(traceparent ?? '') ?? []
  // The second half of the request's id is its span.
  const span = requestId.replaceAll('-', '').slice(16)
  return current.run({
    ids: { requestId, traceId },
    traceparent: traceId && `00-${traceId}-${span}-${flags}`,
  }, () => work(requestId))
}

/** Binds work to the current request: its log lines have the request's ids, however late it runs. */
export function forThisRequest<Args extends unknown[], T>(work: (...args: Args) => T) {
  const request = current.getStore()
  return (...args: Args): T => current.run(request, () => work(...args))
}

/** The headers by which a service of the project joins the trace. */
export function traceHeaders(): Record<string, string> {
  const { traceparent } = current.getStore() ?? {}
  return traceparent ? { traceparent } : {}
}
