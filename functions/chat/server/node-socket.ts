// Wraps a socket of the ws library to add what that lacks: it handles frames in order, throttles floods and
// closes idle sockets.
import type { Buffer } from 'node:buffer'
import { nextTick } from 'node:process'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers'
import { WebSocket } from 'ws'
import { logFailure } from '../../_shared/errors/log.ts'
import { closeCodes } from '../protocol.ts'
import type { ClientSocket, SocketHandler } from './socket.ts'

const pingEvery = 20_000
const mostSilentPings = 3
// How many pings and pongs a client may send between two of our pings.
const mostControls = 200

/** Maps close codes of the ws library to those of our protocol. */
const ownCodes: Record<number, number> = { 1002: closeCodes.refused, 1008: closeCodes.tooBig }

export class NodeSocket extends WebSocket {
  /** The library itself closes without a reason, when a frame violates RFC 6455 or a limit. */
  override close(code?: number, reason?: string | Buffer): void {
    const own = reason === undefined ? ownCodes[code ?? 0] : undefined
    super.close(own ?? code, reason)
  }
}

export function serveNodeSocket(
  socket: WebSocket,
  stream: Duplex,
  open: (socket: ClientSocket) => SocketHandler,
): void {
  const handler = open({
    send: (text) => {
      // Everything sent within one tick, such as a message and its state, is combined into one write.
      if (stream.writableCorked === 0) {
        stream.cork()
        nextTick(() => stream.uncork())
      }
      socket.send(text)
    },
    close: (code, reason) => socket.close(code, reason),
    bufferedBytes: () => socket.bufferedAmount,
  })
  let waiting = 0
  let handled = Promise.resolve()
  let silentPings = 0
  let controls = 0

  const heartbeat = setInterval(() => {
    controls = 0
    if (silentPings++ === mostSilentPings) socket.terminate()
    else socket.ping()
  }, pingEvery)

  function control() {
    silentPings = 0
    if (++controls <= mostControls) return true
    socket.close(closeCodes.refused, 'too many pings')
    return false
  }
  socket.on('ping', (data) => control() && socket.pong(data))
  socket.on('pong', control)

  socket.on('message', (data, isBinary) => {
    silentPings = 0
    if (socket.readyState !== WebSocket.OPEN) return
    if (isBinary) return socket.close(closeCodes.binary, 'text frames only')
    const text = data.toString()
    // If a client sends faster than we handle its frames, stop reading until they are handled.
    if (++waiting > 1) socket.pause()
    handled = handled.then(() => handler.message(text))
      .catch((error) => logFailure('a frame', error))
      .finally(() => {
        if (--waiting === 0) socket.resume()
      })
  })
  socket.on('close', () => {
    clearInterval(heartbeat)
    handler.closed()
  })
  // The library closes the socket after an error but would continue to read, so pause it.
  socket.on('error', () => setImmediate(() => socket.pause()))
}
