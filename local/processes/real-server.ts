import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithSupervisor, readyLine } from './lifecycle.ts'
import { sendSignal, startTimeOf } from './process-info.ts'
import type { Stack } from '../config/stack.ts'
import { UserError } from '../config/user-error.ts'

type RealServer = {
  setting: string
  port: number
  morePorts?: number[]
  command: string
  args?: string[]
  cwd?: string
  /** The server's environment variables. When they change (such as for new keys), the server restarts. */
  settings: () => Record<string, string | undefined>
  /** Called before the start, when the ports are known to be free. */
  prepare?: () => Promise<void>
  answers: () => Promise<boolean>
}

/**
 * How long the server may take to end before it is killed, in milliseconds. The supervisor waits longer
 * before it kills this process, which would leave the server running.
 */
const longestEnd = 4000

export async function runRealServer(stack: Stack, real: RealServer): Promise<void> {
  const { setting, port, morePorts = [], command, args = [], cwd } = real
  const note = join(stack.dataDir, `${setting.toLowerCase().replaceAll('_', '-')}.json`)
  // Threads of a killed server may keep its ports for a moment.
  const deadline = await endLeftover(note, stack.dataDir) ? Date.now() + longestEnd : 0
  for (const each of [port, ...morePorts]) {
    while (await isTaken(each)) {
      if (Date.now() > deadline) {
        throw new UserError(
          `${setting}: something else answers on port ${each}; end it, or change PORT.`,
        )
      }
      await sleep(50)
    }
  }
  await real.prepare?.()
  const environment = () => JSON.stringify(real.settings())
  let given = ''
  let server: ChildProcess | undefined

  const start = () => {
    given = environment()
    const child = spawn(command, args, {
      cwd,
      // The server gets none of our other variables, because it would read them as settings too.
      env: { PATH: process.env.PATH, ...JSON.parse(given) },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.once('error', (error) => {
      console.error(`${setting}: ${error.message}`)
      process.exit(1)
    })
    child.once('exit', (code) => child === server && process.exit(code ?? 1))
    const born = child.pid ? startTimeOf(child.pid) : ''
    writeFileSync(note, JSON.stringify({ pid: child.pid, born, dataDir: stack.dataDir }))
    server = child
  }

  let ending: Promise<unknown> | undefined
  const end = () => {
    const child = server
    if (!child) return ending
    server = undefined
    child.kill('SIGTERM')
    const hurry = setTimeout(() => child.kill('SIGKILL'), longestEnd)
    return ending = once(child, 'exit').finally(() => clearTimeout(hurry))
  }

  start()
  let stopping = false
  const clock = setInterval(async () => {
    if (!server || environment() === given) return
    await end()
    if (!stopping) start()
  }, 250)
  endWithSupervisor(async () => {
    stopping = true
    clearInterval(clock)
    await end()
    rmSync(note, { force: true })
  })
  while (!await real.answers().catch(() => false)) await sleep(100)
  console.error(readyLine)
}

/** Whether the port is in use. The real server would share a used port instead of reporting it. */
async function isTaken(port: number) {
  const socket = connect(port, '127.0.0.1')
  const taken = await once(socket, 'connect').then(() => true, () => false)
  socket.destroy()
  return taken
}

/** Kills a server left over from an earlier run, because two would share the port. Returns true if it did. */
async function endLeftover(note: string, dataDir: string): Promise<boolean> {
  let left: { pid: number; born: string; dataDir: string }
  try {
    left = JSON.parse(readFileSync(note, 'utf8'))
  } catch {
    return false
  }
  const isIt = () => left.born !== '' && startTimeOf(left.pid) === left.born
  if (left.dataDir !== dataDir || !isIt()) return false
  sendSignal(left.pid, 'SIGKILL')
  while (isIt()) await sleep(50)
  return true
}
