import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { variable } from '../../local/config/environment.ts'
import { freePorts } from '../../local/config/ports.ts'
import { copyProject } from '../suite/new-project.ts'
import { waitUntil } from './wait.ts'

export type Stack = {
  folder: string
  url: string
  baseUrl: string
  publishableKey: string
  secretKey: string
  databaseUrl: string
  inboxUrl: string
  chatUrls: string[]
  stop: () => Promise<void>
}

const realServers = ['REAL_AUTH', 'REAL_STORAGE', 'REAL_REALTIME'] as const

/** Starts a stack with settings (docs/settings.md) and waits until it is ready; `stop` removes its folder. */
export async function startStack(settings: Record<string, string> = {}): Promise<Stack> {
  const folder = settings.LOCAL_DATA ?? mkdtempSync(join(tmpdir(), 'property-test-'))
  const project = variable('NEW_PROJECT')
  // Real servers create their own tables before the migrations, so the prepared project does not suit them.
  const isReal = realServers.some((name) => settings[name] ?? variable(name))
  if (project && !settings.LOCAL_DATA && !isReal) copyProject(project, folder)
  const port = settings.PORT ?? await freeStackPort()
  const stack = spawn(process.execPath, ['local/start.ts'], {
    env: { ...process.env, PORT: String(port), LOCAL_DATA: folder, SEED: 'none', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  let lastSaid = 0
  stack.stdout.on('data', (data) => {
    said += data
    lastSaid = Date.now()
  })
  const file = join(folder, 'stack.json')
  try {
    await waitUntil(
      'the stack is ready or has ended',
      () => existsSync(file) || stack.exitCode !== null,
      undefined,
      () => lastSaid,
    )
    if (!existsSync(file)) throw new Error('it ended')
  } catch (error) {
    stack.kill()
    throw new Error(`The embedded stack did not start:\n${said}`, { cause: error })
  }
  const stop = async () => {
    const ended = new Promise((resolve) => stack.once('exit', resolve))
    if (stack.exitCode === null && stack.kill('SIGTERM')) await ended
    const warnings = warningsIn(folder)
    rmSync(folder, { recursive: true, force: true })
    if (warnings.length) throw new Error(warnings.join('\n'))
  }
  return { folder, ...JSON.parse(readFileSync(file, 'utf8')), stop }
}

/** Warnings that the start or a test causes. */
const ofOthers = [
  // The start and tests of roles revoke rights that a role never had.
  /no privileges were granted|has not been granted membership/,
  // Files dropped just before the server was killed are dropped again when its log is read.
  /could not open directory "base\/|some useless files may be left behind/,
  // With REPLICAS=1 a test ends a connection whose commit waits for the replica.
  /canceling the wait for synchronous replication/,
  // A test ends a connection that has just ended by itself (called-functions.ts).
  /PID \d+ is not a PostgreSQL (backend|server) process/,
  // A test rolls back a transaction that had already ended by itself.
  /there is no transaction in progress/,
  // Tests call realtime.send() without a topic or as a client's role, which our own code never does.
  /WarnSendingBroadcastMessage: (null value in column "topic"|new row violates row-level security)/,
  // If nobody has joined in three days, or ever, there is no partition and no listener.
  /WarnSendingBroadcastMessage: no partition of relation "messages"/,
]

/** Returns the database's other warnings. There should be none: our own code raises alarms instead. */
export function warningsIn(folder: string): string[] {
  const log = join(folder, 'logs', 'postgres.log')
  if (!existsSync(log)) return []
  return readFileSync(log, 'utf8').split('\n').filter((line) =>
    / WARNING: /.test(line) && !ofOthers.some((known) => known.test(line))
  )
}

/** Finds a port that is free, as are the ports above it, which the rest of the stack uses. */
export const freeStackPort = () => freePorts(14)
