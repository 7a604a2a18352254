// If the operating system prevents a start, the stack explains this in a sentence, gives no advice that would
// lose data, and changes nothing.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { projectIn } from '../../test/suite/new-project.ts'
import { freeStackPort } from '../../test/support/stack.ts'
import { ready, run, type Settings, start } from '../../test/support/stack-program.ts'

const isRoot = process.getuid?.() === 0
// If root runs the tests, the stack runs as this user, because file permissions do not apply to root.
const user = isRoot ? { uid: 65534, gid: 65534 } : {}
const mayRun = spawnSync(process.execPath, ['--check', 'local/start.ts'], user).status === 0

const folders: string[] = []
afterAll(() =>
  folders.forEach((folder) => {
    for (const path of ['.', ...names(folder)]) chmodSync(join(folder, path), 0o700)
    rmSync(folder, { recursive: true })
  })
)

const names = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

/** Creates a folder that looks like a data folder in use. `user` owns it. */
function used(): string {
  const folder = mkdtempSync(join(tmpdir(), 'local-refused-'))
  folders.push(folder)
  const secrets = ['publishableKey', 'secretKey', 'database', 'code', 'seal', 'dataApi']
  mkdirSync(join(folder, 'postgres'), { mode: 0o700 })
  mkdirSync(join(folder, 'logs'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write(
    'secrets.json',
    JSON.stringify(Object.fromEntries(secrets.map((key) => [key, randomUUID()]))),
  )
  write('signing-keys.json', '[]')
  write('postgres/PG_VERSION', '17\n')
  write('supervisor.lock', JSON.stringify({ pid: process.pid, born: '0' }))
  if (isRoot) {
    for (const path of ['.', ...names(folder)]) chownSync(join(folder, path), 65534, 65534)
  }
  return folder
}

type Ended = { code: number | null; err: string }

function expectSentence({ code, err }: Ended, words: RegExp) {
  expect(err).toMatch(words)
  expect(err).not.toMatch(/\n\s+at |reset/)
  expect(code).toBeGreaterThan(0)
}

async function refused(settings: Settings, words: RegExp, script = 'local/start.ts') {
  expectSentence(await run(script, settings, { user }).ended, words)
}

describe.runIf(mayRun && process.platform !== 'win32')('without permission', () => {
  const permissions = /Permissions are the cause/

  test('a folder cannot be made', async () => {
    const folder = used()
    const PORT = String(await freeStackPort())
    chmodSync(folder, 0o555)
    await refused({ PORT, LOCAL_DATA: join(folder, 'data') }, permissions)
    chmodSync(folder, 0o755)
    const file = join(folder, 'secrets.json')
    for (const LOCAL_DATA of [file, join(file, 'data')]) {
      await refused({ PORT, LOCAL_DATA }, /cannot be a folder/)
    }
  })

  test.runIf(isRoot)('a folder belongs to another user', async () => {
    const LOCAL_DATA = mkdtempSync(join(tmpdir(), 'local-refused-'))
    folders.push(LOCAL_DATA)
    const settings = { LOCAL_DATA, PORT: String(await freeStackPort()) }
    for (const mode of [0o700, 0o755, 0o777]) {
      chmodSync(LOCAL_DATA, mode)
      await refused(settings, permissions)
      expect(readdirSync(LOCAL_DATA)).toEqual([])
    }
  })

  test.each([
    ['.', 0o555],
    ['supervisor.lock', 0],
    ['secrets.json', 0],
    ['postgres', 0],
    ['postgres/PG_VERSION', 0],
    ['logs', 0o555],
  ])('%s may not be used', async (path, mode) => {
    const folder = used()
    // The lock file is not compared, because the start may remove a stale lock.
    const others = () => names(folder).filter((name) => name !== 'supervisor.lock')
    const before = others()
    chmodSync(join(folder, path), mode)
    await refused({ LOCAL_DATA: folder, PORT: String(await freeStackPort()) }, permissions)
    chmodSync(join(folder, path), 0o755)
    expect(others()).toEqual(before)
  })

  test('the files of the database have another owner or mode', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'local-refused-'))
    folders.push(folder)
    await projectIn(folder)
    const settings = { LOCAL_DATA: folder, PORT: String(await freeStackPort()) }
    const cluster = join(folder, 'postgres')
    const { uid, gid } = statSync(cluster)
    chmodSync(cluster, 0o755)
    expectSentence(await start(settings).ended, permissions)
    chmodSync(cluster, 0o700)
    if (isRoot) {
      chownSync(cluster, 1, 1)
      expectSentence(await start(settings).ended, permissions)
      chownSync(cluster, uid, gid)
    }
    const next = start(settings)
    await ready(next, folder)
    next.child.kill('SIGINT')
    expect(await next.ended).toMatchObject({ code: 0 })
  })

  test('a folder of another user is not reset', async () => {
    const folder = used()
    chmodSync(folder, 0o555)
    await refused({ LOCAL_DATA: folder }, permissions, 'local/reset.ts')
    chmodSync(folder, 0o755)
    expect(names(folder)).toContain('postgres')
  })
})

describe('a port that is taken', () => {
  const taken = async (port: number) => {
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    return other
  }
  const always = ['api', 'database', 'studio', 'inbox', 'auth', 'dataApi', 'realtime', 'storage']
  const all = [...always, 'chat1', 'chat2', 'replica', 'lateDatabase']
  // Postgres itself reports that its port is taken. The supervisor checks the other ports.
  const byDay = ['api', 'database', 'lateDatabase']
  const some = { GATEWAYS: '2', REPLICAS: '1', LATE_ANSWERS: '1' }

  test('is named, where something would listen', async () => {
    const PORT = await freeStackPort()
    const LOCAL_DATA = mkdtempSync(join(tmpdir(), 'local-refused-'))
    folders.push(LOCAL_DATA)
    await projectIn(LOCAL_DATA)
    for (const name of isNightly ? all : byDay) {
      const more = all.indexOf(name)
      const other = await taken(PORT + more)
      const { err, code } = await start({ ...some, LOCAL_DATA, PORT: String(PORT) }).ended
      expectSentence({ err, code }, new RegExp(`Port ${PORT + more} \\(${name}\\) is taken`))
      other.close()
    }
  })

  test.runIf(isNightly)('is of no matter, where nothing would listen', async () => {
    const PORT = await freeStackPort()
    const LOCAL_DATA = mkdtempSync(join(tmpdir(), 'local-refused-'))
    folders.push(LOCAL_DATA)
    await projectIn(LOCAL_DATA)
    const others = await Promise.all([9, 10, 11, 12, 13].map((more) => taken(PORT + more)))
    const stack = start({ LOCAL_DATA, PORT: String(PORT) })
    await ready(stack, LOCAL_DATA)
    stack.child.kill('SIGINT')
    expect(await stack.ended).toMatchObject({ code: 0 })
    for (const other of others) other.close()
  })
})

/** Mounts a small file system in a new mount namespace. Only processes in that namespace see it. */
async function smallDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'local-disk-'))
  folders.push(folder)
  const mount = `mount -t tmpfs -o size=1g,mode=711 tmpfs ${folder} && echo there && exec cat`
  const holder: ChildProcess = spawn('unshare', ['-m', 'sh', '-c', mount], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout!, 'data')
  const seen = `/proc/${holder.pid}/root${folder}`
  const within = ['nsenter', '-t', String(holder.pid), '-m', '--wd']
  const remount = (size: string) => {
    const done = spawnSync(within[0]!, [
      ...within.slice(1),
      'mount',
      '-o',
      `remount,size=${size}`,
      folder,
    ])
    expect(done.status).toBe(0)
  }
  return { folder, seen, within, remount, close: () => void holder.stdin!.end() }
}

const canMount = isRoot && spawnSync('unshare', ['-m', 'nsenter', '--version']).status === 0

describe.runIf(canMount)('CRASH-06 a full disk', () => {
  test('is named at any point of a start, and nothing is lost', async () => {
    const disk = await smallDisk()
    const settings = { LOCAL_DATA: disk.folder, PORT: String(await freeStackPort()), SEED: 'demo' }
    const refusedWith = async (size: string) => {
      disk.remount(size)
      expectSentence(await start(settings, { within: disk.within }).ended, /The disk is full/)
    }
    // With these sizes, a start runs out of space at different points, from its first file to the demo data.
    for (const size of ['4k', '2m', ...isNightly ? ['50m', '150m'] : []]) await refusedWith(size)
    disk.remount('1g')
    if (!isNightly) {
      await projectIn(disk.seen)
      settings.SEED = 'none'
    }
    const stack = start(settings, { within: disk.within })
    const { baseUrl } = await ready(stack, disk.seen)
    const { items } = await (await fetch(`${baseUrl}/search?areaIds=salmiya&limit=1`)).json()
    expect(items).toHaveLength(bulk(1, 0))
    stack.child.kill('SIGINT')
    expect(await stack.ended).toMatchObject({ code: 0 })
    disk.close()
  })
})
