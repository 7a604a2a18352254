/** Bare sockets to the chat gateway, and the people who talk through them. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { type Guest, type Person, projectUrl, signUp } from './client.ts'
import { until } from './until.ts'

export const chatUrl = `${projectUrl.replace(/^http/, 'ws')}/functions/v1/chat`

// What a test looks at is what it checks.
// deno-lint-ignore no-explicit-any
type Json = any
export type Frame = { event: string; data: Json; ref?: string | number }

type Opening = {
  url?: string
  headers?: Record<string, string>
  protocols?: string[]
}

/** A socket and everything that came over it. */
export class ChatSocket {
  readonly socket: WebSocket
  readonly frames: Frame[] = []
  /** Code and reason, once it is closed. */
  closed: { code: number; reason: string } | undefined
  private refs = 0

  constructor({ url = chatUrl, headers, protocols }: Opening = {}) {
    this.socket = new WebSocket(url, protocols ?? [], { headers })
    this.socket.on('message', (data) => this.frames.push(JSON.parse(String(data))))
    this.socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }))
    this.socket.on('error', () => {})
  }

  /** Opens a socket for somebody and waits until it is let in. */
  static async of(person: Pick<Person, 'accessToken'>, url = chatUrl): Promise<ChatSocket> {
    const socket = new ChatSocket({ url })
    await socket.opened()
    const { event, data } = await socket.ask('auth', { accessToken: person.accessToken })
    if (event !== 'ack') throw new Error(`auth: ${JSON.stringify(data)}`)
    return socket
  }

  async opened(): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    return this
  }

  /** Sends a frame and gives its ack or error. */
  async ask(event: string, data: unknown): Promise<Frame> {
    const ref = `t${++this.refs}`
    this.socket.send(JSON.stringify({ event, data, ref }))
    return await this.answer(ref)
  }

  async answer(ref: string | number): Promise<Frame> {
    let found: Frame | undefined
    await until(`an answer to ${ref}`, () => {
      found ??= this.frames.find((frame) => frame.ref === ref)
      return found !== undefined || this.closed !== undefined
    })
    return found ?? { event: 'closed', data: this.closed }
  }

  join = (conversationId: string, more = {}) =>
    this.ask('join_conversation', { conversationId, ...more })
  leave = (conversationId: string) => this.ask('leave_conversation', { conversationId })
  say = (conversationId: string, body: string, more = {}) =>
    this.ask('send_message', {
      conversationId,
      clientMessageId: randomUUID(),
      type: 'text',
      body,
      ...more,
    })

  /** The messages that came as events, in the order in which they came. */
  messages(conversationId?: string): Json[] {
    return this.frames.filter(({ event }) => event === 'new_message')
      .map(({ data }) => data.message)
      .filter((message) => !conversationId || message.conversationId === conversationId)
  }

  events(event: string): Json[] {
    return this.frames.filter((frame) => frame.event === event).map(({ data }) => data)
  }

  async end(): Promise<{ code: number; reason: string }> {
    await until('the socket is closed', () => this.closed !== undefined)
    return this.closed!
  }

  close(): void {
    this.socket.terminate()
  }
}

export type Pair = { a: Person; b: Person; conversationId: string }

/** Two people with a conversation. */
export async function pair(): Promise<Pair> {
  const [a, b] = await Promise.all([signUp('أحمد العنزي'), signUp('نورة الصالح')])
  return { a, b, conversationId: await converse(a, b) }
}

/** The conversation of two people. */
export async function converse(a: Guest, b: { identityId: string }): Promise<string> {
  const { status, body } = await a.post('/conversations', { identityId: b.identityId })
  if (status !== 200 && status !== 201) throw new Error(`converse: ${JSON.stringify(body)}`)
  return body.id
}

/** Writes a message. */
export async function say(person: Person, conversationId: string, body = 'نص') {
  const message = { clientMessageId: randomUUID(), type: 'text', body }
  const { status } = await person.post(`/conversations/${conversationId}/messages`, message)
  if (status !== 201) throw new Error(`say: ${status}`)
}

/** All messages of a conversation, from the history in pages. */
export async function history(person: Person, conversationId: string): Promise<Json[]> {
  const items: Json[] = []
  for (;;) {
    const query = `afterSeq=${items.at(-1)?.seq ?? 0}&limit=50`
    const { body } = await person.get(`/conversations/${conversationId}/messages?${query}`)
    items.push(...body.items)
    if (!body.hasMore) return items
  }
}

/** 1, 2, 3 … */
export const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Nothing comes any more. */
export async function quiet(socket: ChatSocket, ms = 500): Promise<void> {
  for (let before = -1; before !== socket.frames.length;) {
    before = socket.frames.length
    await sleep(ms)
  }
}
