/**
 * Memory for pictures on their way: one at a time per request, and never more than this in all,
 * however many people upload at once. Whoever finds no room waits with an unread body.
 */
import { Refusal } from './problem.ts'

const mebibyte = 1024 * 1024
const total = 96 * mebibyte
const patience = 20_000

type Bytes = Uint8Array<ArrayBuffer>

let taken = 0
// Kept for the next one: an engine gives large memory back late.
const idle: Bytes[] = []
const waiting: (() => void)[] = []

/** Lends a buffer of at least so many bytes while the work lasts. */
export async function withRoom<T>(bytes: number, work: (buffer: Bytes) => Promise<T>): Promise<T> {
  const size = Math.ceil(bytes / mebibyte) * mebibyte
  const buffer = await room(size)
  try {
    return await work(buffer)
  } finally {
    idle.push(buffer)
    for (const look of waiting.splice(0)) look()
  }
}

async function room(size: number): Promise<Bytes> {
  const until = Date.now() + patience
  for (;;) {
    const place = idle.findIndex((buffer) => buffer.length === size)
    if (place >= 0) return idle.splice(place, 1)[0]
    // Buffers of another size make way.
    while (taken + size > total && idle.length) taken -= idle.shift()!.length
    if (taken + size <= total) {
      taken += size
      return new Uint8Array(size)
    }
    if (Date.now() > until) throw new Refusal('service_unavailable', { retryAfter: 10 })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, until - Date.now() + 1)
      waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
