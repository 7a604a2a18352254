import type { IncomingMessage } from 'node:http'

/** The body of a request; undefined once it is longer than `limit` bytes. The connection stays. */
export async function bodyOf(
  request: IncomingMessage,
  limit: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    size += piece.length
    if (size > limit) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
