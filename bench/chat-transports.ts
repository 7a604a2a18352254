import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import type { Stack } from '../test/support/stack.ts'
import { openConnection, post } from './http-load.ts'

// deno-lint-ignore no-explicit-any
type Json = any

export type Person = { token: string; identityId: string; topic: string }
export type Conversation = { id: string; from: Person; to: Person }

/** A socket that receives the messages of a conversation. */
export type Receiver = { onBody: (body: string) => void; close: () => void }

export type Transport = {
  name: string
  /** Whether to measure fan-out. False for the chat gateway, which allows ten sockets per account. */
  toMany: boolean
  openReceiver: (conversation: Conversation) => Promise<Receiver>
  /** Opens a sender. Its `send` resolves once the server has confirmed that the message is stored. */
  openSender: (
    conversation: Conversation,
  ) => Promise<{ send: (body: string) => Promise<void>; close: () => void }>
}

async function open(url: string, protocols: string[] = []) {
  const socket = new WebSocket(url, protocols)
  let received: (frame: Json) => void = () => {}
  socket.on('message', (data) => received(JSON.parse(data.toString())))
  await once(socket, 'open')
  socket.on('error', () => {})
  return {
    send: (frame: Json) => socket.send(JSON.stringify(frame)),
    onFrame: (listener: (frame: Json) => void) => (received = listener),
    /** Sends a frame and waits for the response. */
    ask: (frame: Json, answers: (frame: Json) => boolean) => {
      socket.send(JSON.stringify(frame))
      return new Promise<void>((resolve, reject) => {
        received = (came) => {
          const refused = came.event === 'error' || came.payload?.status === 'error'
          if (refused) reject(new Error(JSON.stringify(came)))
          else if (answers(came)) resolve()
        }
      })
    },
    close: () => socket.close(),
  }
}

export async function bareTransport(
  { databaseUrl }: Stack,
): Promise<Transport & { stop: () => void }> {
  const child = fork(fileURLToPath(new URL('./bare-chat-server.ts', import.meta.url)), [
    databaseUrl,
  ])
  const [port] = await once(child, 'message')
  const url = `ws://127.0.0.1:${port}`
  return {
    name: 'bare',
    toMany: true,
    openReceiver: async ({ id }) => {
      const socket = await open(url)
      await socket.ask({ join: id }, ({ joined }) => joined)
      const receiver: Receiver = { onBody: () => {}, close: socket.close }
      socket.onFrame(({ body }) => receiver.onBody(body))
      return receiver
    },
    openSender: async ({ id }) => {
      const { ask, close } = await open(url)
      return { send: (body) => ask({ room: id, body }, ({ stored }) => stored), close }
    },
    stop: () => child.disconnect(),
  }
}

/**
 * Sends through REST and receives through Realtime. With the address of the facade, it connects directly to
 * the servers; without, it goes through the local stack's proxy, as on a hosted project.
 */
export function realtimeTransport({ url, publishableKey }: Stack, facade?: string): Transport {
  const { hostname, port } = new URL(url)
  const baseUrl = facade ?? `${url}/functions/v1/api`
  const realtime = facade ? `ws://${hostname}:${Number(port) + 6}` : url.replace('http', 'ws')
  const address = `${realtime}/realtime/v1/websocket`
  return {
    name: facade ? 'Realtime' : 'Realtime, by the door',
    toMany: facade !== undefined,
    openReceiver: async ({ to }) => {
      const socket = await open(`${address}?apikey=${publishableKey}&vsn=1.0.0`)
      const config = { private: true, broadcast: { replication_ready: true } }
      const join = {
        topic: `realtime:${to.topic}`,
        event: 'phx_join',
        payload: { config, access_token: to.token },
        ref: '1',
        join_ref: '1',
      }
      await socket.ask(join, ({ event, payload }) => event === 'system' && payload.status === 'ok')
      const receiver: Receiver = { onBody: () => {}, close: socket.close }
      socket.onFrame(({ event, payload: { event: what, payload } }) => {
        if (event === 'broadcast' && what === 'new_message') receiver.onBody(payload.message.body)
      })
      return receiver
    },
    openSender: ({ id, from }) => {
      const { ask, close } = openConnection(new URL(baseUrl))
      const path = `${new URL(baseUrl).pathname}/conversations/${id}/messages`
      const send = async (body: string) => {
        const message = { clientMessageId: crypto.randomUUID(), type: 'text', body }
        if (!await ask(post(baseUrl, path, from.token, message))) throw new Error('not sent')
      }
      return Promise.resolve({ send, close })
    },
  }
}

/** Sends and receives through the chat gateway, directly or behind the local stack's proxy. */
export function chatGatewayTransport({ url, chatUrls }: Stack, viaGateway: boolean): Transport {
  const address = viaGateway ? `${url.replace('http', 'ws')}/functions/v1/chat` : chatUrls[0]!
  const openSocket = (token: string) => open(address, ['chat', `bearer.${token}`])
  return {
    name: viaGateway ? 'gateway, by the door' : 'gateway',
    toMany: false,
    openReceiver: async ({ id: conversationId, to }) => {
      const socket = await openSocket(to.token)
      const join = { event: 'join_conversation', data: { conversationId }, ref: 1 }
      await socket.ask(join, ({ event }) => event === 'ack')
      const receiver: Receiver = { onBody: () => {}, close: socket.close }
      socket.onFrame(({ event, data }) => {
        if (event === 'new_message') receiver.onBody(data.message.body)
      })
      return receiver
    },
    openSender: async ({ id: conversationId, from }) => {
      const { send: sendFrame, onFrame, close } = await openSocket(from.token)
      const send = (body: string) =>
        new Promise<void>((resolve, reject) => {
          onFrame(({ event, data }) => {
            if (event === 'ack') resolve()
            else if (event === 'error') reject(new Error(`sending: ${data.code}`))
          })
          const clientMessageId = crypto.randomUUID()
          const data = { conversationId, clientMessageId, type: 'text', body }
          sendFrame({ event: 'send_message', data, ref: 1 })
        })
      return { send, close }
    },
  }
}

export async function idleSockets(url: string, people: Person[], count: number) {
  const address = `${url.replace('http', 'ws')}/functions/v1/chat`
  const sockets: { close: () => void }[] = []
  for (let n = 0; n < count; n++) {
    const { token } = people[n % people.length]!
    sockets.push(await open(address, ['chat', `bearer.${token}`]))
  }
  return () => sockets.forEach((socket) => socket.close())
}
