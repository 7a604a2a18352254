// Runs the workers of edge functions as the platform does. A worker starts when a request finds none. It gets
// new requests for half of its lifetime, then ends as soon as its requests and waitUntil promises are done.
// At the end of its lifetime it is killed. Workers share no memory.
import { launch, type Running } from '../processes/launch.ts'
import { workerProgram } from './programs.ts'
import { functionsEnvironment, type Stack } from '../config/stack.ts'

/** A worker reserved for one request. `failure` returns the reason why the request got no response. */
export type Lease = { port: number; release: () => void; failure: () => Promise<Failure> }

export type Failure = { status: number; code: string; message: string; retryAfter?: number }

const notFound: Failure = {
  status: 404,
  code: 'NOT_FOUND',
  message: 'Requested function was not found',
}
const bootError: Failure = {
  status: 503,
  code: 'BOOT_ERROR',
  message: 'Worker failed to boot (please check logs)',
  retryAfter: 1,
}
const workerLimit: Failure = {
  status: 546,
  code: 'WORKER_LIMIT',
  message: 'Function failed due to not having enough compute resources (please check logs)',
}
const workerError: Failure = {
  status: 500,
  code: 'WORKER_ERROR',
  message: 'Function exited due to an error (please check logs)',
}

const killDelay = 1000
// How long the stack may take to notice that a worker has ended, in milliseconds.
const noticeDelay = 10_000

class Worker {
  retired = false
  private over = false
  private leases = 0
  private readonly running: Running
  private readonly gone: Promise<void>
  private readonly timers: ReturnType<typeof setTimeout>[] = []

  constructor(running: Running, lifetime: number, retired: () => void) {
    this.running = running
    const child = running.process
    if (lifetime > 0) {
      this.timers.push(
        setTimeout(() => {
          this.retired = true
          retired()
          this.drop()
        }, lifetime / 2),
        setTimeout(() => this.end(), lifetime),
      )
    }
    this.gone = new Promise((resolve) => {
      const ended = () => {
        this.timers.forEach(clearTimeout)
        this.retired = true
        retired()
        resolve()
      }
      if (child.exitCode !== null || child.signalCode !== null) ended()
      else child.once('exit', ended)
    })
  }

  acquire(): Lease {
    this.leases++
    let here = true
    return {
      port: this.running.port!,
      release: () => {
        if (here) this.leases--
        here = false
        this.drop()
      },
      failure: () => this.failure(),
    }
  }

  stop(): Promise<void> {
    this.timers.forEach(clearTimeout)
    return this.running.stop()
  }

  private drop() {
    if (this.retired && this.leases === 0 && !this.over) this.send('retire')
  }

  private end() {
    this.over = true
    this.send('end')
    this.timers.push(setTimeout(() => this.running.process.kill('SIGKILL'), killDelay))
  }

  private send(command: string) {
    this.running.process.stdin!.write(`${command}\n`)
  }

  /** Returns the reason why there is no response. It is known only after the process has ended. */
  private async failure(): Promise<Failure> {
    const late = new Promise((resolve) => setTimeout(resolve, noticeDelay).unref())
    await Promise.race([this.gone, late])
    if (this.over) return workerLimit
    // If a signal ended the process, it was killed from outside, and the function is not at fault.
    return this.running.process.signalCode ? bootError : workerError
  }
}

export class Workers {
  private readonly stack: Stack
  private readonly settings: Record<string, string | undefined>
  private readonly current = new Map<string, Promise<Worker>>()
  private readonly all = new Set<Worker>()
  private closed = false

  constructor(
    stack: Stack,
    settings: Record<string, string | undefined> = functionsEnvironment(stack, process.env),
  ) {
    this.stack = stack
    this.settings = settings
  }

  /** Reserves the function's worker and starts one if there is none. Throws a Failure. */
  async acquire(name: string): Promise<Lease> {
    const fn = this.stack.config.functions.find((known) => known.name === name)
    if (!fn) throw notFound
    for (;;) {
      if (this.closed) throw bootError
      const worker = await (this.current.get(name) ?? this.start(fn))
      if (!worker.retired && !this.closed) return worker.acquire()
    }
  }

  /** Ends all workers, including those that are still starting. */
  async close(): Promise<void> {
    this.closed = true
    await Promise.allSettled(this.current.values())
    await Promise.all([...this.all].map((worker) => worker.stop()))
  }

  private start(fn: Stack['config']['functions'][number]): Promise<Worker> {
    const { stack, settings } = this
    const launched = Promise.resolve().then(() => launch(workerProgram(stack, { fn, settings })))
    const starting = launched.then((running) => {
      const worker = new Worker(running, this.stack.workerLife * 1000, forget)
      this.all.add(worker)
      running.process.once('exit', () => this.all.delete(worker))
      return worker
    }, (error) => {
      forget()
      console.error(`function ${fn.name}: ${error.message}`)
      throw bootError
    })
    const forget = () => {
      if (this.current.get(fn.name) === starting) this.current.delete(fn.name)
    }
    this.current.set(fn.name, starting)
    return starting
  }
}
