/**
 * The chat gateway as a plain Deno process, for long sockets: HOST and PORT say where it listens,
 * the other settings are those of the functions. TLS is the business of what stands before it.
 */
import { serveChat } from './server/serve.ts'

const hostname = Deno.env.get('HOST') || '0.0.0.0'
const port = Number(Deno.env.get('PORT') || 8080)
const server = serveChat({ hostname, port })
console.log(JSON.stringify({ listening: `${hostname}:${server.port}` }))

const stop = async () => {
  await server.stop()
  Deno.exit(0)
}
Deno.addSignalListener('SIGTERM', stop)
Deno.addSignalListener('SIGINT', stop)
