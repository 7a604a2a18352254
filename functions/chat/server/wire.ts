/** The two ways in which a socket reaches the gateway, behind one face. */
import { closes, limits } from '../protocol.ts'
import type { HttpRefusal } from './refusals.ts'

/** What the gateway does with a socket. */
export type Wire = {
  send(text: string): void
  /** Closes; what waits to be sent is sent first unless the client does not read. */
  close(code: number, reason: string): void
  /** Bytes that the client has not taken yet. */
  waiting(): number
}

/** What the gateway is told of a socket. */
export type Peer = {
  /** One frame at a time: the next one comes when the promise is settled. */
  text(text: string): Promise<void>
  closed(): void
}

/** An upgrade that is asked for. */
export type Asked = { path: string; query: URLSearchParams; headers: Headers }

/** What becomes of it: an HTTP answer, or a socket. */
export type Decision =
  | HttpRefusal
  | { protocol?: string; open: (wire: Wire) => Peer }

// Frames that wait for those before them; the platform's sockets cannot be told to pause.
const mostPending = 256

// An upgrade that was agreed to and whose client was gone by then never opens and never closes.
const openingTime = 10_000

/** A socket of `Deno.upgradeWebSocket`, as edge functions have them; settled when it is closed. */
export function openWire(socket: WebSocket, open: (wire: Wire) => Peer): Promise<void> {
  let pending = 0
  let done = Promise.resolve()
  let peer: Peer | undefined
  const wire: Wire = {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close: (code, reason) => {
      if (socket.readyState <= WebSocket.OPEN) socket.close(code, reason)
    },
    waiting: () => socket.bufferedAmount,
  }
  return new Promise((resolve) => {
    const late = setTimeout(resolve, openingTime)
    socket.onopen = () => {
      clearTimeout(late)
      peer = open(wire)
    }
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') return wire.close(closes.binary, 'text frames only')
      // Three bytes are the most that one unit of a JavaScript string takes.
      if (data.length > limits.frame / 3 && new TextEncoder().encode(data).length > limits.frame) {
        return wire.close(closes.tooBig, 'frame too big')
      }
      if (++pending > mostPending) return wire.close(closes.refused, 'too many frames at once')
      done = done.then(() => peer?.text(data)).finally(() => pending--)
    }
    socket.onclose = () => {
      peer?.closed()
      resolve()
    }
    socket.onerror = () => wire.close(closes.notText, 'broken frame')
  })
}
