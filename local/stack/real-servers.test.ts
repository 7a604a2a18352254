import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { get } from 'node:http'
import { realDataApiSettings } from '../data-api/real-proxy.ts'
import { realRealtimeSettings } from '../realtime/real-proxy.ts'
import { realAuthSettings } from '../auth/real-proxy.ts'
import { parentOf, startTimeOf } from '../processes/process-info.ts'
import { addKey } from '../config/signing-keys.ts'
import { root } from '../config/settings.ts'
import { readStack } from '../config/stack.ts'
import { realStorageSettings } from '../storage/real-proxy.ts'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { freeStackPort, type Stack, startStack, warningsIn } from '../../test/support/stack.ts'
import { ready, start } from '../../test/support/stack-program.ts'
import { waitUntil } from '../../test/support/wait.ts'

async function described() {
  const folder = mkdtempSync(join(tmpdir(), 'property-real-'))
  await addKey(folder, 'current')
  await addKey(folder)
  const parts = {
    REAL_AUTH: '/opt/auth/auth',
    REAL_STORAGE: '/opt/storage',
    REAL_REALTIME: '/opt/realtime',
    REAL_DATA_API: '/opt/postgrest',
  }
  const stack = readStack({ LOCAL_DATA: folder, PORT: '31000', RATES: 'off', ...parts })
  return { stack, remove: () => rmSync(folder, { recursive: true }) }
}

describe('a real server in place of a stand-in', () => {
  test('gets the settings of config.toml: Auth', async () => {
    const { stack, remove } = await described()
    const settings = realAuthSettings(stack)
    expect(settings).toMatchObject({
      API_EXTERNAL_URL: 'http://127.0.0.1:31000/auth/v1',
      GOTRUE_API_HOST: '127.0.0.1',
      GOTRUE_API_PORT: '31004',
      GOTRUE_DB_MIGRATIONS_PATH: '/opt/auth/migrations',
      GOTRUE_JWT_ISSUER: 'http://127.0.0.1:31000/auth/v1',
      GOTRUE_DISABLE_SIGNUP: 'true',
      GOTRUE_PASSWORD_MIN_LENGTH: '8',
      GOTRUE_SECURITY_CAPTCHA_ENABLED: 'true',
      GOTRUE_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: 'true',
      GOTRUE_HOOK_SEND_SMS_ENABLED: 'true',
      GOTRUE_HOOK_CUSTOM_ACCESS_TOKEN_URI: 'pg-functions://postgres/private/custom_access_token',
      GOTRUE_EXTERNAL_GOOGLE_SKIP_NONCE_CHECK: 'true',
      GOTRUE_EXTERNAL_APPLE_SKIP_NONCE_CHECK: 'false',
      GOTRUE_RATE_LIMIT_OTP: '1000000',
    })
    // Exactly one key can sign. Of the other keys, only the public half is passed.
    const keys = JSON.parse(settings.GOTRUE_JWT_KEYS!)
    expect(keys.map((key: { d?: string; key_ops: string[] }) => [key.key_ops, 'd' in key]))
      .toEqual([[['sign', 'verify'], true], [['verify'], false]])
    remove()
  })

  test('gets the settings of config.toml: Storage', async () => {
    const { stack, remove } = await described()
    const settings = realStorageSettings(stack)
    expect(settings).toMatchObject({
      SERVER_HOST: '127.0.0.1',
      SERVER_PORT: '31007',
      UPLOAD_FILE_SIZE_LIMIT: '10485760',
      STORAGE_BACKEND: 'file',
      S3_PROTOCOL_ENABLED: 'false',
    })
    expect(settings.JWT_JWKS).not.toContain('"d"')
    remove()
  })

  test('gets the settings of config.toml: Data API and Realtime', async () => {
    const { stack, remove } = await described()
    const settings = realDataApiSettings(stack)
    expect(settings).toMatchObject({
      PGRST_DB_SCHEMAS: 'api',
      PGRST_DB_EXTRA_SEARCH_PATH: 'api',
      PGRST_DB_MAX_ROWS: '1000',
      PGRST_SERVER_HOST: '127.0.0.1',
      PGRST_SERVER_PORT: '31005',
    })
    expect(JSON.parse(settings.PGRST_JWT_SECRET!).keys).toHaveLength(2)
    expect(settings.PGRST_JWT_SECRET).not.toContain('"d"')
    expect(realRealtimeSettings(stack)).toMatchObject({
      PORT: '31006',
      DB_PORT: '31001',
      DB_NAME: 'realtime_tenants',
      GEN_RPC_SOCKET_IP: '127.0.0.1',
      GEN_RPC_TCP_SERVER_PORT: '31013',
      DB_ENC_KEY: expect.stringMatching(/^\w{16}$/),
    })
    remove()
  })
})

const servers = echo()
afterAll(() => rmSync(servers.folder, { recursive: true }))

// These tests share a data folder, because the first start in a folder takes the longest.
describe('a stack with real servers', { shuffle: false }, () => {
  const data = mkdtempSync(join(tmpdir(), 'property-real-'))
  let port: number
  let stack: ReturnType<typeof start>
  let described: Stack

  async function startIt() {
    const { auth, dataApi, realtime } = servers
    stack = start({
      PORT: String(port),
      LOCAL_DATA: data,
      REAL_AUTH: auth,
      REAL_DATA_API: dataApi,
      REAL_REALTIME: realtime,
    })
    described = await ready(stack, data)
  }
  async function stopIt() {
    if (stack.child.exitCode === null) stack.child.kill('SIGTERM')
    expect(await stack.ended).toMatchObject({ code: 0 })
  }
  beforeAll(async () => {
    port = await freeStackPort()
    await startIt()
  })
  afterAll(async () => {
    await stopIt()
    rmSync(data, { recursive: true, force: true })
  })

  const answering = async () =>
    Number((await (await fetch(`http://127.0.0.1:${port + 4}/`)).json()).pid)
  async function anotherAfter(pid: number): Promise<number> {
    await waitUntil('another answers', async () => await answering() !== pid)
    return answering()
  }

  test('lets them create their own tables, and gives them tokens in place of API keys', async () => {
    const { url: origin, publishableKey, secretKey } = described
    const heard = async (headers: Record<string, string>) =>
      (await fetch(`${origin}/auth/v1/admin/users?page=1`, { headers })).json()
    const asService = await heard({ apikey: secretKey })
    expect(asService.url).toBe('/admin/users?page=1')
    expect(claimsOf(asService.headers)).toMatchObject({ role: 'service_role' })
    const asGuest = await heard({ apikey: publishableKey, 'sb-forwarded-for': '1.2.3.4' })
    expect(claimsOf(asGuest.headers)).toMatchObject({ role: 'anon' })
    // Only a server with the secret key may specify another address than its own.
    expect(asGuest.headers['sb-forwarded-for']).toBe('127.0.0.1')
    const asUser = await heard({ apikey: publishableKey, authorization: 'Bearer a.b.c' })
    expect(asUser.headers.authorization).toBe('Bearer a.b.c')
    expect((await fetch(`${origin}/auth/v1/user`)).status).toBe(401)

    const api = async (path: string, headers: Record<string, string>) =>
      (await fetch(`${origin}${path}`, { headers: { apikey: publishableKey, ...headers } })).json()
    const called = await api('/rest/v1/rpc/list_plans?a=1', { 'accept-profile': 'api' })
    expect(called).toMatchObject({
      url: '/rpc/list_plans?a=1',
      headers: { 'accept-profile': 'api' },
    })
    expect(claimsOf(called.headers)).toMatchObject({ role: 'anon' })
    const broadcast = await api('/realtime/v1/api/broadcast', { authorization: 'Bearer a.b.c' })
    expect(broadcast).toMatchObject({
      url: '/api/broadcast',
      headers: { host: `local.localhost:${port + 6}`, authorization: 'Bearer a.b.c' },
    })
    expect(claims(broadcast.headers.apikey)).toMatchObject({ role: 'anon' })

    const [upgrade] = await once(
      get(`${origin}/realtime/v1/websocket?vsn=2.0.0&apikey=${secretKey}`, {
        headers: { connection: 'Upgrade', upgrade: 'websocket' },
      }),
      'response',
    )
    const { url, headers, tenants } = await new Response(upgrade).json()
    expect(headers.host).toBe(`local.localhost:${port + 6}`)
    const { pathname, searchParams } = new URL(url, origin)
    expect([pathname, searchParams.get('vsn')]).toEqual(['/socket/websocket', '2.0.0'])
    for (const token of [searchParams.get('apikey'), headers['x-api-key']]) {
      expect(claims(token)).toMatchObject({ role: 'service_role' })
    }
    expect(tenants[0]).toMatchObject({ external_id: 'local', private_only: true })
    expect(JSON.stringify(tenants[0].jwt_jwks)).not.toContain('"d"')

    const client = new pg.Client({ connectionString: described.databaseUrl })
    await client.connect()
    const { rows } = await client.query(
      `select pg_get_userbyid(relowner) as owner from pg_class where oid in
        ('auth.users'::regclass, 'auth.schema_migrations'::regclass, 'realtime.messages'::regclass)
      order by 1`,
    )
    await client.end()
    const owners = ['supabase_auth_admin', 'supabase_auth_admin', 'supabase_realtime_admin']
    expect(rows).toEqual(owners.map((owner) => ({ owner })))
    expect(warningsIn(data)).toEqual([])
  })

  test('tells them of new keys', async () => {
    const before = await answering()
    const keysOf = async () => {
      const { tenants } = await (await fetch(`http://127.0.0.1:${port + 6}/`)).json()
      return tenants.at(-1).jwt_jwks.keys.length
    }
    const keys = await keysOf()
    await addKey(data)
    await waitUntil('Realtime has the new key', async () => await keysOf() === keys + 1)
    await anotherAfter(before)
  })

  test('ends an Auth that outlived everybody', async () => {
    const { pid: supervisor } = JSON.parse(readFileSync(join(data, 'supervisor.lock'), 'utf8'))
    const orphan = await answering()
    const keeper = parentOf(orphan)
    // Kills the supervisor and the parent of Auth, so that Auth and the database outlive the stack.
    for (const pid of [supervisor, keeper]) process.kill(pid, 'SIGKILL')
    await stack.ended
    expect(await answering()).toBe(orphan)
    rmSync(join(data, 'stack.json'))
    await startIt()
    expect(await answering()).not.toBe(orphan)
    expect(startTimeOf(orphan)).toBe('')
  })

  test('ends an Auth that does not end by itself: for new keys, and with the stack meanwhile', async () => {
    const timesStopped = () =>
      readFileSync(join(data, 'logs', 'auth.log'), 'utf8').split('asked to end').length - 1
    const first = await answering()
    copyFileSync(servers.stubborn, servers.auth)
    await addKey(data)
    const stubborn = await anotherAfter(first)
    await addKey(data)
    const next = await anotherAfter(stubborn)
    expect(startTimeOf(stubborn)).toBe('')
    await addKey(data)
    await waitUntil('the next one is asked to end', () => timesStopped() === 2)
    await stopIt()
    expect(startTimeOf(next)).toBe('')
  })

  test.each(
    ([['realtime', 13], ['auth', 4], ['realtime', 12]] as const).slice(0, bulk(3, 1)),
  )(
    'starts no %s where something else listens on PORT + %i, and leaves that alone',
    async (part, index) => {
      await stopIt()
      const port = await freeStackPort()
      const other = createServer((socket) => socket.end()).listen(port + index, '127.0.0.1')
      await once(other, 'listening')
      // The recorded process id and folder are those of this process, but the start time is different.
      writeFileSync(
        join(data, `real-${part}.json`),
        JSON.stringify({ pid: process.pid, born: '1', dataDir: data }),
      )
      const settings = {
        PORT: String(port),
        [`REAL_${part.toUpperCase()}`]: servers[part],
        NODE_ENV: 'test',
        LOCAL_DATA: data,
      }
      try {
        await expect(startStack(settings)).rejects.toThrow()
        expect(readFileSync(join(data, 'logs', `${part}.log`), 'utf8'))
          .toContain(`something else answers on port ${port + index}`)
      } finally {
        other.close()
      }
    },
  )
})

test.runIf(isNightly)(
  'the real Storage has none of the pictures of the demo, and the start says so',
  async () => {
    const LOCAL_DATA = mkdtempSync(join(tmpdir(), 'property-real-'))
    const PORT = String(await freeStackPort())
    const stack = start({ PORT, LOCAL_DATA, SEED: 'demo', REAL_STORAGE: servers.storage })
    try {
      const { baseUrl } = await ready(stack, LOCAL_DATA)
      expect(stack.said.out).toContain('demo data loaded, without pictures and papers')
      const { items } = await (await fetch(`${baseUrl}/search?areaIds=salmiya&limit=20`)).json()
      expect(items.length).toBe(20)
      expect(JSON.stringify(items)).not.toContain('/storage/v1/')
    } finally {
      stack.child.kill('SIGINT')
      await stack.ended
      rmSync(LOCAL_DATA, { recursive: true })
    }
  },
)

const claims = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

const claimsOf = ({ authorization }: { authorization: string }) => claims(authorization)

/** Writes programs that replace the real servers. They create the same tables and echo each request. */
function echo() {
  const folder = mkdtempSync(join(tmpdir(), 'property-echo-'))
  const write = (name: string, script: string) => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!${process.execPath}\n${script}`)
    chmodSync(file, 0o755)
    return file
  }
  const server = `const { createServer } = require('node:http')
    const { readFileSync } = require('node:fs')
    const pg = require('${root}node_modules/pg')
    const { env } = process
    const tables = async (url, schema, script, migrations = 'schema_migrations') => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows: [{ made }] } = await client.query(
        'select to_regclass($1) as made', [schema + '.' + migrations])
      if (!made) {
        await client.query(readFileSync('${root}local/platform/' + script, 'utf8'))
        await client.query('create table ' + schema + '.' + migrations + ' (version text primary key)')
      }
      await client.end()
    }
    const tenants = []
    const say = ({ url, headers }, response) =>
      response.end(JSON.stringify({ url, headers, tenants, pid: process.pid }))
  `
  const auth = server + `
      tables(env.GOTRUE_DB_DATABASE_URL, 'auth', '3-auth.sql')
        .then(() => createServer(say).listen(env.GOTRUE_API_PORT, env.GOTRUE_API_HOST))`
  return {
    folder,
    auth: write('auth', auth),
    stubborn: write(
      'stubborn',
      `process.on('SIGTERM', () => console.log('asked to end'))\n${auth}`,
    ),
    dataApi: write(
      'postgrest',
      server + `
      createServer(say).listen(env.PGRST_SERVER_PORT, env.PGRST_SERVER_HOST)`,
    ),
    // REAL_STORAGE is the path of a build folder.
    storage: dirname(dirname(dirname(write(
      'dist/start/server.js',
      server + `
      tables(env.DATABASE_URL, 'storage', '4-storage.sql', 'migrations')
        .then(() => createServer(say).listen(env.SERVER_PORT, env.SERVER_HOST))`,
    )))),
    // REAL_REALTIME is the path of a release folder. This release has no migrations.
    realtime: dirname(dirname(write(
      'bin/realtime',
      server + `
      const { DB_USER, DB_PASSWORD, DB_HOST, DB_PORT } = env
      const url = 'postgresql://' + DB_USER + ':' + DB_PASSWORD + '@' + DB_HOST + ':' + DB_PORT + '/postgres'
      if (process.argv[2] === 'start') createServer(async (request, response) => {
        if (request.method !== 'PUT') return say(request, response)
        for await (const part of request) tenants.push(JSON.parse(part).tenant)
        await tables(url, 'realtime', '5-realtime.sql')
        response.end()
      }).on('upgrade', ({ url, headers }, socket) => {
        const said = JSON.stringify({ url, headers, tenants })
        socket.end('HTTP/1.1 403 Forbidden\\r\\nContent-Length: ' + said.length + '\\r\\n\\r\\n' + said)
      }).listen(env.PORT, '127.0.0.1')`,
    ))),
  }
}
