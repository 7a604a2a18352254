/** The gateway's way to the database: the same functions and the same refusals as the REST facade. */
import { alarm } from '../../_shared/alarms.ts'
import type { Caller } from '../../_shared/tokens.ts'
import type { Database } from '../../_shared/database.types.ts'
import type { CallContext } from '../../_shared/context.ts'
import { type Args, backend, call } from '../../_shared/db.ts'
import { classifyError, Refusal } from '../../_shared/refusal.ts'

type Functions = Database['api']['Functions']

/** One JSON line; never a token or what people write to one another. */
export const log = (facts: Record<string, unknown>) =>
  console.log(JSON.stringify({ time: new Date().toISOString(), ...facts }))

/** A refusal that stands in the log under a number. */
export class Failure extends Refusal {
  readonly requestId: string

  constructor(requestId: string, ...refusal: ConstructorParameters<typeof Refusal>) {
    super(...refusal)
    this.requestId = requestId
  }
}

/** Calls an `api` function for the owner of a socket. Throws nothing but a Refusal. */
export async function ask<T, Name extends keyof Functions & string>(
  caller: Caller,
  name: Name,
  args: Args<Name>,
): Promise<T> {
  const asking = {
    // Required: a caller who is not in order is refused and never taken for a guest.
    var: { requestId: '', address: '', caller, required: true },
    header: () => {},
  } as unknown as CallContext
  try {
    return JSON.parse(await call(asking, name, args))
  } catch (error) {
    throw refusalOf(error as Error, caller, name)
  }
}

/** Any thrown thing as a refusal; what nobody foresaw is logged under a number that the client sees. */
export function refusalOf(thrown: Error, caller: { role: string }, what: string): Refusal {
  if (thrown instanceof Refusal) return thrown
  const { code, detail = {}, cause } = classifyError(thrown, caller)
  if (!cause) return new Refusal(code, detail)
  const requestId = crypto.randomUUID()
  if (code === 'internal') alarm('internal', `chat ${what}`, { requestId, name: thrown.name })
  log({ requestId, call: what, code, cause, ...(code === 'internal' && { stack: thrown.stack }) })
  return new Failure(requestId, code, detail)
}

export { backend }
