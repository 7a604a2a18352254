// Runs the API as a separate process, for when function invocations would cost more than a machine
// (docs/deploy.md). It listens on HOST and PORT and otherwise uses the settings of the functions. The proxy
// in front of it handles TLS and client timeouts.
import { log, logFailure } from '../_shared/errors/log.ts'
import { countHere } from '../_shared/figures/metrics.ts'
import { setting } from '../_shared/settings/read-setting.ts'
import { app } from './app.ts'
import { handleThenDrain } from './http/drain-body.ts'
import { requestFamilies } from './http/figures.ts'

/** In milliseconds: how long to keep listening after the signal, so that proxies notice in time. */
const notice = 3000
/**
 * In milliseconds: how long running requests may take to finish during shutdown. Without a limit, an idle
 * connection or a stalled body would delay the shutdown forever.
 */
const patience = 10_000

countHere(requestFamilies)

const hostname = setting('HOST')!
let stopping = false
let server: Deno.HttpServer | undefined = undefined

// Work that continues after a response, such as sending codes.
const background = new Set<Promise<unknown>>()
Object.assign(globalThis, {
  EdgeRuntime: {
    waitUntil: (work: Promise<unknown>) => {
      background.add(work)
      void work.finally(() => background.delete(work))
    },
  },
})

// A rejected promise in background work must not crash the process.
globalThis.addEventListener('unhandledrejection', (event) => {
  event.preventDefault()
  logFailure('a promise', event.reason)
})

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function stop() {
  // A second signal ends the process immediately.
  if (stopping) Deno.exit(1)
  stopping = true
  log('info', { stopping: true })
  await after(notice)
  await Promise.race([server?.shutdown(), after(patience)])
  await Promise.all(background)
  Deno.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) Deno.addSignalListener(signal, stop)

// The server must start last, because a supervisor may send a signal as soon as it listens.
server = Deno.serve({
  hostname,
  port: Number(setting('PORT')),
  onListen: ({ port }) => log('info', { listening: `${hostname}:${port}` }),
}, async (request) => {
  const response = await handleThenDrain(request, app.fetch)
  // When the process ends, another request on a kept-alive connection would fail.
  if (stopping) response.headers.set('Connection', 'close')
  return response
})
