import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import WebSocket from 'ws'
import { check } from './chat-events.ts'
import { type Person, projectUrl, signUp } from './client.ts'
import { conversationBetween, sendMessageAs } from './conversations.ts'
import { waitUntil } from './wait.ts'

export const chatUrl = `${projectUrl.replace(/^http/, 'ws')}/functions/v1/chat`

// deno-lint-ignore no-explicit-any
type Json = any
type Frame = { event: string; data: Json; ref?: string | number }

type Opening = {
  url?: string
  headers?: Record<string, string>
  protocols?: string[]
}

export class ChatSocket {
  readonly socket: WebSocket
  readonly frames: Frame[] = []
  closed: { code: number; reason: string } | undefined
  private refs = 0

  constructor({ url = chatUrl, headers, protocols }: Opening = {}) {
    this.socket = new WebSocket(url, protocols ?? [], { headers })
    this.socket.on('message', (data) => {
      const frame: Frame = JSON.parse(String(data))
      this.frames.push(frame.event === 'ack' ? frame : check('gateway', frame.event, frame))
    })
    this.socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }))
    this.socket.on('error', () => {})
  }

  static async connect(person: Pick<Person, 'accessToken'>, url = chatUrl): Promise<ChatSocket> {
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

  async ask(event: string, data: unknown): Promise<Frame> {
    const ref = `t${++this.refs}`
    this.socket.send(JSON.stringify({ event, data, ref }))
    const answer = await this.answer(ref)
    if (answer.event === 'ack') {
      check('gateway', event, { event, data, ref })
      return check('gateway', `ack_${event}`, answer)
    }
    return answer
  }

  async answer(ref: string | number): Promise<Frame> {
    let found: Frame | undefined
    await waitUntil(`an answer to ${ref}`, () => {
      found ??= this.frames.find((frame) => frame.ref === ref)
      return found !== undefined || this.closed !== undefined
    })
    return found ?? { event: 'closed', data: this.closed }
  }

  join = (conversationId: string, more = {}) =>
    this.ask('join_conversation', { conversationId, ...more })
  leave = (conversationId: string) => this.ask('leave_conversation', { conversationId })
  sendMessage = (conversationId: string, body: string, more = {}) =>
    this.ask('send_message', {
      conversationId,
      clientMessageId: randomUUID(),
      type: 'text',
      body,
      ...more,
    })

  messages(conversationId?: string): Json[] {
    return this.frames.filter(({ event }) => event === 'new_message')
      .map(({ data }) => data.message)
      .filter((message) => !conversationId || message.conversationId === conversationId)
  }

  events(event: string): Json[] {
    return this.frames.filter((frame) => frame.event === event).map(({ data }) => data)
  }

  async waitForClose(): Promise<{ code: number; reason: string }> {
    await waitUntil('the socket is closed', () => this.closed !== undefined)
    return this.closed!
  }

  close(): void {
    this.socket.terminate()
  }
}

export const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/**
 * Waits until a person's sockets have received all earlier events: somebody sends the person a message, which
 * arrives after those events. The message's frames are then removed.
 */
export async function toldAll(person: Person, ...sockets: ChatSocket[]): Promise<void> {
  const other = await signUp()
  const id = await conversationBetween(other, person)
  await sendMessageAs(other, id)
  await Promise.all(sockets.map(async ({ frames }) => {
    const at = () => frames.findIndex(({ data }) => data?.conversationId === id)
    await waitUntil('it is told of the newest conversation', () => at() >= 0)
    while (at() >= 0) frames.splice(at(), 1)
  }))
}
