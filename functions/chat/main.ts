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

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    // A second signal asks for the end at once.
    if (stopping) process.exit(1)
    stopping = true
    void server.stop().then(() => process.exit(0))
  })
}
// Last: whoever hears that it listens may end it.
console.log(JSON.stringify({ listening: `${hostname}:${server.port}` }))
