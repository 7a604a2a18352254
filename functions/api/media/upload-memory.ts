// Limits uploads in this worker to two at a time per account and to a fixed amount of memory, which is
// allocated as bytes arrive. If no memory is free, an upload stops reading its body and waits, so that a slow
// client delays only itself.
import { Refusal } from '../../_shared/errors/refusal.ts'
import type { Bytes } from '../../_shared/input/bytes.ts'

const mebibyte = 1024 * 1024
const total = 96 * mebibyte
// Reserved for the oldest buffer, which can therefore always grow to the maximum size. This prevents
// deadlocks.
const reserve = 16 * mebibyte
const sizes = [mebibyte / 4, mebibyte, 4 * mebibyte, 10 * mebibyte]
const maxWait = 20_000

let allocated = 0
// Kept for the next upload, because the JavaScript engine frees large buffers late.
const idle: Bytes[] = []
const waiting = new Set<() => void>()
// The buffers in use, oldest first. Each upload uses one buffer at a time, and a new one for each file.
const buffers = new Set<UploadBuffer>()

export class UploadBuffer {
  bytes: Bytes = new Uint8Array()

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
    // Free idle memory of other sizes to make room.
    while (allocated + size > limit && idle.length) allocated -= idle.shift()!.length
    if (allocated + size <= limit) {
      allocated += size
      return new Uint8Array(size)
    }
    await wakeUp(waiting, until - Date.now())
    if (Date.now() >= until) throw new Refusal('service_unavailable', { retryAfter: 10 })
  }
}

async function wakeUp(list: Set<() => void>, ms: number): Promise<void> {
  let wake = () => {}
  const timer = setTimeout(() => wake(), ms)
  await new Promise<void>((resolve) => list.add(wake = resolve))
  list.delete(wake)
  clearTimeout(timer)
}

const slotsPerAccount = 2
// A client may send all pictures of a listing at once. Each of them then waits for the earlier ones.
const maxQueued = 40
const maxQueueTime = 60_000

type Queue = { running: number; waiting: Set<() => void> }

const queues = new Map<string, Queue>()

export async function withUploadSlot<T>(account: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(account) ?? { running: 0, waiting: new Set() }
  queues.set(account, queue)
  if (queue.running < slotsPerAccount) queue.running++
  else await freeSlot(queue)
  try {
    return await work()
  } finally {
    const [next] = queue.waiting
    // The next upload takes over this slot.
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
