import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
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
import { freePorts, startStack } from '../../test/support/stack.ts'
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
    // Exactly one key signs; of the other keys only the public half is passed.
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

  test('creates its own tables and gets tokens in place of API keys', async () => {
    const { folder, auth, dataApi, realtime } = echo()
    const port = await freePorts()
    const stack = await startStack({
      PORT: String(port),
      REAL_AUTH: auth,
      REAL_DATA_API: dataApi,
      REAL_REALTIME: realtime,
      NODE_ENV: 'test',
    })
    try {
      const heard = async (headers: Record<string, string>) =>
        (await fetch(`${stack.url}/auth/v1/admin/users?page=1`, { headers })).json()
      const asService = await heard({ apikey: stack.secretKey })
      expect(asService.url).toBe('/admin/users?page=1')
      expect(claimsOf(asService.headers)).toMatchObject({ role: 'service_role' })
      const asGuest = await heard({ apikey: stack.publishableKey, 'sb-forwarded-for': '1.2.3.4' })
      expect(claimsOf(asGuest.headers)).toMatchObject({ role: 'anon' })
      // Only a server with the secret key may name an address other than its own.
      expect(asGuest.headers['sb-forwarded-for']).toBe('127.0.0.1')
      const asUser = await heard({ apikey: stack.publishableKey, authorization: 'Bearer a.b.c' })
      expect(asUser.headers.authorization).toBe('Bearer a.b.c')
      expect((await fetch(`${stack.url}/auth/v1/user`)).status).toBe(401)

      const api = async (path: string, headers: Record<string, string>) =>
        (await fetch(`${stack.url}${path}`, {
          headers: { apikey: stack.publishableKey, ...headers },
        }))
          .json()
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
        get(`${stack.url}/realtime/v1/websocket?vsn=2.0.0&apikey=${stack.secretKey}`, {
          headers: { connection: 'Upgrade', upgrade: 'websocket' },
        }),
        'response',
      )
      const { url, headers, told } = await new Response(upgrade).json()
      expect(headers.host).toBe(`local.localhost:${port + 6}`)
      const { pathname, searchParams } = new URL(url, stack.url)
      expect([pathname, searchParams.get('vsn')]).toEqual(['/socket/websocket', '2.0.0'])
      for (const token of [searchParams.get('apikey'), headers['x-api-key']]) {
        expect(claims(token)).toMatchObject({ role: 'service_role' })
      }
      expect(told[0]).toMatchObject({ external_id: 'local', private_only: true })
      expect(JSON.stringify(told[0].jwt_jwks)).not.toContain('"d"')
      await addKey(stack.folder)
      await waitUntil('Realtime has the new key', async () => {
        const { told } = await (await fetch(`http://127.0.0.1:${port + 6}/`)).json()
        return told.at(-1).jwt_jwks.keys.length === 2
      })

      const client = new pg.Client({ connectionString: stack.databaseUrl })
      await client.connect()
      const { rows } = await client.query(
        `select pg_get_userbyid(relowner) as owner from pg_class where oid in
          ('auth.users'::regclass, 'auth.schema_migrations'::regclass, 'realtime.messages'::regclass)
        order by 1`,
      )
      await client.end()
      const owners = ['supabase_auth_admin', 'supabase_auth_admin', 'supabase_realtime_admin']
      expect(rows).toEqual(owners.map((owner) => ({ owner })))
    } finally {
      await stack.stop()
      rmSync(folder, { recursive: true })
    }
  })
})

test.runIf(isNightly)(
  'the real Storage has none of the pictures of the demo, and the start says so',
  async () => {
    const { folder, storage } = echo()
    const LOCAL_DATA = mkdtempSync(join(tmpdir(), 'property-real-'))
    const PORT = String(await freePorts())
    const stack = start({ PORT, LOCAL_DATA, SEED: 'demo', REAL_STORAGE: storage })
    try {
      const { baseUrl } = await ready(stack, LOCAL_DATA)
      expect(stack.said.out).toContain('demo data loaded, without pictures and papers')
      const { items } = await (await fetch(`${baseUrl}/search?areaIds=salmiya&limit=20`)).json()
      expect(items.length).toBe(20)
      expect(JSON.stringify(items)).not.toContain('/storage/v1/')
    } finally {
      stack.child.kill('SIGINT')
      await stack.ended
      for (const each of [folder, LOCAL_DATA]) rmSync(each, { recursive: true })
    }
  },
)

describe('the real Auth as a child of the stack', () => {
  const answering = async (port: number) =>
    Number((await (await fetch(`http://127.0.0.1:${port + 4}/`)).json()).pid)

  // The second test continues with the database of the first.
  const data = mkdtempSync(join(tmpdir(), 'property-real-'))
  afterAll(() => rmSync(data, { recursive: true, force: true }))

  async function started(port: number, auth: string) {
    const stack = start({ PORT: String(port), REAL_AUTH: auth, LOCAL_DATA: data })
    await ready(stack, data)
    return stack
  }
  async function stopped(stack: ReturnType<typeof start>) {
    stack.child.kill('SIGTERM')
    expect(await stack.ended).toMatchObject({ code: 0 })
  }

  test('that outlived everybody is ended, and follows new keys', async () => {
    const { folder, auth } = echo()
    const port = await freePorts()
    let stack = await started(port, auth)
    try {
      const { pid: supervisor } = JSON.parse(readFileSync(join(data, 'supervisor.lock'), 'utf8'))
      const orphan = await answering(port)
      const keeper = parentOf(orphan)
      // Kills the supervisor and the parent of Auth, so that Auth and the database outlive the stack.
      for (const pid of [supervisor, keeper]) process.kill(pid, 'SIGKILL')
      expect(await answering(port)).toBe(orphan)
      rmSync(join(data, 'stack.json'))
      stack = await started(port, auth)
      const next = await answering(port)
      expect(next).not.toBe(orphan)
      expect(startTimeOf(orphan)).toBe('')

      await addKey(data)
      await waitUntil('Auth has read the new key', async () => await answering(port) !== next)
    } finally {
      await stopped(stack)
      rmSync(folder, { recursive: true })
    }
  })

  test('that does not end by itself is ended: for new keys, and with the stack meanwhile', async () => {
    const { folder, stubborn } = echo()
    const port = await freePorts()
    const stack = await started(port, stubborn)
    const asked = () =>
      readFileSync(join(data, 'logs', 'auth.log'), 'utf8').split('asked to end').length - 1
    const first = await answering(port)
    let next = first
    try {
      await addKey(data)
      await waitUntil('Auth has read the new key', async () => {
        next = await answering(port).catch(() => first)
        return next !== first
      })
      expect(startTimeOf(first)).toBe('')
      await addKey(data)
      await waitUntil('the next one is asked to end', () => asked() === 2)
    } finally {
      await stopped(stack)
      rmSync(folder, { recursive: true })
    }
    expect(startTimeOf(next)).toBe('')
  })
})

test.each(
  ([['realtime', 13], ['auth', 4], ['realtime', 12]] as const).slice(0, bulk(3, 1)),
)('the real %s does not share PORT + %i with anything else, nor end it', async (part, index) => {
  const { folder, ...parts } = echo()
  const port = await freePorts()
  const other = createServer((socket) => socket.end()).listen(port + index, '127.0.0.1')
  await once(other, 'listening')
  const data = mkdtempSync(join(tmpdir(), 'property-real-'))
  // The note has the id of this process and this folder, but another start time.
  writeFileSync(
    join(data, `real-${part}.json`),
    JSON.stringify({ pid: process.pid, born: '1', dataDir: data }),
  )
  const settings = {
    PORT: String(port),
    [`REAL_${part.toUpperCase()}`]: parts[part],
    NODE_ENV: 'test',
    LOCAL_DATA: data,
  }
  const logs = () => readFileSync(join(data, 'logs', `${part}.log`), 'utf8')
  try {
    await expect(startStack(settings)).rejects.toThrow()
    expect(logs()).toContain(`something else answers on port ${port + index}`)
  } finally {
    other.close()
    rmSync(folder, { recursive: true })
    rmSync(data, { recursive: true, force: true })
  }
})

const claims = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

const claimsOf = ({ authorization }: { authorization: string }) => claims(authorization)

/** Writes programs that replace the real servers: they create the same tables and return each request. */
function echo() {
  const folder = mkdtempSync(join(tmpdir(), 'property-echo-'))
  const write = (name: string, script: string) => {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!${process.execPath}\n${script}`)
    chmodSync(file, 0o755)
    return file
  }
  const asked = `const { createServer } = require('node:http')
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
    const told = []
    const say = ({ url, headers }, response) =>
      response.end(JSON.stringify({ url, headers, told, pid: process.pid }))
  `
  const auth = asked + `
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
      asked + `
      createServer(say).listen(env.PGRST_SERVER_PORT, env.PGRST_SERVER_HOST)`,
    ),
    // REAL_STORAGE names the folder of a build.
    storage: dirname(dirname(dirname(write(
      'dist/start/server.js',
      asked + `
      tables(env.DATABASE_URL, 'storage', '4-storage.sql', 'migrations')
        .then(() => createServer(say).listen(env.SERVER_PORT, env.SERVER_HOST))`,
    )))),
    // REAL_REALTIME names the folder of a release. This one has nothing to migrate.
    realtime: dirname(dirname(write(
      'bin/realtime',
      asked + `
      const { DB_USER, DB_PASSWORD, DB_HOST, DB_PORT } = env
      const url = 'postgresql://' + DB_USER + ':' + DB_PASSWORD + '@' + DB_HOST + ':' + DB_PORT + '/postgres'
      if (process.argv[2] === 'start') createServer(async (request, response) => {
        if (request.method !== 'PUT') return say(request, response)
        for await (const part of request) told.push(JSON.parse(part).tenant)
        await tables(url, 'realtime', '5-realtime.sql')
        response.end()
      }).on('upgrade', ({ url, headers }, socket) => {
        const said = JSON.stringify({ url, headers, told })
        socket.end('HTTP/1.1 403 Forbidden\\r\\nContent-Length: ' + said.length + '\\r\\n\\r\\n' + said)
      }).listen(env.PORT, '127.0.0.1')`,
    ))),
  }
}
