// Runs the official Supabase CLI, for commands that need no Docker, such as db push and db advisors.
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { databaseAt } from './connection.ts'
import { UserError } from '../config/user-error.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export const projectMigrations = join(root, 'supabase', 'migrations')

export type CliResult = { code: number; stdout: string; stderr: string }

/** How long a command may take, in milliseconds. Migrating a large table may take nearly as long. */
const longest = 30 * 60_000

/** Runs the CLI and returns its output even if it failed. */
export function supabase(args: string[], own: Record<string, string> = {}): Promise<CliResult> {
  const program = join(root, 'node_modules', 'supabase', 'dist', 'supabase.js')
  if (!existsSync(program)) {
    throw new UserError('The package supabase is missing: run "npm ci" and try again.')
  }
  const env = {
    ...process.env,
    DO_NOT_TRACK: '1',
    SUPABASE_TELEMETRY_DISABLED: '1',
    SUPABASE_NO_UPDATE_NOTIFIER: '1',
    ...own,
  }
  return new Promise((resolve) => {
    // The CLI finds our config.toml in `root`. Its advisors need it to know which schemas are exposed.
    const options = { env, cwd: root, maxBuffer: 64 << 20, timeout: longest }
    const child = execFile(
      process.execPath,
      [program, ...args],
      options,
      (error, stdout, stderr) => {
        const late = error?.killed ? `\nIt did not end within ${longest / 60_000} minutes.` : ''
        resolve({ code: error ? Number(error.code) || 1 : 0, stdout, stderr: stderr + late })
      },
    )
    child.stdin?.end()
  })
}

/** Returns the CLI's --remote flag for a database: with verified TLS, unless it is on this machine. */
export function remoteFlag(url: string): string {
  const { ssl } = databaseAt(url)
  const target = new URL(url)
  target.search = ssl ? `sslmode=verify-full&sslrootcert=${fileWith(ssl.ca)}` : 'sslmode=disable'
  return `--remote=${target.href}`
}

/** Writes a file that is deleted when this process exits, and returns its path, encoded for a URL. */
function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'property-roots-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'roots.pem')
  writeFileSync(file, text)
  return encodeURIComponent(file)
}

/** Copies the project for the CLI, because it leaves files behind. Checks and tests pass other migrations. */
export function writeProject(folder: string, config: string, migrations: string): string {
  const target = join(folder, 'supabase', 'migrations')
  mkdirSync(target, { recursive: true })
  copyFileSync(config, join(dirname(target), 'config.toml'))
  for (const name of migrationsIn(migrations)) {
    copyFileSync(join(migrations, name), join(target, name))
  }
  return folder
}

export function migrationsIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => /^\d{14}_.+\.sql$/.test(name)).sort()
}

export async function push(folder: string, url: string): Promise<CliResult> {
  const args = ['--workdir', folder, 'db', 'push', remoteFlag(url), '--yes']
  const result = await retryOnLockTimeout(() => supabase(args))
  if (result.code === 0) return result
  throw new UserError(`supabase db push failed:\n${errorLines(result)}`)
}

/** Retries for five minutes after lock timeouts. Applied migrations stay; a failed one is rolled back. */
export async function retryOnLockTimeout(push: () => Promise<CliResult>): Promise<CliResult> {
  for (let pause = 500, waited = 0;; waited += pause, pause = Math.min(2 * pause, 20_000)) {
    const result = await push()
    const gaveWay = /SQLSTATE 55P03|lock timeout/.test(result.stderr + result.stdout)
    if (result.code === 0 || !gaveWay || waited > 300_000) return result
    await sleep(pause)
  }
}

export function errorLines({ stdout, stderr }: CliResult): string {
  const lines = `${stderr}\n${stdout}`.split('\n').filter((line) =>
    line.trim() !== '' &&
    !/^(WARN: |Target: |Confirmed by |Applying |Try rerunning|[│▲◇])/.test(line)
  )
  // The reason is in the first or last lines, or else in lines that look like errors.
  const reasons = lines.slice(15, -25).filter((line) => /SQLSTATE|\berror\b|status \d/i.test(line))
  return lines.length > 40
    ? [...lines.slice(0, 15), '…', ...reasons.slice(0, 10), ...lines.slice(-25)].join('\n')
    : lines.join('\n')
}
