// The chat gateway as its own process, for long sockets: `npm exec -- node functions/chat/main.ts` (Node
// 24). HOST and PORT say where it listens; the other settings are the functions'. TLS belongs to the proxy
// in front.
import process from 'node:process'
import { setting } from '../_shared/settings/read-setting.ts'
import { serveChat } from './server/node-server.ts'

const hostname = setting('HOST')!
const server = await serveChat({ hostname, port: Number(setting('PORT')) })

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    // A second signal ends the process at once.
    if (stopping) process.exit(1)
    stopping = true
    void server.stop().then(() => process.exit(0))
  })
}
// Comes last, because a supervisor may end the process as soon as it listens.
console.log(JSON.stringify({ listening: `${hostname}:${server.port}` }))
