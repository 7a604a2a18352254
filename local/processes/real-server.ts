// Runs a server of the platform in place of its stand-in, as a child of this process.
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

export type RealServer = {
  /** The setting that names it. */
  setting: string
  port: number
  /** Where else it will listen. */
  morePorts?: number[]
  command: string
  args?: string[]
  cwd?: string
  /** Its environment; where that changes, as with new keys, it is started anew. */
  settings: () => Record<string, string | undefined>
  /** Done once its ports are known to be free. */
  prepare?: () => Promise<void>
  /** Whether it is up. */
  answers: () => Promise<boolean>
}

/** Less than the supervisor gives one that does nothing: it would end us alone. */
const longestEnd = 4000

/** Runs it until the supervisor goes, and says when it is ready. */
export async function runRealServer(stack: Stack, real: RealServer): Promise<void> {
  const { setting, port, morePorts = [], command, args = [], cwd } = real
  const note = join(stack.dataDir, `${setting.toLowerCase().replaceAll('_', '-')}.json`)
  // Of one that is gone as a process, threads may hold its ports for a moment.
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
      // Nothing else of ours: it would read settings there too.
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
  /** Ends it, or waits for what is ending already. */
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

/** Whether anything listens there, whatever it is: the real server would share the port with it. */
async function isTaken(port: number) {
  const socket = connect(port, '127.0.0.1')
  const taken = await once(socket, 'connect').then(() => true, () => false)
  socket.destroy()
  return taken
}

/**
 * Ends what a killed process of ours left behind, and says whether there was any: of two on one port each
 * would answer in turn.
 */
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
