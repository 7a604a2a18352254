// Stores messages in batches, because most of a message's cost is per transaction: messages that arrive while
// a batch is being written wait, and are then written together. A message that fails in a batch is sent again
// on its own to find out why.
import type { CallContext } from '../caller/context.ts'
import { type Args, backend, call, setRateHeaders } from '../database/db.ts'
import { callFailed } from '../errors/alarms.ts'
import { copyFile } from '../outside/supabase-storage.ts'

type Message = Args<'send_message'>

type Waiting = {
  context: CallContext
  message: Message
  resolve: (answer: string) => void
  reject: (error: unknown) => void
}

/** The response for a stored message. Null if the message has to be sent on its own. */
type Outcome = { answer: string; rate: string } | null

const batchLimit = 32
/** A lock or a slow disk can delay a batch. After this many milliseconds, the next batch starts anyway. */
const patience = 50

const waiting: Waiting[] = []
/** Messages currently being sent. Later messages of the same account or conversation wait for them. */
const onTheirWay = new Set<Waiting>()
let newest: Waiting[] | undefined

export function storeMessage(context: CallContext, message: Message): Promise<string> {
  if (!mayWait(context, message)) return sendItself(context, message)
  return new Promise((resolve, reject) => {
    waiting.push({ context, message, resolve, reject })
    void sendWaiting()
  })
}

async function sendItself(context: CallContext, message: Message): Promise<string> {
  try {
    return await call(context, 'send_message', message)
  } catch (error) {
    const name = error instanceof Error && pictureToCopy(error)
    if (!name) throw error
    // The Idempotency-Key belongs to the request with the original mediaId, so the response is not stored
    // under it. If the client retries, its clientMessageId finds the stored message.
    const get = (key: string) => key === 'idempotencyKey' ? undefined : context.get(key as never)
    const keyless = { get } as CallContext
    const mediaId = await copyPicture(keyless, name)
    return await call(keyless, 'send_message', { ...message, mediaId })
  }
}

/** If another message already uses the picture, returns the name of its file. */
function pictureToCopy(error: Error & { code?: string; detail?: string }): string | undefined {
  return error.code === 'PT422' && error.detail ? JSON.parse(error.detail).copy : undefined
}

async function copyPicture(context: CallContext, name: string): Promise<string> {
  const bucket = 'listings'
  const begun = await call(context, 'begin_upload', { bucket }, { rate: 'uploads' })
  const { uploadId, folder } = JSON.parse(begun)
  await copyFile(bucket, name, `${folder}/${uploadId.slice(0, 34)}00.${name.split('.')[1]}`)
  const { files: [file] } = JSON.parse(await call(context, 'upload_listing_media', { uploadId }))
  return file.mediaId
}

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

/** Takes the first waiting message of each account and conversation, so that messages stay in order. */
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
  message.conversationId?.toLowerCase(),
]

/** Sends a batch. Returns the messages that must be sent on their own. */
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
    // The whole batch was rolled back, so each message is sent on its own. clientMessageId prevents
    // duplicates.
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
