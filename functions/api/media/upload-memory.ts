/**
 * Room for pictures on their way: two uploads of an account at once, and memory that is lent as bytes
 * come, never more than this in all. Whoever finds no room waits with an unread body, so one that
 * sends slowly holds up nobody but itself.
 */
import type { Bytes } from '../../_shared/bytes.ts'
import { Refusal } from '../../_shared/refusal.ts'

const mebibyte = 1024 * 1024
const total = 96 * mebibyte
// For the one that came first: it can always go on to its end, so nobody waits for each other.
const reserve = 16 * mebibyte
const sizes = [mebibyte / 4, mebibyte, 4 * mebibyte, 10 * mebibyte]
const patience = 20_000

let taken = 0
// Kept for the next one: an engine gives large memory back late.
const idle: Bytes[] = []
const waiting = new Set<() => void>()
// In the order in which they came.
const rooms = new Set<Room>()

/** A buffer that grows with what is put into it. */
export class Room {
  bytes: Bytes = new Uint8Array()

  /** Makes room for so many bytes; what is there already, up to a length, is taken along. */
  async grow(size: number, used: number) {
    if (size <= this.bytes.length) return
    const larger = await lent(sizes.find((each) => each >= size)!, this)
    larger.set(this.bytes.subarray(0, used))
    this.giveBack()
    this.bytes = larger
  }

  giveBack() {
    if (this.bytes.length) idle.push(this.bytes)
    this.bytes = new Uint8Array()
    for (const look of waiting) look()
  }
}

/** Lends room while the work lasts. */
export async function withRoom<T>(work: (room: Room) => Promise<T>): Promise<T> {
  const room = new Room()
  rooms.add(room)
  try {
    return await work(room)
  } finally {
    rooms.delete(room)
    room.giveBack()
  }
}

async function lent(size: number, to: Room): Promise<Bytes> {
  for (const until = Date.now() + patience;;) {
    const limit = rooms.values().next().value === to ? total : total - reserve
    const place = idle.findIndex((buffer) => buffer.length === size)
    if (place >= 0 && taken <= limit) return idle.splice(place, 1)[0]
    // Buffers of another size make way.
    while (taken + size > limit && idle.length) taken -= idle.shift()!.length
    if (taken + size <= limit) {
      taken += size
      return new Uint8Array(size)
    }
    await woken(waiting, until - Date.now())
    if (Date.now() >= until) throw new Refusal('service_unavailable', { retryAfter: 10 })
  }
}

/** Waits until somebody looks through the list, or for so long. */
async function woken(list: Set<() => void>, ms: number): Promise<void> {
  let wake = () => {}
  const timer = setTimeout(() => wake(), ms)
  await new Promise<void>((resolve) => list.add(wake = resolve))
  list.delete(wake)
  clearTimeout(timer)
}

const atOnce = 2
// A client may send all pictures of a listing at once; each then waits for those before it.
const mostInLine = 40
const patienceInLine = 60_000

type Line = { running: number; waiting: Set<() => void> }

const lines = new Map<string, Line>()

/** Works while no more than one other upload of the account does; in the order in which they came. */
export async function withTurn<T>(account: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(account) ?? { running: 0, waiting: new Set() }
  lines.set(account, line)
  if (line.running < atOnce) line.running++
  else await turn(line)
  try {
    return await work()
  } finally {
    const [next] = line.waiting
    // Whoever is next takes over the place.
    if (next) next()
    else if (--line.running === 0) lines.delete(account)
  }
}

async function turn({ waiting }: Line): Promise<void> {
  const late = new Refusal('rate_limited', { retryAfter: 10 })
  if (waiting.size >= mostInLine) throw late
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => leave(() => reject(late)), patienceInLine)
    const leave = (how: () => void) => {
      clearTimeout(timer)
      waiting.delete(go)
      how()
    }
    const go = () => leave(resolve)
    waiting.add(go)
  })
}
