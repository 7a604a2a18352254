/**
 * Sending messages, for the facade and the gateway. A text that comes while others are being written
 * waits for these, and goes with all that waited in one transaction: most of what a message costs the
 * database is the same for one as for many. While nobody else writes it goes at once, by itself.
 * What is not simply stored with others is sent again by itself, which tells why.
 */
import { callFailed } from './alarms.ts'
import type { CallContext } from './context.ts'
import { type Args, backend, call, setRateHeaders } from './db.ts'

type Message = Args<'send_message'>

type Waiting = {
  context: CallContext
  message: Message
  resolve: (answer: string) => void
  reject: (error: unknown) => void
}

/** What the database says of one that it stored; null for one that must be sent by itself. */
type Outcome = { answer: string; rate: string } | null

const batchLimit = 32
/**
 * Milliseconds that messages wait at most for those before them, which may meet a lock, a slow disk or no
 * database; and one that is sent by itself keeps its sender's and conversation's next ones behind it.
 */
const patience = 50

const waiting: Waiting[] = []
/** Those whose senders and conversations send nothing else. */
const onTheirWay = new Set<Waiting>()
/** The batch that all wait for. */
let newest: Waiting[] | undefined

/** Gives the answer of the database function as text, and sets the headers of the rate. */
export function storeMessage(context: CallContext, message: Message): Promise<string> {
  if (!mayWait(context, message)) return sendItself(context, message)
  return new Promise((resolve, reject) => {
    waiting.push({ context, message, resolve, reject })
    void sendWaiting()
  })
}

const sendItself = (context: CallContext, message: Message) =>
  call(context, 'send_message', message)

const mayWait = (context: CallContext, { type, mediaId, replyToId }: Message) =>
  type === 'text' && mediaId === undefined && replyToId === undefined &&
  context.get('idempotencyKey') === undefined && context.get('expectIdentity') === undefined

async function sendWaiting(): Promise<void> {
  if (newest) return
  const batch = takeBatch()
  if (batch.length === 0) return
  newest = batch
  const letOthersGo = (after: Waiting[]) => {
    if (newest === batch) newest = undefined
    after.forEach((one) => onTheirWay.delete(one))
    void sendWaiting()
  }
  const timer = setTimeout(letOthersGo, patience, batch)
  const left = await sendBatch(batch)
  letOthersGo(batch.filter((one) => !left.includes(one)))
  await Promise.all(left.map((one) => finish(one).finally(() => letOthersGo([one]))))
  clearTimeout(timer)
}

/** The first that wait, one of each account and conversation: these stay in their order. */
function takeBatch(): Waiting[] {
  const taken: Waiting[] = []
  const left: Waiting[] = []
  const seen = new Set([...onTheirWay].flatMap(keysOf))
  for (const one of waiting) {
    const keys = keysOf(one)
    const isFirst = !keys.some((key) => seen.has(key))
    ;(isFirst && taken.length < batchLimit ? taken : left).push(one)
    keys.forEach((key) => seen.add(key))
  }
  waiting.splice(0, waiting.length, ...left)
  taken.forEach((one) => onTheirWay.add(one))
  return taken
}

const keysOf = ({ context, message }: Waiting): unknown[] => [
  context.get('caller').sub,
  message.conversationId,
]

/** Gives those that have to be sent by themselves. */
async function sendBatch(batch: Waiting[]): Promise<Waiting[]> {
  if (batch.length === 1) {
    await finish(batch[0]!)
    return []
  }
  const messages = batch.map(({ context, message }) => {
    const { sub: accountId, sessionId } = context.get('caller')
    const { conversationId, clientMessageId, body } = message
    return { accountId, sessionId, conversationId, clientMessageId, body }
  })
  try {
    const outcomes = await backend<Outcome[]>('send_messages', { messages })
    return batch.filter(({ context, resolve }, nth) => {
      const outcome = outcomes[nth]
      if (!outcome) return true
      setRateHeaders(context, outcome.rate.split(','))
      resolve(outcome.answer)
    })
  } catch (error) {
    // What the database undid as a whole it says of each by itself. Nothing is stored twice, since each
    // has its clientMessageId.
    if (/^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')) {
      callFailed('send_messages', error as Error)
      return batch
    }
    batch.forEach(({ reject }) => reject(error))
    return []
  }
}

const finish = ({ context, message, resolve, reject }: Waiting): Promise<void> =>
  sendItself(context, message).then(resolve, reject)
