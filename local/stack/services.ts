// Runs the lightweight parts in one process: the proxy with Auth and Storage (passwords are hashed in
// threads), the inbox, the manager of the function workers, and the timer that calls the jobs.
import { createServer } from 'node:net'
import { openAuth } from '../auth/server.ts'
import { close, endWithSupervisor, listen, readyLine } from '../processes/lifecycle.ts'
import { openProxy } from '../proxy/server.ts'
import { openInbox } from '../inbox/server.ts'
import { openKeys } from '../config/signing-keys.ts'
import { readStack, type Stack } from '../config/stack.ts'
import { openRealStorage } from '../storage/real-proxy.ts'
import { openStorage } from '../storage/server.ts'
import { Workers } from '../functions/workers.ts'

const stack = readStack(process.env)
const keys = openKeys(stack.dataDir, stack.issuer)
const auth = openAuth({
  databaseUrl: stack.databaseUrl('supabase_auth_admin'),
  keys,
  config: stack.config.auth,
  issuer: stack.issuer,
  rates: stack.rates,
  hashCost: stack.hashCost,
})
const storage = stack.realStorage ? openRealStorage(stack) : openStorage({
  databaseUrl: stack.databaseUrl('supabase_storage_admin'),
  dataDir: stack.dataDir,
  keys,
  secret: stack.secrets.secretKey,
  limit: stack.config.storage.limit,
})
const workers = new Workers(stack)
const proxy = openProxy({ stack, auth, keys, storage, workers })
const inbox = openInbox()

// Starts a worker now, so that the first request need not wait. Later, requests start the workers.
void workers.acquire('api').then(({ release }) => release(), () => {})
await listen(inbox, stack.ports.inbox)
await listen(proxy, stack.ports.api)
// Connections to the address for phones are passed to the proxy like all others.
const outside = createServer((socket) => proxy.emit('connection', socket))
if (stack.host) await listen(outside, stack.ports.api, stack.host)
const stopClock = startClock(stack)
endWithSupervisor(async () => {
  stopClock()
  outside.close()
  await Promise.all([close(proxy), close(inbox), workers.close()])
  await Promise.all([auth.close(), storage.close()])
})
console.error(readyLine)

/** Calls the function `jobs`, as the scheduler of a hosted project does. Errors are logged. */
function startClock({ url, secrets, config }: Stack): () => void {
  if (!config.functions.some(({ name }) => name === 'jobs')) return () => {}
  const call = async (path: string): Promise<boolean> => {
    try {
      const response = await fetch(`${url}/functions/v1/${path}`, {
        method: 'POST',
        headers: { apikey: secrets.secretKey },
        signal: AbortSignal.timeout(55_000),
      })
      await response.body?.cancel()
      if (response.status >= 500) console.error(`${path} answered ${response.status}`)
      return response.ok
    } catch (error) {
      console.error(`${path} could not be called: ${(error as Error).message}`)
      return false
    }
  }
  const minutely = setInterval(() => void call('jobs'), 60_000)
  // jobs/often runs the jobs that users wait for, above all pushes. These calls never overlap.
  let busy = false
  // All jobs run at the start, because a stack that was stopped for long has a lot of work to catch up on.
  let begun = false
  const often = setInterval(async () => {
    if (busy) return
    busy = true
    if (begun) await call('jobs/often')
    else begun = await call('jobs')
    busy = false
  }, 2000)
  return () => {
    clearInterval(minutely)
    clearInterval(often)
  }
}
