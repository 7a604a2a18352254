/**
 * Sending messages, for the facade and the gateway. A text that comes while others are being written
 * waits for these, and goes with all that waited in one transaction: most of what a message costs the
 * database is the same for one as for many. While nobody else writes it goes at once. What is not
 * simply stored that way is sent alone, which tells why.
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

/** What the database says of one that it stored; null for one that must be sent alone. */
type Outcome = { answer: unknown; rate: string } | null

const batchLimit = 32
/**
 * Milliseconds that a message waits at most for one before it of its sender or conversation, to stay
 * behind it; and that all wait for many that went together. These may meet a lock, a slow disk or no
 * database.
 */
const patience = 50
/**
 * Milliseconds that others wait for a lone one, which saves nobody much; twice as long for each that is
 * still on its way, so that a stalled database does not take all connections.
 */
const patienceForOne = 3

type Sending = {
  /** The accounts and conversations whose next messages wait. */
  keys: unknown[]
  timer?: ReturnType<typeof setTimeout>
}

const waiting: Waiting[] = []
const onTheirWay = new Set<Sending>()
/** The one that all wait for. */
let newest: Sending | undefined

/** Gives the answer of the database function as text, and sets the headers of the rate. */
export function storeMessage(context: CallContext, message: Message): Promise<string> {
  if (!mayWait(context, message)) return sendAlone(context, message)
  return new Promise((resolve, reject) => {
    waiting.push({ context, message, resolve, reject })
    sendWaiting()
  })
}

const sendAlone = (context: CallContext, message: Message) => call(context, 'send_message', message)

const mayWait = (context: CallContext, { type, mediaId, replyToId }: Message) =>
  type === 'text' && mediaId === undefined && replyToId === undefined &&
  context.get('idempotencyKey') === undefined && context.get('expectIdentity') === undefined

function sendWaiting() {
  if (newest) return
  const all = takeBatch()
  if (all.length === 0) return
  const time = all.length > 1 ? patience : Math.min(patience, patienceForOne * 2 ** onTheirWay.size)
  const sending: Sending = { keys: all.flatMap(keysOf) }
  onTheirWay.add(sending)
  newest = sending
  const letOthersGo = () => {
    if (newest === sending) newest = undefined
    sendWaiting()
  }
  const letAllGo = () => {
    sending.keys = []
    letOthersGo()
  }
  sending.timer = setTimeout(() => {
    sending.timer = setTimeout(letAllGo, patience - time)
    letOthersGo()
  }, time)
  void sendBatch(all).finally(() => {
    clearTimeout(sending.timer)
    onTheirWay.delete(sending)
    letAllGo()
  })
}

const keysOf = ({ context, message }: Waiting): unknown[] => [
  context.get('caller').sub,
  message.conversationId,
]

/** The first that wait, one of each account and conversation: these stay in their order. */
function takeBatch(): Waiting[] {
  const taken: Waiting[] = []
  const left: Waiting[] = []
  const seen = new Set([...onTheirWay].flatMap(({ keys }) => keys))
  for (const one of waiting) {
    const keys = keysOf(one)
    const isFirst = !keys.some((key) => seen.has(key))
    ;(isFirst && taken.length < batchLimit ? taken : left).push(one)
    keys.forEach((key) => seen.add(key))
  }
  waiting.splice(0, waiting.length, ...left)
  return taken
}

/** Nobody waits for those of many that have to be sent alone after all. */
async function sendBatch(all: Waiting[]): Promise<void> {
  if (all.length === 1) return await finishAlone(all[0])
  const messages = all.map(({ context, message }) => {
    const { sub: accountId, sessionId } = context.get('caller')
    const { conversationId, clientMessageId, body } = message
    return { accountId, sessionId, conversationId, clientMessageId, body }
  })
  try {
    const outcomes = await backend<Outcome[]>('send_messages', { messages })
    all.forEach((one, nth) => settle(one, outcomes[nth]) || void finishAlone(one))
  } catch (error) {
    // What the database undid as a whole it says of each alone. Nothing is stored twice, since each
    // has its clientMessageId.
    const undone = /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '')
    if (undone) callFailed('send_messages', error as Error)
    all.forEach((one) => undone ? void finishAlone(one) : one.reject(error))
  }
}

async function finishAlone({ context, message, resolve, reject }: Waiting): Promise<void> {
  try {
    resolve(await sendAlone(context, message))
  } catch (error) {
    reject(error)
  }
}

/** False for one that must be sent alone. */
function settle({ context, resolve }: Waiting, outcome: Outcome): boolean {
  if (!outcome) return false
  setRateHeaders(context, outcome.rate.split(','))
  resolve(JSON.stringify(outcome.answer))
  return true
}
