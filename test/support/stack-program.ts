import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from './wait.ts'

export type Settings = Record<string, string>

type How = {
  args?: string[]
  cwd?: string
  /** A command that runs the program, such as nsenter. */
  within?: string[]
  user?: { uid?: number; gid?: number }
  /** Whether the program gets its own process group, to which signals are sent as from a terminal. */
  group?: boolean
}

export function run(script: string, settings: Settings, how: How = {}) {
  const { args = [], cwd, within = [], user, group } = how
  const env = { ...process.env, SEED: 'none', NODE_ENV: 'test', ...settings }
  const [command, ...rest] = [...within, process.execPath, script, ...args]
  const child = spawn(command!, rest, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: group,
    ...user,
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (data) => (said.out += data))
  child.stderr.on('data', (data) => (said.err += data))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...said }))
  return { child, said, ended }
}

export const start = (settings: Settings, how?: How) => run('local/start.ts', settings, how)

export async function ready({ child, said }: ReturnType<typeof run>, folder: string) {
  const file = join(folder, 'stack.json')
  await waitUntil(
    'the stack is ready or has ended',
    () => existsSync(file) || child.exitCode !== null,
  )
  if (!existsSync(file)) throw new Error(`it ended:\n${said.out}${said.err}`)
  return JSON.parse(readFileSync(file, 'utf8'))
}
