/**
 * If a response is ready before its request body has been read, Deno's server resets the connection and the
 * response is lost (denoland/deno#21209, seen on 2.1.4). So we read the rest of the body before we respond,
 * as the platform's server does. `patience` multiplies the longest pause that a client may make. This file
 * uses no settings.
 */
export async function handleThenDrain(
  request: Request,
  handle: (request: Request) => Response | Promise<Response>,
  patience = 1,
): Promise<Response> {
  const { headers, method } = request
  const length = headers.get('content-length')
  if (method === 'GET' || length === '0' || length === null && !headers.has('transfer-encoding')) {
    return await handle(request)
  }
  const size = Math.min(Number(length ?? chunk), chunk)
  if (
    Number(length ?? Infinity) === size &&
    /^application\/json/i.test(headers.get('content-type') ?? '')
  ) {
    // A small JSON body is always read completely or not at all, and Deno reads its own stream faster than a
    // copy.
    const response = await handle(request)
    if (!request.bodyUsed && request.body) await readRest(reads(request.body, size), patience)
    return response
  }
  if (!request.body) return await handle(request)
  const read = reads(request.body, size)
  const copy = new ReadableStream({
    async pull(controller) {
      const bytes = await read()
      if (!bytes) controller.close()
      else controller.enqueue(bytes)
    },
  }, { highWaterMark: 0 })
  const response = await handle(new Request(request, { body: copy }))
  await readRest(read, patience)
  return response
}

type Read = () => Promise<Uint8Array | undefined>

/**
 * Reads into small buffers of our own, because V8 would free Deno's 64 KB buffers only at a full garbage
 * collection.
 */
function reads(body: ReadableStream<Uint8Array>, size: number): Read {
  const reader = body.getReader({ mode: 'byob' })
  return async () => {
    const { done, value } = await reader.read(new Uint8Array(size))
    return done ? undefined : value
  }
}

async function readRest(read: Read, patience: number) {
  const latest = Date.now() + timeLimit
  while (Date.now() < latest && await withTimeout(quietPeriod * patience, read()));
}

const chunk = 64 * 1024
const quietPeriod = 200
/** In milliseconds. A proxy gives up if no response has begun after 150 s. */
const timeLimit = 100_000

async function withTimeout<T>(ms: number, coming: Promise<T>): Promise<T | undefined> {
  let clock
  const nothing = new Promise<undefined>((resolve) => clock = setTimeout(resolve, ms))
  const got = await Promise.race([coming.catch(() => undefined), nothing])
  clearTimeout(clock)
  return got
}
