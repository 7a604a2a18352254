// Starts, restarts and stops the parts of the local stack. No part runs in the supervisor's own process, so
// that it can always restart them.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch, type Program, SupervisedProcess } from '../processes/launch.ts'
import { longestStop } from '../processes/lifecycle.ts'
import { chatProgram } from '../functions/programs.ts'
import { ensureKeys } from '../config/signing-keys.ts'
import { takeLock } from './lock.ts'
import { migrate } from './migrate.ts'
import { onNpmExit } from './npm-parent.ts'
import { ensurePartitions } from '../platform/prepare.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { stopLeftoverServer } from '../postgres/cluster.ts'
import { startReplica, waitForNoReplica } from '../postgres/replica.ts'
import { sentenceOf } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'
import { type Ports, portTaken, readSettings, type Settings } from '../config/settings.ts'
import {
  chatPorts,
  describeStack,
  functionsEnvironment,
  readStack,
  type Stack,
} from '../config/stack.ts'

const began = Date.now()
const log = (line: string) => {
  const seconds = ((Date.now() - began) / 1000).toFixed(1)
  console.log(`${seconds.padStart(6)} s  ${line}`)
}

let stopping: Promise<void> | undefined
const toStop: (() => Promise<void> | void)[] = []

/** Stops all parts once, in the reverse order of their start, including a part that is still starting. */
function stop(): Promise<void> {
  return stopping ??= (async () => {
    for (let next = toStop.pop(); next; next = toStop.pop()) await next()
  })()
}

/** Waits for a step of the start. Throws if a stop was requested, so that no further step follows. */
async function step<T>(work: Promise<T>): Promise<T> {
  const result = await work
  if (stopping) throw new Error('It is being stopped.')
  return result
}

export async function run(): Promise<void> {
  const settings = readSettings(process.env)
  const { dataDir } = settings
  const lock = takeLock(dataDir)
  toStop.push(lock.release)
  const stopAndExit = () => {
    if (!stopping) log('stopping')
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stopAndExit)
  onNpmExit(stopAndExit)
  // The program that reads our output may end first.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    await start(settings, lock.leftover)
  } catch (error) {
    if (stopping) return
    const sentence = sentenceOf(error, dataDir)
    await stop()
    throw sentence ? new UserError(sentence) : error
  }
}

async function start(settings: Settings, leftover: boolean) {
  const { dataDir, ports, host, countCalls, replica } = settings
  const described = join(dataDir, 'stack.json')
  rmSync(described, { force: true })
  // The real servers use more connections than the stand-ins. So does a stack with a synchronous replica: its
  // queries may delay commits for a second, and then the pools can use all their connections at once.
  const { realAuth, realStorage, realRealtime, realDataApi } = settings
  const some = realAuth || realStorage || realRealtime || realDataApi
  const connections = some || replica === 'synchronous' ? 100 : undefined
  await step(stopLeftoverServer(dataDir, log, 'replica'))
  // If a supervisor was killed, its parts end by themselves within this time.
  await step(requirePorts(portsToCheck(settings), leftover ? longestStop + 5000 : 0))
  if (host) await step(requireHost(host, ports.api))

  const database = new SupervisedProcess(
    'database',
    () => startPostgres({ dataDir, port: ports.database, log, countCalls, connections }),
    log,
  )
  toStop.push(() => database.stop())
  await step(database.start())
  log(`database on port ${ports.database}`)
  if (leftover) await step(waitForNoReplica(dataDir, ports.database))
  await step(ensureKeys(dataDir))
  const stack = readStack(process.env)
  // The real servers start first, because the migrations insert into tables that these servers create.
  await startAll([
    ...(stack.realAuth ? [nodeProgram(stack, 'auth', '../auth/real-server.ts')] : []),
    ...(stack.realStorage ? [nodeProgram(stack, 'storage', '../storage/real-server.ts')] : []),
    ...(stack.realRealtime ? [nodeProgram(stack, 'realtime', '../realtime/real-server.ts')] : []),
  ])
  await step(migrate(stack, log))
  if (stack.replica !== 'none') await startReplicaOf(stack, connections)
  await startAll(childPrograms(stack))
  toStop.push(() => rmSync(described, { force: true }))
  const clock = setInterval(() => void query(stack, ensurePartitions), 3_600_000)
  toStop.push(() => clearInterval(clock))
  writeFileSync(`${described}.new`, JSON.stringify(describeStack(stack), null, 2), { mode: 0o600 })
  renameSync(`${described}.new`, described)
  printSummary(stack)
}

async function startReplicaOf(stack: Stack, connections?: number) {
  const { dataDir, ports, replica } = stack
  const part = new SupervisedProcess('replica', () =>
    startReplica({
      dataDir,
      primaryPort: ports.database,
      port: ports.replica,
      connections,
      synchronous: replica === 'synchronous',
    }), log)
  toStop.push(() => part.stop())
  await step(part.start())
  log(`replica on port ${ports.replica}`)
  // Calls private.beat(), which records the time. On hosted projects, pg_cron calls it.
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: stack.databaseUrl('supabase_admin'),
    max: 1,
    idleTimeoutMillis: 0,
  })
  pool.on('error', () => {})
  let busy = false
  const beat = async () => {
    // The previous call may still be running, because its commit can wait a long time for the replica.
    if (busy) return
    busy = true
    await attempt('select private.beat()', (text) => pool.query(text))
    busy = false
  }
  await step(beat())
  const clock = setInterval(() => void beat(), 1000)
  toStop.push(() => {
    clearInterval(clock)
    void pool.end().catch(() => {})
  })
}

async function startAll(programs: Program[]) {
  const parts = programs.map((program) =>
    new SupervisedProcess(program.name, () => launch(program), log)
  )
  toStop.push(() => Promise.all(parts.map((part) => part.stop())).then(() => {}))
  await step(Promise.all(parts.map(async (part) => {
    await part.start()
    log(`${part.name} ready`)
  })))
}

const nodeProgram = ({ dataDir }: Stack, name: string, file: string, quiet = false): Program => ({
  name,
  command: process.execPath,
  args: [fileURLToPath(new URL(file, import.meta.url))],
  env: process.env,
  dataDir,
  quiet,
})

function childPrograms(stack: Stack): Program[] {
  return [
    ...(stack.lateSeed === undefined
      ? []
      : [nodeProgram(stack, 'late-database', '../postgres/late.ts')]),
    nodeProgram(stack, 'services', './services.ts'),
    nodeProgram(stack, 'data-api', '../data-api/main.ts', true),
    ...(stack.realDataApi ? [nodeProgram(stack, 'postgrest', '../data-api/real-server.ts')] : []),
    ...(stack.realRealtime ? [] : [nodeProgram(stack, 'realtime', '../realtime/main.ts')]),
    ...chatPorts(stack).map((port, index) =>
      chatProgram(stack, {
        name: `chat-${index + 1}`,
        port,
        settings: { ...functionsEnvironment(stack, process.env), FACADE_DB_POOL: '4' },
      })
    ),
  ]
}

/**
 * Returns the ports that must be free before the start. The primary and the real Auth, Realtime and PostgREST
 * are left out. They may have outlived an earlier stack, so their ports are checked when they start.
 */
function portsToCheck(settings: Settings): Partial<Ports> {
  const { api, studio, inbox, auth, dataApi, realtime, storage, ...some } = settings.ports
  return {
    api,
    studio,
    inbox,
    storage,
    ...(!settings.realAuth && { auth }),
    ...(!settings.realDataApi && { dataApi }),
    ...(!settings.realRealtime && { realtime }),
    ...(settings.gateways > 0 && { chat1: some.chat1 }),
    ...(settings.gateways > 1 && { chat2: some.chat2 }),
    ...(settings.replica !== 'none' && { replica: some.replica }),
    ...(settings.lateSeed !== undefined && { lateDatabase: some.lateDatabase }),
  }
}

async function requirePorts(ports: Partial<Ports>, patience: number) {
  const deadline = Date.now() + patience
  let said = false
  for (const [name, port] of Object.entries(ports)) {
    while (!await isFree(port)) {
      if (patience > 0 && !said) log('waiting for parts left over from an earlier run')
      said = true
      if (Date.now() > deadline) throw portTaken(port, name)
      await sleep(100)
    }
  }
}

const isFree = (port: number) => probed(port, '127.0.0.1').then((fault) => fault === undefined)

function probed(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

async function requireHost(host: string, port: number) {
  const fault = await probed(port, host)
  if (!fault) return
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address)
  throw new UserError(
    fault === 'EADDRINUSE'
      ? `Port ${port} is taken at ${host} by another program: choose other ports with PORT=<number>.`
      : `HOST=${host} is no address of this machine${own.length ? `: ${own.join(', ')} is` : ''}.`,
  )
}

/** Runs a query that is repeated later anyway, so an error is only logged. */
async function attempt(text: string, run: (text: string) => Promise<unknown>) {
  try {
    await run(text)
  } catch (error) {
    log(`${text}: ${(error as Error).message}`)
  }
}

async function query(stack: Stack, text: string) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  client.on('error', () => {})
  await attempt(text, async () => {
    await client.connect()
    await client.query(text)
  })
  await client.end().catch(() => {})
}

function printSummary(stack: Stack) {
  const { url, baseUrl, publishableKey, secretKey, databaseUrl, inboxUrl, studioUrl } =
    describeStack(
      stack,
    )
  log('ready')
  console.log(`
  Project      ${url}
  Facade       ${baseUrl}${stack.host ? `\n  Phones       ${stack.publicUrl}` : ''}
  Docs         ${url}/docs (open it in a browser)
  Client       client/, for apps in TypeScript
  Inbox        ${inboxUrl}
  Studio       ${studioUrl}
  Database     ${databaseUrl}
  Publishable  ${publishableKey}
  Secret       ${secretKey}
  Logs         ${join(stack.dataDir, 'logs')}`)
  for (const line of demoAccounts(stack)) console.log(`  Demo         ${line}`)
  const here = stack.ports.api === 54321 ? '' : `VITE_API=${url} `
  console.log(`
  Look first, in another window:
    ${here}npm run example   (a small app in a browser)
    ${here}npm run desk   (what administrators work with)
    npm run tour   (the whole product, step by step)
    curl '${baseUrl}/search?areaIds=salmiya&limit=1'

  Ctrl-C stops everything; the data stays. "npm run reset" starts over.`)
}

function demoAccounts(stack: Stack): string[] {
  const file = new URL('../demo/accounts.json', import.meta.url)
  if (stack.seed !== 'demo' || !existsSync(file)) return []
  const accounts: { identifier: string; password: string; note?: string }[] = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  return accounts.map(({ identifier, password, note = '' }) =>
    `${identifier.padEnd(24)} ${password.padEnd(16)} ${note}`.trimEnd()
  )
}
