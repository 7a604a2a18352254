// Runs the chat gateway as a process of the stack, in place of functions/chat/main.ts.
import { flushCompileCache } from 'node:module'
import { serveChat } from '../../functions/chat/server/node-server.ts'
import { endWithSupervisor, readyLine } from '../processes/lifecycle.ts'

const [, , port, changed = '{}'] = process.argv
const server = await serveChat({
  hostname: '127.0.0.1',
  port: Number(port),
  changed: JSON.parse(changed),
})
endWithSupervisor(server.stop)
console.error(readyLine)
// The cache is flushed now, so that the next process can use it even if this one is killed.
flushCompileCache()
