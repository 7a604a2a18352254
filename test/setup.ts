/**
 * What the suite runs against: the project in SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY,
 * SUPABASE_SECRET_KEY, DATABASE_URL and INBOX_URL, or else an embedded stack of its own on free
 * ports and an empty folder, which is gone afterwards.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { liftRates } from './rates.ts'

const names = [
  'SUPABASE_URL',
  'SUPABASE_PUBLISHABLE_KEY',
  'SUPABASE_SECRET_KEY',
  'DATABASE_URL',
  'INBOX_URL',
]

export default async function setup() {
  const stop = process.env.SUPABASE_URL ? checkEnvironment() : await startStack()
  const restore = await liftRates(process.env.DATABASE_URL!)
  return async () => {
    await restore()
    await stop()
  }
}

function checkEnvironment() {
  const missing = names.filter((name) => !process.env[name])
  if (missing.length) throw new Error(`SUPABASE_URL is set, so set ${missing.join(', ')} too.`)
  return async () => {}
}

async function startStack() {
  const folder = mkdtempSync(join(tmpdir(), 'property-test-'))
  const port = await freePorts()
  const stack = spawn(process.execPath, ['local/start.ts'], {
    env: {
      ...process.env,
      PORT: String(port),
      LOCAL_DATA: folder,
      SEED: 'none',
      READ_RATE: '0',
      NODE_ENV: 'test',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  stack.stdout.on('data', (data) => (said += data))
  const file = join(folder, 'stack.json')
  const deadline = Date.now() + 90_000
  while (!existsSync(file)) {
    if (stack.exitCode !== null || Date.now() > deadline) {
      stack.kill()
      throw new Error(`The embedded stack did not start:\n${said}`)
    }
    await sleep(100)
  }
  const ready = JSON.parse(readFileSync(file, 'utf8'))
  Object.assign(process.env, {
    SUPABASE_URL: ready.url,
    SUPABASE_PUBLISHABLE_KEY: ready.publishableKey,
    SUPABASE_SECRET_KEY: ready.secretKey,
    DATABASE_URL: ready.databaseUrl,
    INBOX_URL: ready.inboxUrl,
    LOCAL_STACK: folder,
  })
  return async () => {
    const ended = new Promise((resolve) => stack.once('exit', resolve))
    stack.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A port with room above it: the stack's other ports follow its first one. */
async function freePorts(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const free = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        new Promise<boolean>((resolve) => {
          const server = createServer()
          server.once('error', () => resolve(false))
          server.listen(port + i, '127.0.0.1', () => server.close(() => resolve(true)))
        })),
    )
    if (free.every(Boolean)) return port
  }
}
