// Starts the parts of the embedded stack, keeps them running and stops them. It hosts none of them:
// whatever happens inside a part, this process stays free to start it again.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kept, launch, type Program } from './launch.ts'
import { chatProgram } from '../functions/programs.ts'
import { ensureKeys } from './signing-keys.ts'
import { takeLock } from './lock.ts'
import { migrate } from './migrate.ts'
import { whenNpmEnds } from './npm-parent.ts'
import { startPostgres } from '../postgres/postgres.ts'
import { Refusal } from './user-error.ts'
import { type Ports, readSettings, type Settings } from './settings.ts'
import { chatPorts, describe, functionsEnvironment, readStack, type Stack } from './stack.ts'

const began = Date.now()
const say = (line: string) => {
  const seconds = ((Date.now() - began) / 1000).toFixed(1)
  console.log(`${seconds.padStart(6)} s  ${line}`)
}

let stopping: Promise<void> | undefined
const toStop: (() => Promise<void> | void)[] = []

/** Stops everything in the reverse order of its start, once. */
function stop(): Promise<void> {
  return stopping ??= (async () => {
    for (const step of toStop.reverse()) await step()
  })()
}

/** Runs the stack until it is told to stop. */
export async function run(): Promise<void> {
  const settings = readSettings(process.env)
  const { dataDir } = settings
  const lock = takeLock(dataDir)
  toStop.push(lock.release)
  const end = () => {
    if (!stopping) say('stopping')
    void stop().then(() => process.exit(0))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  whenNpmEnds(end)
  // Whoever reads our output may go away first.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    await start(settings, lock.leftover)
  } catch (error) {
    if (stopping) return
    await stop()
    throw error
  }
}

async function start({ dataDir, ports, countCalls }: Settings, leftover: boolean) {
  const described = join(dataDir, 'stack.json')
  rmSync(described, { force: true })
  const { database: _own, ...others } = ports
  // The parts of a killed supervisor need a moment to notice.
  await requirePorts(others, leftover ? 6000 : 0)

  const database = new Kept(
    'database',
    () => startPostgres({ dataDir, port: ports.database, log: say, countCalls }),
    say,
  )
  toStop.push(() => database.stop())
  await database.begin()
  say(`database on port ${ports.database}`)
  await ensureKeys(dataDir)
  const stack = readStack(process.env)
  // Real parts make their tables themselves, and migrations write into them.
  await begin([
    ...(stack.realAuth ? [node(stack, 'auth', '../auth/real-server.ts')] : []),
    ...(stack.realStorage ? [node(stack, 'storage', '../storage/real-server.ts')] : []),
  ])
  await migrate(stack, say)
  await begin(programs(stack))
  toStop.push(() => rmSync(described, { force: true }))
  const clock = setInterval(() => void keepPartitions(stack), 3_600_000)
  toStop.push(() => clearInterval(clock))
  if (stopping) return
  writeFileSync(`${described}.new`, JSON.stringify(describe(stack), null, 2), { mode: 0o600 })
  renameSync(`${described}.new`, described)
  show(stack)
}

/** Starts child processes and keeps them running. */
async function begin(programs: Program[]) {
  const parts = programs.map((program) => new Kept(program.name, () => launch(program), say))
  toStop.push(() => Promise.all(parts.map((part) => part.stop())).then(() => {}))
  await Promise.all(parts.map(async (part) => {
    await part.begin()
    say(`${part.name} ready`)
  }))
}

const node = ({ dataDir }: Stack, name: string, file: string, quiet = false): Program => ({
  name,
  command: process.execPath,
  args: [fileURLToPath(new URL(file, import.meta.url))],
  env: process.env,
  dataDir,
  quiet,
})

/** The child processes besides the database. */
function programs(stack: Stack): Program[] {
  return [
    node(stack, 'services', './services.ts'),
    node(stack, 'data-api', '../data-api/main.ts', true),
    node(stack, 'realtime', '../realtime/main.ts'),
    ...chatPorts(stack).map((port, index) =>
      chatProgram(stack, {
        name: `chat-${index + 1}`,
        port,
        settings: { ...functionsEnvironment(stack, process.env), FACADE_DB_POOL: '4' },
      })
    ),
  ]
}

async function requirePorts(ports: Partial<Ports>, patience: number) {
  const deadline = Date.now() + patience
  for (const [name, port] of Object.entries(ports)) {
    while (!await isFree(port)) {
      if (Date.now() > deadline) {
        throw new Refusal(
          `Port ${port} (${name}) is taken by another program: end that one, or choose other ports ` +
            'with PORT=<number> npm start.',
        )
      }
      await sleep(100)
    }
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

async function keepPartitions(stack: Stack) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  try {
    await client.connect()
    await client.query('select realtime.ensure_partitions()')
  } catch (error) {
    say(`partitions of realtime.messages: ${(error as Error).message}`)
  } finally {
    await client.end().catch(() => {})
  }
}

function show(stack: Stack) {
  const { url, baseUrl, publishableKey, secretKey, databaseUrl, inboxUrl, studioUrl } = describe(
    stack,
  )
  say('ready')
  console.log(`
  Project      ${url}
  Facade       ${baseUrl}
  API docs     ${baseUrl}/docs
  Inbox        ${inboxUrl}
  Studio       ${studioUrl}
  Database     ${databaseUrl}
  Publishable  ${publishableKey}
  Secret       ${secretKey}
  Logs         ${join(stack.dataDir, 'logs')}`)
  for (const line of demoAccounts(stack)) console.log(`  Demo         ${line}`)
  console.log('\n  Ctrl-C stops everything; the data stays. "npm run reset" begins anew.')
}

/** The accounts of the demo data, as local/stack/demo-accounts.json names them. */
function demoAccounts(stack: Stack): string[] {
  const file = new URL('./demo-accounts.json', import.meta.url)
  if (stack.seed !== 'demo' || !existsSync(file)) return []
  const accounts: { identifier: string; password: string; note?: string }[] = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  return accounts.map(({ identifier, password, note = '' }) =>
    `${identifier.padEnd(24)} ${password.padEnd(16)} ${note}`.trimEnd()
  )
}
