/**
 * An embedded stack of one's own, on free ports and an empty folder, which is gone when it stops.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** Starts it with the given settings (docs/settings.md) and waits until it is ready. Its folder goes with it. */
export async function startStack(settings: Record<string, string> = {}): Promise<Stack> {
  const folder = settings.LOCAL_DATA ?? mkdtempSync(join(tmpdir(), 'property-test-'))
  const port = settings.PORT ?? await freePorts()
  const stack = spawn(process.execPath, ['local/start.ts'], {
    env: { ...process.env, PORT: String(port), LOCAL_DATA: folder, SEED: 'none', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  stack.stdout.on('data', (data) => (said += data))
  const file = join(folder, 'stack.json')
  try {
    await waitUntil(
      'the stack is ready or has ended',
      () => existsSync(file) || stack.exitCode !== null,
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

/** Warnings that the start and tests bring about. */
const ofOthers = [
  // Rights are taken away that a role never had, by the start and by tests of roles.
  /no privileges were granted|has not been granted membership/,
  // What was dropped just before the server was killed is dropped again when its log is read.
  /could not open directory "base\/|some useless files may be left behind/,
  // With REPLICAS=1 a test ends a connection whose commit waits for the replica.
  /canceling the wait for synchronous replication/,
  // A test rolls back what has ended by itself.
  /there is no transaction in progress/,
  // realtime.send() without a topic, or as a client's role; ours has a topic, and its owner's rights.
  /WarnSendingBroadcastMessage: (null value in column "topic"|new row violates row-level security)/,
  // Nobody has joined for three days, or ever: nobody hears.
  /WarnSendingBroadcastMessage: no partition of relation "messages"/,
]

/** What else the database of a stack warned of: what is ours raises alarms, so there is nothing. */
export function warningsIn(folder: string): string[] {
  const log = join(folder, 'logs', 'postgres.log')
  if (!existsSync(log)) return []
  return readFileSync(log, 'utf8').split('\n').filter((line) =>
    / WARNING: /.test(line) && !ofOthers.some((known) => known.test(line))
  )
}

/**
 * A port with room above it: the stack's other ports follow its first one. Below those that systems
 * give to outgoing connections, of which other tests open many.
 */
export async function freePorts(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
    const free = await Promise.all(
      Array.from({ length: 14 }, (_, i) =>
        new Promise<boolean>((resolve) => {
          const server = createServer()
          server.once('error', () => resolve(false))
          server.listen(port + i, '127.0.0.1', () => server.close(() => resolve(true)))
        })),
    )
    if (free.every(Boolean)) return port
  }
}
