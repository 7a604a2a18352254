/**
 * The facade as a process of its own, where invocations of functions would cost more than a machine, in
 * the version of Deno that they run on (docs/deploy.md says how it is started). HOST and PORT say where it
 * listens, the other settings are those of the functions. TLS, and the time that a client may take, are
 * the business of what stands before it.
 */
import { setting } from '../_shared/read-setting.ts'
import { causeOf, placesOf } from '../_shared/refusal.ts'
import { app } from './app.ts'
import { handleThenDrain } from './http/drain-body.ts'

/** Between the signal and the end of listening: whoever passes requests on hears of it meanwhile. */
const notice = 3000
/** How long requests may still take; a connection that was never used or a body that stalls would have no end. */
const patience = 10_000

const hostname = setting('HOST')!
let stopping = false
let server: Deno.HttpServer | undefined = undefined

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
  const error = event.reason instanceof Error ? event.reason : new Error(String(event.reason))
  console.error(JSON.stringify({ rejected: causeOf(error), stack: placesOf(error) }))
})

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function stop() {
  // A second signal asks for the end at once.
  if (stopping) Deno.exit(1)
  stopping = true
  console.log(JSON.stringify({ stopping: true }))
  await after(notice)
  await Promise.race([server?.shutdown(), after(patience)])
  await Promise.all(background)
  Deno.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) Deno.addSignalListener(signal, stop)

// Last: whoever hears that it listens may end it.
server = Deno.serve({
  hostname,
  port: Number(setting('PORT')),
  onListen: ({ port }) => console.log(JSON.stringify({ listening: `${hostname}:${port}` })),
}, async (request) => {
  const response = await handleThenDrain(request, app.fetch)
  // One that is kept would break under a request that is on its way.
  if (stopping) response.headers.set('Connection', 'close')
  return response
})
