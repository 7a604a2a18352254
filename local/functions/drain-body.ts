/**
 * An answer may come before the body of its request is read. The platform's server takes the rest of
 * the body then; the one of the command line resets the connection, and the answer with it. So the
 * answer waits here while there is something on its way.
 */
export async function handleThenDrain(
  request: Request,
  handle: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  const { headers, body } = request
  if (!body || !headers.has('content-length') && !headers.has('transfer-encoding')) {
    return await handle(request)
  }
  const reader = body.getReader()
  let ended = false
  const read = async () => {
    const { done, value } = await reader.read()
    ended = done
    return value
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

const quietPeriod = 200
const timeLimit = 10_000

/** What comes within that time; undefined when nothing does, or it fails. */
async function withTimeout<T>(ms: number, coming: Promise<T>): Promise<T | undefined> {
  let clock
  const nothing = new Promise<undefined>((resolve) => clock = setTimeout(resolve, ms))
  const got = await Promise.race([coming.catch(() => undefined), nothing])
  clearTimeout(clock)
  return got
}
