/**
 * The facade as a process of its own, where invocations of functions would cost more than a machine, in
 * the version of Deno that they run on (docs/deploy.md says how it is started). HOST and PORT say where it
 * listens, the other settings are those of the functions. TLS, and the time that a client may take, are
 * the business of what stands before it.
 */
import { setting } from '../_shared/read-setting.ts'
import { app } from './app.ts'
import { handleThenDrain } from './http/drain-body.ts'

/** Between the signal and the end of listening: whoever passes requests on hears of it meanwhile. */
const notice = 3000

const hostname = setting('HOST')!
let stopping = false

const server = Deno.serve({
  hostname,
  port: Number(setting('PORT')),
  onListen: ({ port }) => console.log(JSON.stringify({ listening: `${hostname}:${port}` })),
}, async (request) => {
  const response = await handleThenDrain(request, app.fetch)
  // One that is kept would break under a request that is on its way.
  if (stopping) response.headers.set('Connection', 'close')
  return response
})

// What goes on after an answer, as codes that are sent.
const background = new Set<Promise<unknown>>()
Object.assign(globalThis, {
  EdgeRuntime: {
    waitUntil: (work: Promise<unknown>) => {
      background.add(work)
      void work.finally(() => background.delete(work))
    },
  },
})

// What goes wrong after one answer must not end the others.
globalThis.addEventListener('unhandledrejection', (event) => {
  event.preventDefault()
  console.error('unhandled rejection:', event.reason)
})

async function stop() {
  if (stopping) return
  stopping = true
  await new Promise((resolve) => setTimeout(resolve, notice))
  await server.shutdown()
  await Promise.all(background)
  Deno.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) Deno.addSignalListener(signal, stop)
