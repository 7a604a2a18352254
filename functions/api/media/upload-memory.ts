/**
 * What uploads may take of this worker: two at once of an account, and a limited memory, which is lent
 * as their bytes arrive. Whoever finds none waits with an unread body, so a slow client holds up
 * nobody but itself.
 */
import type { Bytes } from '../../_shared/bytes.ts'
import { Refusal } from '../../_shared/refusal.ts'

const mebibyte = 1024 * 1024
const total = 96 * mebibyte
// Kept for the oldest buffer: it can always grow to its end, so there is no deadlock.
const reserve = 16 * mebibyte
const sizes = [mebibyte / 4, mebibyte, 4 * mebibyte, 10 * mebibyte]
const maxWait = 20_000

let allocated = 0
// Kept for the next upload: the engine frees large memory late.
const idle: Bytes[] = []
const waiting = new Set<() => void>()
// In the order of their beginning.
const buffers = new Set<UploadBuffer>()

/** A buffer that grows with its content. */
export class UploadBuffer {
  bytes: Bytes = new Uint8Array()

  /** Makes room for so many bytes; what is there already, up to a length, is allocated along. */
  async grow(size: number, used: number) {
    if (size <= this.bytes.length) return
    const larger = await allocate(sizes.find((each) => each >= size)!, this)
    larger.set(this.bytes.subarray(0, used))
    this.release()
    this.bytes = larger
  }

  release() {
    if (this.bytes.length) idle.push(this.bytes)
    this.bytes = new Uint8Array()
    for (const wake of waiting) wake()
  }
}

/** Lends a buffer for the time of the work. */
export async function withBuffer<T>(work: (buffer: UploadBuffer) => Promise<T>): Promise<T> {
  const buffer = new UploadBuffer()
  buffers.add(buffer)
  try {
    return await work(buffer)
  } finally {
    buffers.delete(buffer)
    buffer.release()
  }
}

async function allocate(size: number, owner: UploadBuffer): Promise<Bytes> {
  for (const until = Date.now() + maxWait;;) {
    const limit = buffers.values().next().value === owner ? total : total - reserve
    const found = idle.findIndex((bytes) => bytes.length === size)
    if (found >= 0 && allocated <= limit) return idle.splice(found, 1)[0]
    // Idle memory of another size makes way.
    while (allocated + size > limit && idle.length) allocated -= idle.shift()!.length
    if (allocated + size <= limit) {
      allocated += size
      return new Uint8Array(size)
    }
    await wakeUp(waiting, until - Date.now())
    if (Date.now() >= until) throw new Refusal('service_unavailable', { retryAfter: 10 })
  }
}

/** Waits until somebody wakes the list, or for so long. */
async function wakeUp(list: Set<() => void>, ms: number): Promise<void> {
  let wake = () => {}
  const timer = setTimeout(() => wake(), ms)
  await new Promise<void>((resolve) => list.add(wake = resolve))
  list.delete(wake)
  clearTimeout(timer)
}

const slotsPerAccount = 2
// A client may send all pictures of a listing at once; each then waits for those before it.
const maxQueued = 40
const maxQueueTime = 60_000

type Queue = { running: number; waiting: Set<() => void> }

const queues = new Map<string, Queue>()

/** Runs the work when fewer than two uploads of the account are running, in the order of arrival. */
export async function withUploadSlot<T>(account: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(account) ?? { running: 0, waiting: new Set() }
  queues.set(account, queue)
  if (queue.running < slotsPerAccount) queue.running++
  else await freeSlot(queue)
  try {
    return await work()
  } finally {
    const [next] = queue.waiting
    // The next one takes over the slot.
    if (next) next()
    else if (--queue.running === 0) queues.delete(account)
  }
}

async function freeSlot({ waiting }: Queue): Promise<void> {
  const late = new Refusal('rate_limited', { retryAfter: 10 })
  if (waiting.size >= maxQueued) throw late
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => leave(() => reject(late)), maxQueueTime)
    const leave = (how: () => void) => {
      clearTimeout(timer)
      waiting.delete(go)
      how()
    }
    const go = () => leave(resolve)
    waiting.add(go)
  })
}
