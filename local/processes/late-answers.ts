// With LATE_ANSWERS, some responses are delayed, as on a busy platform, so that tests see events in unusual
// orders.
import type { Socket } from 'node:net'
import { drawsOf } from './random.ts'

export type Hold = (socket: Socket) => void

const latest = 500

/** Returns a function that delays one response in fifty by up to half a second, or none without a seed. */
export function lateAnswers(seed: number | undefined): Hold {
  if (seed === undefined) return () => {}
  const draw = drawsOf(seed)
  return (socket) => {
    if (draw() < 1 / 50) hold(socket, draw() * latest)
  }
}

/** Delays the socket's next write. Later writes wait for it, as they do for any write. */
function hold(socket: Socket, ms: number) {
  if (isHeld(socket)) return
  const later = (name: '_write' | '_writev') => (...given: unknown[]) => {
    for (const own of ['_write', '_writev']) Reflect.deleteProperty(socket, own)
    setTimeout(() => Reflect.apply(socket[name]!, socket, given), ms)
  }
  Object.assign(socket, { _write: later('_write'), _writev: later('_writev') })
}

export const isHeld = (socket: Socket) => Object.hasOwn(socket, '_write')
