import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { longestStop, readyLine } from './lifecycle.ts'
import { logFile } from './log-file.ts'
import { stuck } from './progress.ts'
import { root } from '../config/settings.ts'
import { adviceOn } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'

/** A running process of the stack. `port` is set if the process chose the port itself. */
export type Running = { process: ChildProcess; port?: number; stop: () => Promise<void> }

export type Program = {
  name: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  dataDir: string
  /** Whether stderr goes only to the log file and not to the terminal. */
  quiet?: boolean
}

/** Starts a child process and waits, as long as it makes progress, until it reports that it is ready. */
export async function launch(program: Program): Promise<Running> {
  const output = logFile(program.dataDir, program.name)
  // stdout goes directly to the file, so that the supervisor has no work for each request.
  const out = openSync(output, 'a')
  const child = spawn(program.command, program.args, {
    cwd: root,
    env: program.env,
    stdio: ['pipe', out, 'pipe'],
  })
  child.stdin!.on('error', () => {})
  let [last, error] = ['', '']
  const ready = new Promise<number | undefined>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      const reason = error || last
      const why = reason &&
        `: ${reason.replace(/\.$/, '')}. ${adviceOn(reason, program.dataDir) ?? ''}`.trimEnd()
      reject(new UserError(`${program.name} ended (${signal ?? code})${why}\nIts log: ${output}`))
    })
    createInterface({ input: child.stderr! }).on('line', (line) => {
      const [word, port] = line.split(' ')
      if (word === readyLine) return resolve(port ? Number(port) : undefined)
      last = line
      // Remembers the error message, so that the lines of the stack trace do not replace it.
      if (/^(Uncaught )?\w*Error\b[^:]*: /.test(line)) error = line.replace(/^.*?: /, '')
      writeLine(out, line)
      if (!program.quiet) console.error(`${program.name}: ${line}`)
    }).on('close', () => closeSync(out))
  })
  const stop = () => stopChild(child)
  const waiting = new AbortController()
  const patience = { idle: 30_000, limit: 600_000, output, signal: waiting.signal }
  const hangs = stuck(child.pid, patience).then(() => {
    throw new UserError(`${program.name} does not start: it gets no further. Its log: ${output}`)
  })
  try {
    const port = await Promise.race([ready, hangs])
    return { process: child, port, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    waiting.abort()
  }
}

/** Writes a line to a log. On a full disk the line is lost. */
function writeLine(file: number, line: string) {
  try {
    writeSync(file, `${line}\n`)
  } catch { /* the line is lost */ }
}

async function stopChild(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exit = once(child, 'exit')
  // Closing a child's stdin asks it to stop.
  child.stdin!.end()
  const waiting = new AbortController()
  const patience = { idle: 5500, limit: longestStop, signal: waiting.signal }
  void stuck(child.pid, patience).then(() => child.kill('SIGKILL'))
  await exit
  waiting.abort()
}

const restartDelays = [0, 250, 500, 1000, 2000]

export class SupervisedProcess {
  readonly name: string
  private readonly spawnProcess: () => Promise<Running>
  private readonly log: (line: string) => void
  private current: Promise<Running> | undefined
  private stopping = false
  private failures = 0

  constructor(name: string, spawnProcess: () => Promise<Running>, log: (line: string) => void) {
    this.name = name
    this.spawnProcess = spawnProcess
    this.log = log
  }

  /** Starts the process for the first time. The caller must report an error. */
  async start(): Promise<void> {
    this.current = this.spawnProcess()
    this.watch(await this.current)
  }

  private watch({ process: child }: Running) {
    const began = Date.now()
    const ended = (code: number | null, signal: string | null) => {
      if (this.stopping) return
      // Only a process that ends within a second counts as failed; any other is restarted without delay.
      if (Date.now() - began > 1000) this.failures = 0
      this.log(`${this.name} ended (${signal ?? `code ${code}`}), starting it again`)
      void this.restart()
    }
    if (child.exitCode === null && child.signalCode === null) child.once('exit', ended)
    else ended(child.exitCode, child.signalCode)
  }

  private async restart() {
    for (;;) {
      await sleep(restartDelays[Math.min(this.failures++, restartDelays.length - 1)]!)
      if (this.stopping) return
      const began = Date.now()
      this.current = this.spawnProcess()
      try {
        const running = await this.current
        this.log(`${this.name} is back after ${((Date.now() - began) / 1000).toFixed(1)} s`)
        return this.watch(running)
      } catch (error) {
        this.log(`${this.name} does not start: ${(error as Error).message}`)
      }
    }
  }

  /** Stops the process, even while it starts. */
  async stop(): Promise<void> {
    this.stopping = true
    const running = await this.current?.catch(() => undefined)
    await running?.stop()
  }
}
