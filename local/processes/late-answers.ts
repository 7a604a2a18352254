// With LATE_ANSWERS some answers come late, as on a busy platform: tests then see what else happens
// meanwhile.
import type { Socket } from 'node:net'
import { drawsOf } from './random.ts'

/** Holds back what is written to a socket next, or does not. */
export type Hold = (socket: Socket) => void

const latest = 500

/** One answer in fifty is late by up to half a second, drawn from the seed; without one none is. */
export function lateAnswers(seed: number | undefined): Hold {
  if (seed === undefined) return () => {}
  const draw = drawsOf(seed)
  return (socket) => {
    if (draw() < 1 / 50) hold(socket, draw() * latest)
  }
}

/** The next write takes that long; what is written after it waits for it, as for any write. */
function hold(socket: Socket, ms: number) {
  if (isHeld(socket)) return
  const later = (name: '_write' | '_writev') => (...given: unknown[]) => {
    for (const own of ['_write', '_writev']) Reflect.deleteProperty(socket, own)
    setTimeout(() => Reflect.apply(socket[name]!, socket, given), ms)
  }
  Object.assign(socket, { _write: later('_write'), _writev: later('_writev') })
}

/** Whether what is written next will be late. */
export const isHeld = (socket: Socket) => Object.hasOwn(socket, '_write')
