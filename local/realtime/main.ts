// Runs the Realtime stand-in in its own process, so that signing in works even if Realtime crashes.
import { endWithSupervisor, listen, readyLine } from '../processes/lifecycle.ts'
import { openKeys } from '../config/signing-keys.ts'
import { openRealtime } from './server.ts'
import { readStack } from '../config/stack.ts'

const stack = readStack(process.env)
const { server, close } = openRealtime(stack, openKeys(stack.dataDir, stack.issuer), {
  ...(stack.refusedJoins === 'quick' && { failedJoinDelay: 200 }),
})
// A port argument allows a second Realtime process.
await listen(server, Number(process.argv[2]) || stack.ports.realtime)
endWithSupervisor(close)
console.error(readyLine)
