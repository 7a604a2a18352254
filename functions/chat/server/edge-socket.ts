import { logFailure } from '../../_shared/errors/log.ts'
import { closeCodes, limits } from '../protocol.ts'
import type { ClientSocket, SocketHandler } from './socket.ts'

// How many frames may wait for earlier ones. A limit is needed because these sockets cannot be paused.
const mostWaiting = 256

// In milliseconds. If the client disappears after its upgrade was accepted, the socket emits neither `open`
// nor `close`.
const openingTime = 10_000

export function serveEdgeSocket(
  socket: WebSocket,
  open: (socket: ClientSocket) => SocketHandler,
): Promise<void> {
  let waiting = 0
  let handled = Promise.resolve()
  let handler: SocketHandler | undefined
  const client: ClientSocket = {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close: (code, reason) => {
      if (socket.readyState <= WebSocket.OPEN) socket.close(code, reason)
    },
    bufferedBytes: () => socket.bufferedAmount,
  }
  return new Promise((resolve) => {
    const late = setTimeout(resolve, openingTime)
    socket.onopen = () => {
      clearTimeout(late)
      handler = open(client)
    }
    socket.onmessage = ({ data }) => {
      if (typeof data !== 'string') return client.close(closeCodes.binary, 'text frames only')
      // A UTF-16 code unit takes at most three bytes in UTF-8, so most frames need not be encoded to check
      // their size.
      if (
        data.length > limits.frameBytes / 3 &&
        new TextEncoder().encode(data).length > limits.frameBytes
      ) {
        return client.close(closeCodes.tooBig, 'frame too big')
      }
      if (++waiting > mostWaiting) {
        return client.close(closeCodes.refused, 'too many frames at once')
      }
      handled = handled.then(() => handler?.message(data))
        // An error in one frame must not prevent the handling of later frames.
        .catch((error) => logFailure('a frame', error))
        .finally(() => waiting--)
    }
    socket.onclose = () => {
      handler?.closed()
      resolve()
    }
    socket.onerror = () => client.close(closeCodes.notText, 'broken frame')
  })
}
