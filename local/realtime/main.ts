// The Realtime stand-in, in a process of its own: whatever happens to it, sign-in goes on.
import { endWithSupervisor, listen, readyLine } from '../stack/lifecycle.ts'
import { openKeys } from '../stack/signing-keys.ts'
import { openRealtime } from './server.ts'
import { readStack } from '../stack/stack.ts'

const stack = readStack(process.env)
const { server, close } = openRealtime(stack, openKeys(stack.dataDir, stack.issuer))
// Tests start further ones, with limits of their own, on another port.
await listen(server, Number(process.argv[2]) || stack.ports.realtime)
endWithSupervisor(close)
console.error(readyLine)
