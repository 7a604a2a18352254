// Wraps a socket of the library ws. It handles frames in order, limits floods and ends silent sockets, which
// the library does not do.
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
// The pings and pongs that a client may send between two pings of ours.
const mostControls = 200

/** Translates the library's own close codes to the gateway's protocol. */
const ownCodes: Record<number, number> = { 1002: closeCodes.refused, 1008: closeCodes.tooBig }

export class NodeSocket extends WebSocket {
  /** A close without a reason is the library's own, because a frame breaks RFC 6455 or a limit. */
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
      // Sends within one tick, such as a message and its state, go out in one write.
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
    // If a client sends faster than we answer, we stop reading until its frames are handled.
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
  // The library closes the socket but would continue to read, so it is paused.
  socket.on('error', () => setImmediate(() => socket.pause()))
}
