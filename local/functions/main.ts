// Runs edge functions in a Deno process: a single function as its worker (workers.ts), or several in a test.
// As on Supabase, a function's module calls Deno.serve once; here the call only registers the handler.
import { handleThenDrain } from '../../functions/api/http/drain-body.ts'

type Handler = (request: Request, info?: unknown) => Response | Promise<Response>

type Options = {
  port: number
  functions: { name: string; entrypoint: string }[]
  /** Scales the time for which the client may pause while it sends the rest of a body. */
  patience?: number
  /** Whether an unhandled rejection ends the process, as it ends the platform's worker. */
  worker?: boolean
}

// Here a write to the log fails if the disk is full. On the platform it never fails, so errors are ignored.
for (const level of ['log', 'info', 'warn', 'error'] as const) {
  const write = console[level].bind(console)
  console[level] = (...said: unknown[]) => {
    try {
      write(...said)
    } catch { /* without space on the disk, the line is lost */ }
  }
}

const { port, functions, patience, worker = false }: Options = JSON.parse(Deno.args[0])
const handlers = new Map<string, Handler>()
const serve = Deno.serve

let pending = 0
let retired = false

Object.assign(globalThis, {
  EdgeRuntime: {
    waitUntil: (work: unknown) => {
      // As on the platform, only promises count, and an unhandled rejection ends the worker.
      if (work instanceof Promise) {
        pending++
        void work.finally(() => {
          pending--
          dropIdle()
        })
      }
      return work
    },
  },
})

/** Ends a retired worker once nothing is pending. As on the platform, `beforeunload` is dispatched first. */
function dropIdle() {
  if (!retired || pending > 0) return
  unload('early_drop')
  Deno.exit(0)
}

function unload(reason: string) {
  dispatchEvent(new CustomEvent('beforeunload', { cancelable: true, detail: { reason } }))
}

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

const failure = (status: number, code: string, message: string, retryAfter?: number) => {
  const headers = { 'sb-error-code': code, ...(retryAfter && { 'retry-after': `${retryAfter}` }) }
  return Response.json({ code, message, retryAfter }, { status, headers })
}

const server = serve({
  port,
  hostname: '127.0.0.1',
  onListen: ({ port }) => console.error(`@ready ${port}`),
}, async (request, info) => {
  const start = request.url.indexOf('/', 8)
  const name = /^\/([\w-]+)/.exec(request.url.slice(start))?.[1] ?? ''
  const handler = handlers.get(name)
  if (!handler) {
    return functions.some((known) => known.name === name)
      ? failure(503, 'BOOT_ERROR', 'Worker failed to boot (please check logs)', 1)
      : failure(404, 'NOT_FOUND', 'Requested function was not found')
  }
  return await handleThenDrain(request, async (given) => {
    try {
      return await handler(given, info)
    } catch (error) {
      console.error(`function ${name} failed:`, error)
      return failure(500, 'WORKER_ERROR', 'Function exited due to an error (please check logs)')
    }
  }, patience)
})

// An unhandled rejection ends a worker, but not a process for tests.
if (!worker) {
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    console.error('unhandled rejection:', event.reason)
  })
}

let stopping = false
const stop = async () => {
  if (stopping) return
  stopping = true
  // The limit is the same as for the stack's Node processes (processes/lifecycle.ts).
  setTimeout(() => Deno.exit(0), 20_000)
  unload('termination')
  await server.shutdown()
  Deno.exit(0)
}
Deno.addSignalListener('SIGTERM', stop)
Deno.addSignalListener('SIGINT', () => {})

const commands: Record<string, () => void> = {
  // The stack sends this once all requests have been answered and no more will come.
  retire: () => {
    retired = true
    dropIdle()
  },
  // The delay gives sockets time to send data that is already written.
  end: () => {
    unload('wall_clock')
    setTimeout(() => Deno.exit(0), 20)
  },
}

async function readCommands() {
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    for (const command of text.split('\n')) commands[command]?.()
  }
}
// The parent process holds the other end of stdin; when the parent ends, this process ends too.
readCommands().then(stop, stop)
