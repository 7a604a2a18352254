// One process for what is light and belongs together: the gateway, Auth behind it (password
// hashing has its own threads), the inbox and the clock of the jobs.
import { openAuth } from './auth/server.ts'
import { close, endWithSupervisor, listen, readyLine } from './child.ts'
import { openGateway } from './gateway/server.ts'
import { openInbox } from './inbox.ts'
import { openKeys } from './keys.ts'
import { readStack, type Stack } from './stack.ts'

const stack = readStack(process.env)
const keys = openKeys(stack.dataDir, stack.issuer)
const auth = openAuth({
  databaseUrl: stack.databaseUrl('supabase_auth_admin'),
  keys,
  config: stack.config.auth,
  issuer: stack.issuer,
  rates: stack.rates,
})
const gateway = openGateway({ stack, auth, keys })
const inbox = openInbox()

await listen(inbox, stack.ports.inbox)
await listen(gateway, stack.ports.gateway)
const clock = startClock(stack)
endWithSupervisor(async () => {
  clearInterval(clock)
  await Promise.all([close(gateway), close(inbox)])
  await auth.close()
})
console.error(readyLine)

/** Calls the function `jobs` every minute, as the scheduler of a hosted project does. */
function startClock({ url, secrets, config }: Stack): NodeJS.Timeout | undefined {
  if (!config.functions.some(({ name }) => name === 'jobs')) return undefined
  return setInterval(async () => {
    try {
      const response = await fetch(`${url}/functions/v1/jobs`, {
        method: 'POST',
        headers: { apikey: secrets.secretKey },
        signal: AbortSignal.timeout(55_000),
      })
      await response.body?.cancel()
      if (response.status >= 500) console.error(`jobs answered ${response.status}`)
    } catch (error) {
      console.error(`jobs could not be called: ${(error as Error).message}`)
    }
  }, 60_000)
}
