/**
 * The chat gateway as a plain Deno process, for long sockets: HOST and PORT say where it listens,
 * the other settings are those of the functions. TLS is the business of what stands before it.
 */
import { setting } from '../_shared/read-setting.ts'
import { serveChat } from './server/serve.ts'

const hostname = setting('HOST')!
const port = Number(setting('PORT'))
const server = serveChat({ hostname, port })
console.log(JSON.stringify({ listening: `${hostname}:${server.port}` }))

const stop = async () => {
  await server.stop()
  Deno.exit(0)
}
Deno.addSignalListener('SIGTERM', stop)
Deno.addSignalListener('SIGINT', stop)
