/**
 * A response may be ready before the body of its request has been read. The platform's server reads
 * the rest of the body then; Deno's own resets the connection, and the response is lost with it
 * (denoland/deno#21209, seen on 2.1.4). So the response waits here while more of the body is on its
 * way.
 */
export async function handleThenDrain(
  request: Request,
  handle: (request: Request) => Response | Promise<Response>,
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
    // It is read at once or not at all, and Deno is quicker with a body of its own.
    const response = await handle(request)
    if (!request.bodyUsed && request.body) await readRest(reads(request.body, size))
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
  await readRest(read)
  return response
}

type Read = () => Promise<Uint8Array | undefined>

/**
 * Reads a body piece by piece, undefined at its end; with buffers of its own: those that Deno allocates
 * are of 64 KB, and V8 counts them until it collects all garbage, every few hundred requests.
 */
function reads(body: ReadableStream<Uint8Array>, size: number): Read {
  const reader = body.getReader({ mode: 'byob' })
  return async () => {
    const { done, value } = await reader.read(new Uint8Array(size))
    return done ? undefined : value
  }
}

async function readRest(read: Read) {
  const latest = Date.now() + timeLimit
  while (Date.now() < latest && await withTimeout(quietPeriod, read()));
}

const chunk = 64 * 1024
const quietPeriod = 200
const timeLimit = 10_000

/** The value of a promise; undefined when it does not come in time, or fails. */
async function withTimeout<T>(ms: number, coming: Promise<T>): Promise<T | undefined> {
  let clock
  const nothing = new Promise<undefined>((resolve) => clock = setTimeout(resolve, ms))
  const got = await Promise.race([coming.catch(() => undefined), nothing])
  clearTimeout(clock)
  return got
}
