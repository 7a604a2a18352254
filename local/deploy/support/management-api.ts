// A mock of the Management API and of a hosted project. It records requests and responds as the CLI expects.
// Its database is real.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { type Json, type Platform, ref } from './platform.ts'
import { startPooler } from './pooler.ts'
import { masked, stored, whole } from './project-config.ts'
import { freshAuth } from './new-auth-config.ts'

export const token = `sbp_${'0123456789abcdef'.repeat(2)}01234567`
export const publishableKey = 'sb_publishable_of_the_mock_0123456789'
// Concatenated, because no file in this repository may contain a secret key.
export const secretKey = `sb_secret_${'of_the_mock_0123456789abcdef'}`

/** `adminUrl` is the URL for a superuser, which creates the temporary roles. */
export async function startPlatform(
  database: { url: string; adminUrl: string },
): Promise<Platform> {
  const way = await startPooler(database.url)
  const pooler = new URL(way.url)
  const [user, address] = [`postgres.${ref}`, `${pooler.host}${pooler.pathname}`]
  let api = { db_schema: 'public,graphql_public', db_extra_search_path: 'public, extensions' }
  let tls = false
  let roleCount = 0

  const platform: Omit<Platform, 'url' | 'stop'> = {
    sent: [],
    auth: freshAuth(),
    realtime: {
      private_only: false,
      connection_pool: 2,
      max_concurrent_users: 500,
      max_events_per_second: 500,
      max_bytes_per_second: 100_000,
      max_channels_per_client: 100,
      max_joins_per_second: 500,
      max_presence_events_per_second: 50,
      max_payload_size_in_kb: 3000,
      suspend: false,
      presence_enabled: true,
    },
    storage: {
      fileSizeLimit: 52_428_800,
      features: { imageTransformation: { enabled: true }, s3Protocol: { enabled: true } },
    },
    secrets: new Map(),
    uploads: new Map(),
    functions: new Map(),
    keys: [
      { name: 'anon', type: 'legacy', api_key: 'eyJ.legacy.anon' },
      { name: 'default', type: 'publishable', api_key: publishableKey },
      { name: 'default', type: 'secret', api_key: secretKey },
    ],
    signing: [
      { id: 'b', algorithm: 'HS256', status: 'previously_used' },
      { id: 'a', algorithm: 'ES256', status: 'in_use' },
    ],
    status: 'ACTIVE_HEALTHY',
    postgres: '17',
    isOwn: true,
    loses: () => false,
    fails: () => undefined,
    forgets: new Set(),
    forwarded: (sent) => [...(sent ? [sent] : []), '198.51.100.7', '10.0.0.3'].join(', '),
    lag: 0,
    jobs: { keep_decoy: { done: 1 }, purge_codes: { done: 0 } },
    openDoors: [],
  }

  const rest = () => ({
    ...api,
    max_rows: 1000,
    db_pool: null,
    db_pool_acquisition_timeout: 10,
    db_pool_max_lifetime: 1800,
    db_pool_max_idletime: 30,
  })
  const functions = () =>
    [...platform.functions].map(([slug, { version, verifyJwt }]) => ({
      id: `id-${slug}`,
      slug,
      name: slug,
      status: 'ACTIVE',
      version,
      created_at: 1,
      updated_at: 1,
      verify_jwt: verifyJwt,
    }))

  /** Creates a temporary role that is a member of postgres, as the platform does. */
  async function lend(): Promise<Json> {
    const role = `cli_login_${++roleCount}`
    const client = new pg.Client({ connectionString: database.adminUrl })
    await client.connect()
    const name = pg.escapeIdentifier(role)
    await client.query(
      `create role ${name} login noinherit password 'lent-for-some-minutes' ` +
        `valid until 'tomorrow'; grant postgres to ${name} with inherit false, set true`,
    )
    await client.end()
    return { role, password: 'lent-for-some-minutes', ttl_seconds: 300 }
  }

  const routes: Record<string, (body: never, query: URLSearchParams) => unknown> = {
    'GET ': () => ({
      id: ref,
      ref,
      organization_id: 'org',
      organization_slug: 'org',
      name: 'property',
      region: 'eu-central-1',
      created_at: '2026-11-01T00:00:00Z',
      status: platform.status,
      database: {
        host: `db.${ref}.supabase.co`,
        version: `${platform.postgres}.6.1.003`,
        postgres_engine: platform.postgres,
        release_channel: 'ga',
      },
    }),
    'GET /api-keys': (_, query) =>
      platform.keys.map((key) => query.get('reveal') ? key : { ...key, api_key: null }),
    'GET /config/auth/signing-keys': () => ({ keys: platform.signing }),
    'GET /billing/addons': () => ({ selected_addons: [], available_addons: [] }),
    'GET /config/auth': () => masked(platform.auth),
    'PATCH /config/auth': (body: Json) => {
      const remembered = Object.entries(body).filter(([key]) => !platform.forgets.has(key))
      return masked(Object.assign(platform.auth, Object.fromEntries(remembered)))
    },
    'GET /postgrest': rest,
    'PATCH /postgrest': (body) => (api = { ...api, ...body as Json }, rest()),
    'GET /config/storage': () => stored(platform.storage),
    'PATCH /config/storage': ({ features, ...own }: Json) => {
      Object.assign(platform.storage, own)
      Object.assign(platform.storage.features, features)
      return {}
    },
    'GET /ssl-enforcement': () => ({ currentConfig: { database: tls }, appliedSuccessfully: true }),
    'PUT /ssl-enforcement': ({ requestedConfig }: { requestedConfig: { database: boolean } }) => {
      tls = requestedConfig.database
      return { currentConfig: { database: tls }, appliedSuccessfully: true }
    },
    'GET /config/realtime': () => platform.realtime,
    'PATCH /config/realtime': (body) => void Object.assign(platform.realtime, body),
    'GET /config/database/pooler': () => [{
      identifier: ref,
      database_type: 'PRIMARY',
      is_using_scram_auth: true,
      db_user: user,
      db_host: pooler.hostname,
      db_port: Number(pooler.port),
      db_name: 'postgres',
      connection_string: `postgresql://${user}:[YOUR-PASSWORD]@${address}`,
      connectionString: `postgresql://${user}:[YOUR-PASSWORD]@${address}`,
      default_pool_size: 15,
      max_client_conn: 200,
      pool_mode: 'transaction',
    }],
    'POST /cli/login-role': lend,
    'GET /secrets': () =>
      [...platform.secrets].map(([name, value]) => ({ name, value: sha256(value) })),
    'POST /secrets': (body: { name: string; value: string }[]) =>
      body.forEach(({ name, value }) => platform.secrets.set(name, value)),
    'GET /functions': functions,
    'PUT /functions': (body: { slug: string; version: number; verify_jwt: boolean }[]) => {
      for (const { slug, version, verify_jwt: verifyJwt } of body) {
        const files = [...platform.uploads.get(slug)!.files.keys()]
        platform.functions.set(slug, { version, verifyJwt, files })
      }
      return { functions: functions() }
    },
  }

  function bundle(slug: string, form: string) {
    const { upload, metadata } = readUpload(form)
    platform.uploads.set(slug, upload)
    return {
      id: `id-${slug}`,
      slug,
      name: slug,
      status: 'ACTIVE',
      version: (platform.functions.get(slug)?.version ?? 0) + 1,
      created_at: 1,
      updated_at: 1,
      verify_jwt: metadata.verify_jwt,
      import_map: true,
      entrypoint_path: `functions/${slug}/index.ts`,
      import_map_path: 'functions/deno.json',
      ezbr_sha256: sha256(form),
    }
  }

  function live(request: IncomingMessage, path: string): [status: number, body: unknown] {
    if (path === '/auth/v1/token') {
      const on = platform.auth.security_captcha_enabled && platform.lag-- <= 0
      return [400, {
        code: 400,
        error_code: on ? 'captcha_failed' : 'invalid_credentials',
        msg: '',
      }]
    }
    if (path === '/auth/v1/settings') {
      return [request.headers.apikey === publishableKey && platform.isOwn ? 200 : 401, {}]
    }
    const [, name, route] = /^\/functions\/v1\/(\w+)(.*)$/.exec(path) ?? []
    if (!name || !platform.functions.has(name)) return [404, { code: 'NOT_FOUND' }]
    if (name === 'chat') return [426, {}]
    if (name === 'jobs') {
      if (request.headers.apikey !== secretKey) return [401, {}]
      if (route === '') return [200, platform.jobs]
      if (route === '/doors') return [200, { open: platform.openDoors }]
      const forwardedFor = platform.forwarded(request.headers['x-forwarded-for']?.toString())
      const hops = Number(platform.secrets.get('CLIENT_IP_HOPS') ?? 1)
      return [200, { forwardedFor, hops, address: forwardedFor.split(', ').at(-hops) }]
    }
    return [200, { status: 'ok', database: 'ok', sms: 'live' }]
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const raw = Buffer.concat(parts).toString('latin1')
    const { pathname, searchParams } = new URL(request.url!, 'http://mock')
    const method = request.method!
    const say = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(body === undefined ? '' : JSON.stringify(body))
    }
    if (!/^\/v[12]\//.test(pathname)) return say(...live(request, pathname))
    if (request.headers.authorization !== `Bearer ${token}`) {
      return say(401, { message: 'Unauthorized' })
    }
    const path = pathname.replace(`/v1/projects/${ref}`, '')
    const form = path === '/functions/deploy'
    const body = raw && !form ? JSON.parse(Buffer.from(raw, 'latin1').toString()) : undefined
    if (method !== 'GET') {
      platform.sent.push({
        method,
        path: path + (new URL(request.url!, 'http://mock').search),
        body,
      })
    }
    const failure = platform.fails(method, path, searchParams)
    if (failure) return say(failure, { message: `no, because ${raw.slice(0, 2000)}` })
    if (form) return say(201, bundle(searchParams.get('slug')!, raw))
    if (path === `/v2/projects/${ref}/config`) return say(200, whole(platform, rest(), tls))
    const route = routes[`${method} ${path}`]
    if (!route) return say(404, { message: `Cannot ${method} ${pathname}` })
    const result = await route(body as never, searchParams)
    if (platform.loses(method, path)) return request.socket.destroy()
    say(method === 'POST' ? 201 : result === undefined ? 204 : 200, result)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop =
    () => (way.stop(),
      new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))
  return Object.assign(platform, { url, stop })
}

/** Parses a multipart form and keeps the full paths of its files. Other parsers return only the last part. */
function readUpload(form: string) {
  const boundary = form.slice(0, form.indexOf('\r\n'))
  const files = new Map<string, Buffer>()
  let metadata: { entrypoint_path: string; verify_jwt: boolean } | undefined
  for (const part of form.split(boundary).slice(1, -1)) {
    const start = part.indexOf('\r\n\r\n') + 4
    const content = Buffer.from(part.slice(start, -2), 'latin1')
    const path = /filename="([^"]+)"/.exec(part.slice(0, start))?.[1]
    if (path) files.set(path, content)
    else metadata = JSON.parse(content.toString())
  }
  return { metadata: metadata!, upload: { entrypoint: metadata!.entrypoint_path, files } }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
