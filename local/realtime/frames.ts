// Reads and writes frames of Phoenix channels in the two protocols of @supabase/realtime-js: 1.0.0 (JSON
// objects) and 2.0.0 (JSON arrays, and binary frames for users' broadcasts).

export type Version = '1.0.0' | '2.0.0'

export type Json = Record<string, unknown>

/** A user's broadcast; the bytes are passed on unchanged. */
export type UserBroadcast = { event: string; json: boolean; bytes: Buffer }

export type Frame = {
  joinRef: string | null
  ref: string | null
  topic: string
  event: string
  payload: Json
  user?: UserBroadcast
}

const pushKind = 3
const broadcastKind = 4

const textOrNull = (value: unknown) => typeof value === 'string' ? value : null

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function readFrame(version: Version, data: Buffer, binary: boolean): Frame {
  if (binary) return readPush(data)
  const value = JSON.parse(data.toString())
  const [joinRef, ref, topic, event, payload] = version === '2.0.0'
    ? value
    : [value.join_ref, value.ref, value.topic, value.event, value.payload]
  const complete = typeof topic === 'string' && typeof event === 'string' &&
    payload !== undefined && ref !== undefined
  if (!complete) throw new Error('not a frame')
  return {
    joinRef: textOrNull(joinRef),
    ref: textOrNull(ref),
    topic,
    event,
    payload: isObject(payload) ? payload : {},
  }
}

function readPush(data: Buffer): Frame {
  if (data.length < 7 || data[0] !== pushKind) throw new Error('not a frame')
  let at = 7
  const [joinRef, ref, topic, event] = [1, 2, 3, 4, 5].map((index) => {
    const part = data.toString('utf8', at, at + data[index]!)
    at += data[index]!
    return part
  })
  if (at > data.length) throw new Error('not a frame')
  const user = { event: event!, json: data[6] === 1, bytes: data.subarray(at) }
  return {
    joinRef: joinRef || null,
    ref: ref || null,
    topic: topic!,
    event: 'broadcast',
    payload: {},
    user,
  }
}

export function writeFrame(version: Version, frame: Omit<Frame, 'user'>): string {
  const { joinRef, ref, topic, event, payload } = frame
  // In protocol 1.0.0, frames from the server have no join_ref.
  return version === '2.0.0'
    ? JSON.stringify([joinRef, ref, topic, event, payload])
    : JSON.stringify({ topic, event, payload, ref })
}

/** A message to all listeners of a topic, encoded once per protocol version. */
export class Message {
  readonly event: string
  /** The id of the row, if the message comes from the database. */
  readonly meta: { id: string; replayed?: true } | undefined
  private readonly topic: string
  private readonly payload: Json | UserBroadcast
  private readonly forms: { [version in Version]?: string | Buffer | null } = {}

  constructor(
    topic: string,
    event: string,
    payload: Json | UserBroadcast,
    meta?: { id: string; replayed?: true },
  ) {
    this.topic = topic
    this.event = event
    this.payload = payload
    this.meta = meta
  }

  /** Returns the encoded message, or null if this version cannot carry it. */
  as(version: Version): string | Buffer | null {
    let form = this.forms[version]
    if (form === undefined) form = this.forms[version] = this.encode(version)
    return form
  }

  private encode(version: Version): string | Buffer | null {
    const { topic, event, payload, meta } = this
    const text = (content: Json) => {
      const withMeta = meta ? { ...content, meta } : content
      return writeFrame(version, { joinRef: null, ref: null, topic, event, payload: withMeta })
    }
    if (!isUserBroadcast(payload)) return text(payload)
    if (version === '2.0.0') return this.bytes(payload)
    if (!payload.json) return null
    const content = JSON.parse(payload.bytes.toString())
    return text({ event: payload.event, payload: content, type: 'broadcast' })
  }

  private bytes({ event, json, bytes }: UserBroadcast): Buffer {
    const topic = Buffer.from(this.topic)
    const name = Buffer.from(event)
    const meta = Buffer.from(this.meta ? JSON.stringify(this.meta) : '')
    const lengths = [topic.length, name.length, meta.length]
    const head = Buffer.from([broadcastKind, ...lengths, json ? 1 : 0])
    return Buffer.concat([head, topic, name, meta, bytes])
  }
}

const isUserBroadcast = (payload: Json | UserBroadcast): payload is UserBroadcast =>
  Buffer.isBuffer((payload as UserBroadcast).bytes)
