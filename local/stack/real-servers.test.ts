import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { realAuthSettings } from '../auth/real-proxy.ts'
import { parentOf, startTimeOf } from '../processes/process-info.ts'
import { addKey } from '../config/signing-keys.ts'
import { root } from '../config/settings.ts'
import { readStack } from '../config/stack.ts'
import { realStorageSettings } from '../storage/real-proxy.ts'
import { freePorts, startStack } from '../../test/support/stack.ts'
import { waitUntil } from '../../test/support/wait.ts'

/** A stack that does not run, with a key that signs and one that waits. */
async function described() {
  const folder = mkdtempSync(join(tmpdir(), 'property-real-'))
  await addKey(folder, 'current')
  await addKey(folder)
  const parts = { REAL_AUTH: '/opt/auth/auth', REAL_STORAGE: '/opt/storage' }
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
    // Exactly one key signs; of the others only the public half is told.
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

  test('creates its own tables and gets tokens in place of API keys', async () => {
    const { folder, binary } = echo()
    const port = await freePorts()
    const stack = await startStack({ PORT: String(port), REAL_AUTH: binary, NODE_ENV: 'test' })
    try {
      const heard = async (headers: Record<string, string>) =>
        (await fetch(`${stack.url}/auth/v1/admin/users?page=1`, { headers })).json()
      const asService = await heard({ apikey: stack.secretKey })
      expect(asService.url).toBe('/admin/users?page=1')
      expect(claimsOf(asService.headers)).toMatchObject({ role: 'service_role' })
      const asGuest = await heard({ apikey: stack.publishableKey, 'sb-forwarded-for': '1.2.3.4' })
      expect(claimsOf(asGuest.headers)).toMatchObject({ role: 'anon' })
      // Only a server that has the secret key names another address than its own.
      expect(asGuest.headers['sb-forwarded-for']).toBe('127.0.0.1')
      const asUser = await heard({ apikey: stack.publishableKey, authorization: 'Bearer a.b.c' })
      expect(asUser.headers.authorization).toBe('Bearer a.b.c')
      expect((await fetch(`${stack.url}/auth/v1/user`)).status).toBe(401)

      const client = new pg.Client({ connectionString: stack.databaseUrl })
      await client.connect()
      const { rows } = await client.query(
        `select pg_get_userbyid(relowner) as owner from pg_class
        where oid in ('auth.users'::regclass, 'auth.schema_migrations'::regclass)`,
      )
      await client.end()
      expect(rows).toEqual(Array(2).fill({ owner: 'supabase_auth_admin' }))
    } finally {
      await stack.stop()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the real Auth as a child of the stack', () => {
  /** What answers on the port of Auth, by its process id. */
  const answering = async (port: number) =>
    Number((await (await fetch(`http://127.0.0.1:${port + 4}/`)).json()).pid)

  test('that outlived everybody is ended, and follows new keys', async () => {
    const { folder, binary } = echo()
    const port = await freePorts()
    const settings = { PORT: String(port), REAL_AUTH: binary, NODE_ENV: 'test' }
    const data = mkdtempSync(join(tmpdir(), 'property-real-'))
    let stack = await startStack({ ...settings, LOCAL_DATA: data })
    try {
      const { pid: supervisor } = JSON.parse(readFileSync(join(data, 'supervisor.lock'), 'utf8'))
      const orphan = await answering(port)
      const keeper = parentOf(orphan)
      // Everybody at once, but Auth itself and the database.
      for (const pid of [supervisor, keeper]) process.kill(pid, 'SIGKILL')
      expect(await answering(port)).toBe(orphan)
      rmSync(join(data, 'stack.json'))
      stack = await startStack({ ...settings, LOCAL_DATA: data })
      const next = await answering(port)
      expect(next).not.toBe(orphan)
      expect(startTimeOf(orphan)).toBe('')

      await addKey(data)
      await waitUntil('Auth has read the new key', async () => await answering(port) !== next)
    } finally {
      await stack.stop()
      rmSync(folder, { recursive: true })
    }
  })

  test('does not share its port with anything else, nor end it', async () => {
    const { folder, binary } = echo()
    const port = await freePorts()
    const other = createServer((socket) => socket.end()).listen(port + 4, '127.0.0.1')
    await once(other, 'listening')
    const data = mkdtempSync(join(tmpdir(), 'property-real-'))
    // A note of one that has this id and folder, but began at another time.
    writeFileSync(
      join(data, 'real-auth.json'),
      JSON.stringify({ pid: process.pid, born: '1', dataDir: data }),
    )
    const settings = { PORT: String(port), REAL_AUTH: binary, NODE_ENV: 'test', LOCAL_DATA: data }
    const logs = () => readFileSync(join(data, 'logs', 'auth.log'), 'utf8')
    try {
      await expect(startStack(settings)).rejects.toThrow()
      expect(logs()).toContain(`something else answers on port ${port + 4}`)
    } finally {
      other.close()
      rmSync(folder, { recursive: true })
      rmSync(data, { recursive: true, force: true })
    }
  })
})

function claimsOf({ authorization }: { authorization: string }) {
  return JSON.parse(Buffer.from(authorization.split('.')[1]!, 'base64url').toString())
}

/** What stands for a binary here: makes tables as Auth's owner and says what it is asked. */
function echo() {
  const folder = mkdtempSync(join(tmpdir(), 'property-echo-'))
  const binary = join(folder, 'auth')
  writeFileSync(
    binary,
    `#!${process.execPath}
const { createServer } = require('node:http')
const { readFileSync } = require('node:fs')
const pg = require('${root}node_modules/pg')
const client = new pg.Client({ connectionString: process.env.GOTRUE_DB_DATABASE_URL })
client.connect()
  .then(() => client.query("select to_regclass('auth.schema_migrations') as made"))
  .then(({ rows: [{ made }] }) => made ?? client.query(
    readFileSync('${root}local/platform/3-auth.sql', 'utf8')
      + ';create table auth.schema_migrations (version text primary key)'))
  .then(() => createServer(({ url, headers }, response) => {
    response.end(JSON.stringify({ url, headers, pid: process.pid }))
  }).listen(process.env.GOTRUE_API_PORT, process.env.GOTRUE_API_HOST))
`,
  )
  chmodSync(binary, 0o755)
  return { folder, binary }
}
