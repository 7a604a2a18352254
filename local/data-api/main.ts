// Serves the Data API and Studio's rows from our Postgres with the package @supabase/lite (0.10.0). The
// package is slow, so it runs in its own process. Its auth, storage and page are not used, and it exposes
// only the schemas named here.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { App } from '@supabase/lite'
import { createPostgresConnection } from '@supabase/lite/postgres'
import postgres, { type Sql } from 'postgres'
import { close, endWithSupervisor, listen, readyLine } from '../processes/lifecycle.ts'
import { bodyOf } from '../http/body.ts'
import { hs256Token } from '../http/hs256.ts'
import { asPostgrest } from './postgrest.ts'
import { readStack, type Stack } from '../config/stack.ts'
import { answerStudio } from './studio.ts'

type Fetch = (request: Request) => Response | Promise<Response>

const stack = readStack(process.env)
const bodyLimit = 10 * 1024 * 1024

function openApp(stack: Stack, role: string, schemas: string[], studio: boolean) {
  // The pools are small, because all clients share the database's 60 connections (the default).
  const connection = createPostgresConnection({
    url: stack.databaseUrl(role),
    postgresOptions: {
      onnotice() {},
      max: studio ? 2 : 4,
      idle_timeout: 10,
      // The package serializes JSON arguments itself, so the driver must not serialize them again.
      ...(studio ? {} : { types: { json: jsonType(114), jsonb: jsonType(3802) } }),
    },
  })
  // Without this, the package's first calls grant privileges concurrently, and Postgres rejects one of them.
  Object.assign(connection, { rlsState: 'active' })
  const { secrets } = stack
  const app = new App(
    {
      connection,
      api: { schemas, max_rows: stack.config.api.maxRows },
      auth: {
        enabled: true,
        jwt_secret: secrets.dataApi,
        ...(studio ? {} : {
          publishable_key: secrets.publishableKey,
          secret_key: secrets.secretKey,
        }),
      },
      studio: { enabled: studio },
      options: { server: { disableStudio: !studio, ...(studio ? { apiKeys: false } : {}) } },
    } as never,
  )
  return {
    fetch: (request: Request) => app.fetch(request),
    close: () => connection.close(),
    functions: async () => (await connection.introspect({ useCache: true })).functions ?? [],
  }
}

const jsonType = (oid: number) => ({
  to: oid,
  from: [oid],
  serialize: (text: string) => text,
  parse: (text: string) => JSON.parse(text),
})

/** Only the proxy calls this server, with a token that the proxy signs. */
function restServer({ fetch, functions }: ReturnType<typeof openApp>): Server {
  return createServer((request, response) => {
    if (!request.url!.startsWith('/rest/v1/')) return response.writeHead(404).end()
    void pass(request, response, (incoming) => asPostgrest(incoming, fetch, functions))
  })
}

/** Studio acts as postgres, so this server only accepts requests from its own pages and host names. */
function studioServer({ ports, secrets }: Stack, fetch: Fetch, sql: Sql): Server {
  const hosts = [`127.0.0.1:${ports.studio}`, `localhost:${ports.studio}`]
  const origins = [undefined, ...hosts.map((host) => `http://${host}`)]
  return createServer((request, response) => {
    const { host = '', origin } = request.headers
    if (!hosts.includes(host) || !origins.includes(origin)) return response.writeHead(403).end()
    void pass(request, response, async (original) => {
      const headers = new Headers(original.headers)
      headers.set(
        'authorization',
        `Bearer ${await hs256Token(secrets.dataApi, { role: 'postgres' })}`,
      )
      headers.delete('apikey')
      return await answerStudio(new Request(original, { headers }), fetch, sql)
    })
  })
}

async function pass(request: IncomingMessage, response: ServerResponse, fetch: Fetch) {
  try {
    const body = await bodyOf(request, bodyLimit)
    if (!body) return response.writeHead(413, { connection: 'close' }).end()
    const headers = new Headers()
    for (const [name, values] of Object.entries(request.headersDistinct)) {
      for (const value of values ?? []) headers.append(name, value)
    }
    const bodyless = request.method === 'GET' || request.method === 'HEAD'
    const named = `http://${request.headers.host}`
    const answer = await fetch(
      new Request(new URL(request.url!, URL.canParse(named) ? named : 'http://localhost'), {
        method: request.method,
        headers,
        body: bodyless ? undefined : body,
      }),
    )
    response.writeHead(answer.status, [...answer.headers].flat())
    response.end(Buffer.from(await answer.arrayBuffer()))
  } catch (error) {
    console.error(error)
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'content-type': 'application/json' }).end('{"message":"error"}')
  }
}

const { schemas } = stack.config.api
const rest = openApp(stack, 'data_api', schemas, false)
const studio = openApp(stack, 'studio', ['public', ...schemas, 'private', 'auth', 'storage'], true)
const studioSql = postgres(stack.databaseUrl('studio'), { onnotice() {}, max: 1, idle_timeout: 10 })
const servers: [Server, number][] = [
  [restServer(rest), stack.ports.dataApi],
  [studioServer(stack, studio.fetch, studioSql), stack.ports.studio],
]
if (stack.realDataApi) servers.shift()
// The first call makes the package read the whole catalogue, so we call it before accepting requests.
const authorization = `Bearer ${await hs256Token(stack.secrets.dataApi, { role: 'anon' })}`
const headers = { authorization, apikey: stack.secrets.publishableKey }
await rest.fetch(new Request(`${stack.url}/rest/v1/rpc/warm_up`, { method: 'POST', headers }))
for (const [server, port] of servers) await listen(server, port)
endWithSupervisor(() =>
  Promise.all([
    ...servers.map(([server]) => close(server)),
    rest.close(),
    studio.close(),
    studioSql.end(),
  ])
)
console.error(readyLine)
