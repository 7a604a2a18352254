// Runs the edge functions in one Deno process. A function is written as for Supabase: its module
// calls Deno.serve once. Here that call only hands over the handler.
import { lingering } from './lingering.ts'

type Handler = (request: Request, info?: unknown) => Response | Promise<Response>

const { port, functions }: { port: number; functions: { name: string; entrypoint: string }[] } =
  JSON.parse(Deno.args[0])
const handlers = new Map<string, Handler>()
const serve = Deno.serve

Object.assign(globalThis, {
  EdgeRuntime: {
    // Nothing ends this process early, so background work needs no more than its errors logged.
    waitUntil: (work: Promise<unknown>) => {
      work.catch((error) => console.error('background work failed:', error))
      return work
    },
  },
})

for (const { name, entrypoint } of functions) {
  Object.defineProperty(Deno, 'serve', {
    configurable: true,
    value: (...given: unknown[]) => {
      const options = given.find((each) => typeof each === 'object') as
        | { handler?: Handler }
        | undefined
      const handler = given.find((each) => typeof each === 'function') ?? options?.handler
      handlers.set(name, handler as Handler)
      return { finished: new Promise(() => {}), shutdown: async () => {}, ref() {}, unref() {} }
    },
  })
  try {
    await import(entrypoint)
    if (!handlers.has(name)) console.error(`function ${name} does not call Deno.serve`)
  } catch (error) {
    console.error(`function ${name} does not start:`, error)
  }
}

const failure = (status: number, code: string, message: string) =>
  Response.json({ code, message }, { status, headers: { 'sb-error-code': code } })

const server = serve({
  port,
  hostname: '127.0.0.1',
  onListen: () => console.error('@ready'),
}, async (request, info) => {
  const start = request.url.indexOf('/', 8)
  const name = /^\/([\w-]+)/.exec(request.url.slice(start))?.[1] ?? ''
  const handler = handlers.get(name)
  if (!handler) {
    return functions.some((known) => known.name === name)
      ? failure(503, 'BOOT_ERROR', 'Worker failed to boot (please check logs)')
      : failure(404, 'NOT_FOUND', 'Requested function was not found')
  }
  try {
    return await lingering(request, (given) => handler(given, info))
  } catch (error) {
    console.error(`function ${name} failed:`, error)
    return failure(500, 'WORKER_ERROR', 'Function exited due to an error (please check logs)')
  }
})

// A rejected promise that nobody waits for must not take all functions down.
globalThis.addEventListener('unhandledrejection', (event) => {
  event.preventDefault()
  console.error('unhandled rejection:', event.reason)
})

let stopping = false
const stop = async () => {
  if (stopping) return
  stopping = true
  setTimeout(() => Deno.exit(0), 8000)
  dispatchEvent(new Event('beforeunload'))
  await server.shutdown()
  Deno.exit(0)
}
Deno.addSignalListener('SIGTERM', stop)
Deno.addSignalListener('SIGINT', () => {})
// The supervisor holds the other end of stdin: when it goes, so do we.
Deno.stdin.readable.pipeTo(new WritableStream()).then(stop, stop)
