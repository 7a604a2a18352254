// The chat gateway as its own process, for long-lived sockets: `npm exec -- node functions/chat/main.ts`
// (Node 24). It listens on HOST and PORT and has the settings of the functions. A proxy in front of it
// terminates TLS.
import process from 'node:process'
import { log } from '../_shared/errors/log.ts'
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
    log('info', { stopping: true })
    void server.stop().then(() => process.exit(0))
  })
}
// This comes last, because a supervisor may end the process as soon as it listens.
log('info', { listening: `${hostname}:${server.port}` })
