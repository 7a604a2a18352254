import type { CallContext, Caller } from '../../_shared/caller/context.ts'
import { storeMessage } from '../../_shared/chat/store-message.ts'
import { type Args, call, type Callable } from '../../_shared/database/db.ts'
import { alarm } from '../../_shared/errors/alarms.ts'
import { log } from '../../_shared/errors/log.ts'
import { classifyError, Refusal, stackLinesOf } from '../../_shared/errors/refusal.ts'
import type { Message } from '../protocol.ts'

type SentMessage = { created: boolean; message: Message }

/** A refusal whose cause has been logged under the `requestId` that the client receives. */
export class LoggedRefusal extends Refusal {
  readonly requestId: string

  constructor(requestId: string, ...refusal: ConstructorParameters<typeof Refusal>) {
    super(...refusal)
    this.requestId = requestId
  }
}

/** Calls an `api` function as the account of a socket. Throws only Refusals. */
export const callFor = <T, Name extends Callable>(
  caller: Caller,
  name: Name,
  args: Args<Name>,
): Promise<T> => asOwner(caller, name, (context) => call(context, name, args))

export const sendFor = (caller: Caller, message: Args<'send_message'>): Promise<SentMessage> =>
  asOwner(caller, 'send_message', (context) => storeMessage(context, message))

async function asOwner<T>(
  caller: Caller,
  name: string,
  ask: (context: CallContext) => Promise<string>,
): Promise<T> {
  // With `required`, the database refuses an invalid caller instead of treating it as an anonymous user.
  const values: Record<string, unknown> = { caller, required: true, headers: {} }
  try {
    return JSON.parse(await ask({ get: (key: string) => values[key] } as CallContext))
  } catch (error) {
    throw asRefusal(error as Error, caller, name)
  }
}

function asRefusal(thrown: Error, caller: Caller, name: string): Refusal {
  if (thrown instanceof Refusal) return thrown
  const { code, detail = {}, cause } = classifyError(thrown, caller)
  if (!cause) return new Refusal(code, detail)
  const requestId = crypto.randomUUID()
  if (code === 'internal') alarm('internal', `chat ${name}`, { requestId, name: thrown.name })
  log(code === 'internal' ? 'error' : 'warn', {
    requestId,
    call: name,
    code,
    cause,
    ...(code === 'internal' && { stack: stackLinesOf(thrown) }),
  })
  return new LoggedRefusal(requestId, code, detail)
}
