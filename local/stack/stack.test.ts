// The tests use their own stacks, on free ports and with temporary data folders.
import { randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseToml } from '../config/config-toml.ts'
import { startTimeOf } from '../processes/process-info.ts'
import { descendants } from '../../test/support/descendants.ts'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { freeStackPort } from '../../test/support/stack.ts'
import { jpeg } from '../../test/support/pictures.ts'
import { expectWithin } from '../../test/support/promised-times.ts'
import { ready, run, type Settings, start } from '../../test/support/stack-program.ts'
import { waitUntil } from '../../test/support/wait.ts'

const folders: string[] = []

// Only on Linux can a server listen on any address of 127.0.0.0/8.
const hasPhone = process.platform === 'linux'
const phone = '127.0.0.2'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'local-test-'))
  folders.push(folder)
  return folder
}

const isGone = ({ pid }: { pid: number }) => startTimeOf(pid) === ''

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

describe('a running stack', { shuffle: false }, () => {
  const folder = newFolder()
  let settings: Settings
  let stack: ReturnType<typeof run>
  // deno-lint-ignore no-explicit-any
  let described: any

  const settingsOf = (path: string) =>
    fetch(`${described.url}/auth/v1${path}`, {
      headers: { apikey: described.publishableKey },
    })
  const sql = async (text: string) => {
    const client = new pg.Client({ connectionString: described.databaseUrl })
    await client.connect()
    return await client.query(text).finally(() => client.end())
  }
  const serves = async () => {
    // This call to Auth reads the database and has no rate limit. Repeated sign-ins would get a 429.
    const users = await fetch(`${described.url}/auth/v1/admin/users?per_page=1`, {
      headers: { apikey: described.secretKey },
    })
    const facade = await fetch(`${described.url}/functions/v1/none`)
    const rest = await fetch(`${described.url}/rest/v1/rpc/none`, {
      method: 'POST',
      headers: { apikey: described.publishableKey },
    })
    return users.status === 200 && facade.status === 404 && rest.status === 404
  }

  type How = 'plainly' | 'for phones' | 'by npm'
  let started: How | undefined
  /** Restarts the stack in the given way, unless it already runs in that way. */
  async function startAs(how: How) {
    if (started === how) return
    if (started) await stop('SIGTERM')
    started = how
    stack = how === 'by npm'
      ? run(process.env.npm_execpath!, settings, { args: ['start'] })
      : start({ ...settings, ...(how === 'for phones' && { HOST: phone }) })
    described = await ready(stack, folder)
  }
  async function stop(signal: 'SIGINT' | 'SIGTERM') {
    stack.child.kill(signal)
    expect(await stack.ended).toMatchObject({ code: 0 })
    started = undefined
  }

  beforeAll(async () => {
    settings = { PORT: String(await freeStackPort()), LOCAL_DATA: folder }
    await startAs('plainly')
  })

  afterAll(() => {
    stack.child.kill('SIGKILL')
  })

  test('describes itself in stack.json, and logs its steps', async () => {
    expect(described).toEqual({
      url: `http://127.0.0.1:${settings.PORT}`,
      baseUrl: `http://127.0.0.1:${settings.PORT}/functions/v1/api`,
      publishableKey: expect.stringMatching(/^sb_publishable_/),
      secretKey: expect.stringMatching(/^sb_secret_/),
      databaseUrl: expect.stringContaining(`127.0.0.1:${Number(settings.PORT) + 1}/postgres`),
      inboxUrl: `http://127.0.0.1:${Number(settings.PORT) + 3}`,
      studioUrl: `http://127.0.0.1:${Number(settings.PORT) + 2}`,
      chatUrls: [`ws://127.0.0.1:${Number(settings.PORT) + 8}/chat`],
    })
    expect(stack.said.out).toMatch(/\d\.\d s {2}database on port/)
    await waitUntil('it names the keys', () => stack.said.out.includes(described.secretKey))
    for (const script of ['example', 'desk']) {
      const command = `VITE_API=${described.url} npm run ${script}`
      await waitUntil('it says what to look at first', () => stack.said.out.includes(command))
    }
    expect(await serves()).toBe(true)
    expect((await settingsOf('/settings')).status).toBe(200)
  })

  test('writes durably and listens on loopback only', async () => {
    const { rows } = await sql(
      "select name, setting from pg_settings where name in ('fsync', 'full_page_writes', " +
        "'synchronous_commit', 'wal_level', 'listen_addresses') order by name",
    )
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      listen_addresses: '127.0.0.1',
      synchronous_commit: 'on',
      wal_level: 'logical',
    })
  })

  test('lists messages newest first, by phone or email in any spelling', async () => {
    const send = (to: string, body: string) =>
      fetch(`${described.inboxUrl}/messages`, {
        method: 'POST',
        body: JSON.stringify({ to, kind: to.includes('@') ? 'email' : 'sms', body, code: '1' }),
      })
    expect((await send('+96550000001', 'أول')).status).toBe(201)
    await send('+96550000001', 'ثان')
    await send('a@example.com', 'mail')
    const read = async (to: string) =>
      (await fetch(`${described.inboxUrl}/messages?to=${to}`)).json()
    expect(await read('%2B96550000001')).toMatchObject([{ body: 'ثان' }, { body: 'أول' }])
    expect(await read('+96550000001')).toHaveLength(2)
    expect(await read('A@Example.com')).toEqual([
      {
        to: 'a@example.com',
        kind: 'email',
        body: 'mail',
        code: '1',
        createdAt: expect.any(String),
      },
    ])
    const page = await (await fetch(described.inboxUrl)).text()
    expect(page).toContain('dir="rtl"')
    expect(page).not.toMatch(/(src|href)="https?:/)
  })

  // /dev/full behaves like a full disk.
  test.runIf(existsSync('/dev/full'))('CRASH-06 a full disk for logs stops no part', async () => {
    const logs = join(folder, 'logs')
    const names = readdirSync(logs)
    for (const name of names) {
      rmSync(join(logs, name))
      symlinkSync('/dev/full', join(logs, name))
    }
    const parts = ['services.ts', 'data-api/main.ts', 'functions/main.ts', 'postgres']
    for (const part of isNightly ? parts : ['functions/main.ts', 'postgres']) {
      const running = descendants(stack.child.pid!).find(({ command }) => command.includes(part))!
      process.kill(running.pid, 'SIGKILL')
      await waitUntil(`${part} is gone`, () => isGone(running))
      await waitUntil(`it serves after ${part}`, serves)
    }
    for (const name of names) rmSync(join(logs, name))
    expect(stack.child.exitCode).toBe(null)
  })

  test('CRASH-09 refuses a second start and a reset on its folder', async () => {
    const second = await start({ ...settings, PORT: String(await freeStackPort()) }).ended
    expect(second.code).not.toBe(0)
    expect(second.err).toMatch(/running on .* already/)
    expect(second.err).not.toMatch(/\n\s+at /)
    const reset = await run('local/reset.ts', settings).ended
    expect(reset.code).not.toBe(0)
    expect(await serves()).toBe(true)
  })

  test('restarts a killed process within five seconds and keeps what was acknowledged', async () => {
    await sql('create table if not exists public.kept (id int primary key)')
    for (
      const part of [
        'services.ts',
        'functions/main.ts',
        'data-api/main.ts',
        'realtime/main.ts',
        'postgres',
      ]
    ) {
      const running = () =>
        descendants(stack.child.pid!).find(({ command }) => command.includes(part))
      await waitUntil(`${part} runs`, () => running() !== undefined)
      const victim = running()!
      const { rowCount } = await sql('insert into public.kept select count(*) from public.kept')
      process.kill(victim.pid, 'SIGKILL')
      await waitUntil(
        `${part} is gone`,
        () => descendants(stack.child.pid!).every(({ pid }) => pid !== victim.pid),
      )
      const took = await waitUntil(`it serves without ${part}`, serves)
      expectWithin('a part of the stack is back', took)
      expect(rowCount).toBe(1)
    }
    expect((await sql('select count(*)::int as kept from public.kept')).rows[0].kept).toBe(5)
    await sql('drop table public.kept')
    expect(stack.said.out).toContain('database ended (SIGKILL), starting it again')
  })

  test('the first calls of the Data API may come all at once, after each of its starts', async () => {
    const call = () =>
      fetch(`${described.url}/rest/v1/rpc/list_plans`, {
        method: 'POST',
        headers: { apikey: described.publishableKey, 'content-type': 'application/json' },
        body: '{}',
      }).then(({ status }) => status)
    for (let starts = 0; starts < bulk(3, 1); starts++) {
      const part = descendants(stack.child.pid!)
        .find(({ command }) => command.includes('data-api/main.ts'))!
      process.kill(part.pid, 'SIGKILL')
      await waitUntil('it is gone', () => isGone(part))
      let statuses: number[] = []
      await waitUntil('it answers all of them', async () => {
        statuses = await Promise.all(Array.from({ length: 8 }, call))
        return statuses.every((status) => status !== 503)
      })
      expect(statuses).toEqual(Array(8).fill(401))
    }
  })

  test('CRASH-09 can start again after the supervisor was killed', async () => {
    const parts = descendants(stack.child.pid!).filter(({ command }) => !/postgres/.test(command))
    stack.child.kill('SIGKILL')
    await stack.ended
    await waitUntil('the parts end by themselves', () => parts.every(isGone))
    stack = start(settings)
    await waitUntil('it serves again', serves)
    await ready(stack, folder)
    expect(stack.said.out).toContain('left over')
  })

  test('stops cleanly on a signal, and starts again with all its data', async () => {
    const before = described
    await stop('SIGINT')
    expect(existsSync(join(folder, 'stack.json'))).toBe(false)
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(false)
    await startAs(hasPhone ? 'for phones' : 'by npm')
    expect(described).toEqual(before)
  })

  test.runIf(hasPhone)(
    'HOST lets phones in, and addresses follow',
    async () => {
      const at = (host: string, more = 0) => `http://${host}:${Number(settings.PORT) + more}`
      const answers = (url: string) => fetch(url).then(() => true, () => false)
      await startAs('for phones')
      expect(described.url).toBe(at('127.0.0.1'))
      // At the phone's address, only the API is reachable. The inbox, the database and Studio are reachable
      // only from this machine.
      for (const host of [phone, '127.0.0.1']) expect(await answers(at(host))).toBe(true)
      for (const more of [1, 2, 3]) expect(await answers(at(phone, more))).toBe(false)
      expect(await answers(at('127.0.0.3'))).toBe(false)
      await waitUntil('it says where', () => stack.said.out.includes(`Phones       ${at(phone)}\n`))

      const identifier = `${randomUUID()}@example.com`
      const api = (host: string) => `${at(host)}/functions/v1/api`
      const json = { 'content-type': 'application/json' }
      const post = async (path: string, body: object) =>
        await (await fetch(`${api(phone)}${path}`, {
          method: 'POST',
          headers: json,
          body: JSON.stringify(body),
        })).json()
      await post('/auth/register', { identifier, password: folder, fullName: 'سالم العنزي' })
      const { accessToken } = await post('/auth/login', { identifier, password: folder })
      const authorization = `Bearer ${accessToken}`
      const form = new FormData()
      form.append('file', new Blob([new Uint8Array(jpeg({ width: 64, height: 64 }))]), 'me.jpg')
      const uploaded = await (await fetch(`${api(phone)}/media/upload/avatar`, {
        method: 'POST',
        headers: { authorization },
        body: form,
      })).json()
      expect(uploaded.url).toMatch(`${at(phone)}/storage/v1/object/public/`)
      expect((await fetch(uploaded.url)).status).toBe(200)
      await fetch(`${api(phone)}/auth/me`, {
        method: 'PATCH',
        headers: { ...json, authorization },
        body: JSON.stringify({ avatarMediaId: uploaded.mediaId }),
      })

      await startAs('by npm')
      expect(await answers(at(phone))).toBe(false)
      // The session is valid at both addresses.
      await waitUntil('the picture has the address of now', async () => {
        const me =
          await (await fetch(`${api('127.0.0.1')}/auth/me`, { headers: { authorization } }))
            .json()
        return me.user.avatarUrl === uploaded.url.replace(phone, '127.0.0.1')
      })
    },
  )

  test('ends with the npm that started it, even if that is killed', async () => {
    await startAs('by npm')
    const parts = descendants(stack.child.pid!)
    stack.child.kill('SIGKILL')
    await waitUntil('all of it is gone', () => parts.every(isGone))
    expect(existsSync(join(folder, 'stack.json'))).toBe(false)
    expect(existsSync(join(folder, 'postgres', 'postmaster.pid'))).toBe(false)
  })
})

describe('a start that cannot succeed reports why in a sentence', () => {
  async function refused(settings: Settings, words: RegExp, cwd?: string) {
    const { code, err } = await run('local/start.ts', settings, { cwd }).ended
    expect(err).toMatch(words)
    expect(err).not.toMatch(/\n\s+at /)
    expect(code).not.toBe(0)
  }

  test('OPS-02 in production', async () => {
    const LOCAL_DATA = newFolder()
    await refused({ LOCAL_DATA, NODE_ENV: 'production' }, /NODE_ENV says production/)
    await refused({ LOCAL_DATA, ENVIRONMENT: 'production' }, /ENVIRONMENT says production/)
  })

  test('OPS-02 with an invalid setting', async () => {
    const LOCAL_DATA = newFolder()
    await refused({ LOCAL_DATA, PORT: 'http' }, /PORT must be/)
    await refused({ LOCAL_DATA, SEED: 'much' }, /SEED must be/)
    await refused({ LOCAL_DATA, RATES: '0' }, /RATES must be/)
    for (const HOST of ['0.0.0.0', 'http://192.168.1.20', '192.168.1.20:54321', '-h']) {
      await refused({ LOCAL_DATA, HOST }, /HOST must be/)
    }
    // 203.0.113.9 is reserved for documentation (RFC 5737).
    const PORT = String(await freeStackPort())
    await refused({ LOCAL_DATA, PORT, HOST: '203.0.113.9' }, /is no address of this machine/)
  })

  test('when the data folder is damaged, and changes nothing in it', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'postgres', 'something'), 'of somebody')
    const settings = { LOCAL_DATA: folder, PORT: String(await freeStackPort()) }
    await refused(settings, /secrets.json is missing/)
    writeFileSync(join(folder, 'secrets.json'), '{"database":')
    await refused(settings, /cannot be read/)
    const names = ['publishableKey', 'secretKey', 'database', 'code', 'seal', 'dataApi']
    const some = isNightly ? names : names.slice(0, 2)
    const write = (value: (name: string) => string) =>
      writeFileSync(
        join(folder, 'secrets.json'),
        JSON.stringify(Object.fromEntries(names.map((name) => [name, value(name)]))),
      )
    for (const name of some) {
      write((each) => each === name ? 'changeme-changeme' : randomUUID())
      await refused(settings, /holds a placeholder/)
    }
    write(() => randomUUID())
    await refused(settings, /damaged or of another version/)
    writeFileSync(join(folder, 'postgres', 'PG_VERSION'), '17\n')
    await refused(settings, /Postgres does not start on/)
    expect(readFileSync(join(folder, 'postgres', 'something'), 'utf8')).toBe('of somebody')
  })

  test('when packages are missing', async () => {
    const project = newFolder()
    for (const name of ['local', 'functions', 'supabase', 'package.json']) {
      cpSync(name, join(project, name), { recursive: true })
    }
    const settings = { LOCAL_DATA: newFolder(), PORT: String(await freeStackPort()) }
    await refused(settings, /package \S+ is missing or incomplete: run "npm ci"/, project)
    mkdirSync(join(project, 'node_modules'))
    for (const name of ['pg', 'jose', 'bcrypt', 'ws', '@fastify', 'supabase', '@supabase']) {
      symlinkSync(join(process.cwd(), 'node_modules', name), join(project, 'node_modules', name))
    }
    await refused(settings, /package deno is missing/, project)
  })
})

describe('config.toml', () => {
  test('is read as far as the stack needs it, and rejected if it is not understood', () => {
    const text = '[a.b]\nx = 1_000 # much\ny = "z # no comment"\nlist = ["p", "q"]\non = true\n'
    expect(parseToml(text)).toEqual({
      a: { b: { x: 1000, y: 'z # no comment', list: ['p', 'q'], on: true } },
    })
    expect(() => parseToml('[a]\nx = 1979-05-27')).toThrow(/line 2/)
  })
})
