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
  // To ask for its body opens it.
  const body = method === 'GET' || headers.get('content-length') === '0' ? null : request.body
  if (!body || !headers.has('content-length') && !headers.has('transfer-encoding')) {
    return await handle(request)
  }
  // With buffers of its own: those that Deno allocates are of 64 KB, and V8 counts them until it collects
  // all garbage, every few hundred requests.
  const reader = body.getReader({ mode: 'byob' })
  const size = Math.min(Number(headers.get('content-length') ?? chunk), chunk)
  let ended = false
  const read = async () => {
    const { done, value } = await reader.read(new Uint8Array(size))
    ended = done
    return done ? undefined : value
  }
  const copy = new ReadableStream({
    async pull(controller) {
      const bytes = await read()
      if (!bytes) controller.close()
      else controller.enqueue(bytes)
    },
  }, { highWaterMark: 0 })
  const response = await handle(new Request(request, { body: copy }))
  const latest = Date.now() + timeLimit
  while (!ended && Date.now() < latest && await withTimeout(quietPeriod, read()));
  return response
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
