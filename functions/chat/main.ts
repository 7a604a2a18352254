/**
 * The chat gateway as a process of its own, for long sockets: `npm exec -- node functions/chat/main.ts`
 * (Node 24). HOST and PORT say where it listens, the other settings are those of the functions. TLS
 * is the business of what stands before it.
 */
import process from 'node:process'
import { setting } from '../_shared/read-setting.ts'
import { serveChat } from './server/node-server.ts'

const hostname = setting('HOST')!
const server = await serveChat({ hostname, port: Number(setting('PORT')) })
console.log(JSON.stringify({ listening: `${hostname}:${server.port}` }))

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => void server.stop().then(() => process.exit(0)))
}
