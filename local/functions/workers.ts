// The workers of the edge functions, as the platform's edge runtime keeps them: one begins when a
// request comes and there is none, takes requests for half of its life, is dropped after that as soon
// as its requests are answered and what it gave to waitUntil is settled, and ends with its life
// whatever it does. None knows anything of the one before it.
import { launch, type Running } from '../stack/launch.ts'
import { workerProgram } from './programs.ts'
import { functionsEnvironment, type Stack } from '../stack/stack.ts'

/** A request is with a worker: `leave` when it is answered, `failure` when it was not. */
export type Visit = { port: number; leave: () => void; failure: () => Promise<Failure> }

export type Failure = { status: number; code: string; message: string; retryAfter?: string }

const missing: Failure = {
  status: 404,
  code: 'NOT_FOUND',
  message: 'Requested function was not found',
}
const unbooted: Failure = {
  status: 503,
  code: 'BOOT_ERROR',
  message: 'Worker failed to boot (please check logs)',
  retryAfter: '1',
}
const exceeded: Failure = {
  status: 546,
  code: 'WORKER_LIMIT',
  message: 'Function failed due to not having enough compute resources (please check logs)',
}
const failed: Failure = {
  status: 500,
  code: 'WORKER_ERROR',
  message: 'Function exited due to an error (please check logs)',
}

// Whoever does not end when told is ended.
const patience = 1000

class Worker {
  retired = false
  private over = false
  private visits = 0
  private readonly running: Running
  private readonly gone: Promise<void>
  private readonly timers: ReturnType<typeof setTimeout>[] = []

  constructor(running: Running, life: number, retired: () => void) {
    this.running = running
    const child = running.process
    if (life > 0) {
      this.timers.push(
        setTimeout(() => {
          this.retired = true
          retired()
          this.drop()
        }, life / 2),
        setTimeout(() => this.end(), life),
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

  visit(): Visit {
    this.visits++
    let here = true
    return {
      port: this.running.port!,
      leave: () => {
        if (here) this.visits--
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
    if (this.retired && this.visits === 0 && !this.over) this.tell('retire')
  }

  private end() {
    this.over = true
    this.tell('end')
    this.timers.push(setTimeout(() => this.running.process.kill('SIGKILL'), patience))
  }

  private tell(order: string) {
    this.running.process.stdin!.write(`${order}\n`)
  }

  /** Why there is no answer: known when the process is gone, or it was the request's own. */
  private async failure(): Promise<Failure> {
    const late = new Promise((resolve) => setTimeout(resolve, patience).unref())
    await Promise.race([this.gone, late])
    if (this.over) return exceeded
    // Killed from outside: no fault of the function.
    return this.running.process.signalCode ? unbooted : failed
  }
}

export class Workers {
  private readonly stack: Stack
  private readonly settings: Record<string, string | undefined>
  private readonly current = new Map<string, Promise<Worker>>()
  private readonly all = new Set<Worker>()

  constructor(
    stack: Stack,
    settings: Record<string, string | undefined> = functionsEnvironment(stack, process.env),
  ) {
    this.stack = stack
    this.settings = settings
  }

  /** The function's worker, a new one if need be. Throws a Failure. */
  async visit(name: string): Promise<Visit> {
    const fn = this.stack.config.functions.find((known) => known.name === name)
    if (!fn) throw missing
    for (;;) {
      const worker = await (this.current.get(name) ?? this.begin(fn))
      if (!worker.retired) return worker.visit()
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.all].map((worker) => worker.stop()))
  }

  private begin(fn: Stack['config']['functions'][number]): Promise<Worker> {
    const program = workerProgram(this.stack, { fn, settings: this.settings })
    const beginning = launch(program).then((running) => {
      const worker = new Worker(running, this.stack.workerLife * 1000, forget)
      this.all.add(worker)
      running.process.once('exit', () => this.all.delete(worker))
      return worker
    }, (error) => {
      forget()
      console.error(`function ${fn.name}: ${error.message}`)
      throw unbooted
    })
    const forget = () => {
      if (this.current.get(fn.name) === beginning) this.current.delete(fn.name)
    }
    this.current.set(fn.name, beginning)
    return beginning
  }
}
