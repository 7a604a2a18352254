// Runs the chat gateway as a part of the stack: what functions/chat/main.ts is elsewhere.
import { flushCompileCache } from 'node:module'
import { serveChat } from '../../functions/chat/server/node-server.ts'
import { endWithSupervisor, readyLine } from '../stack/lifecycle.ts'

const server = await serveChat({ hostname: '127.0.0.1', port: Number(process.argv[2]) })
endWithSupervisor(server.stop)
console.error(readyLine)
// Also for who comes after one that is killed.
flushCompileCache()
