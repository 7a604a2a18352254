// Runs the chat gateway as a separate process, so that sockets can stay open for long: `npm exec -- node
// functions/chat/main.ts` (Node 24). It listens on HOST and PORT and uses the settings of the functions. TLS
// ends at the proxy in front of it.
import process from 'node:process'
import { log } from '../_shared/errors/log.ts'
import { setting } from '../_shared/settings/read-setting.ts'
import { serveChat } from './server/node-server.ts'

const hostname = setting('HOST')!
const server = await serveChat({ hostname, port: Number(setting('PORT')) })

let stopping = false
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    // A second signal ends the process immediately.
    if (stopping) process.exit(1)
    stopping = true
    log('info', { stopping: true })
    void server.stop().then(() => process.exit(0))
  })
}
// Must come last, because a supervisor may stop the process as soon as it listens.
log('info', { listening: `${hostname}:${server.port}` })
