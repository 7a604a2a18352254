// Runs the functions in a separate process, with other settings or another database URL than the stack's.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { variable } from '../../local/config/environment.ts'
import { functionsProgram } from '../../local/functions/programs.ts'
import { test } from 'vitest'
import { functionsEnvironment, readStack } from '../../local/config/stack.ts'
import { checkReply, projectUrl, type Reply } from './client.ts'
import { waitUntil } from './wait.ts'

/** Only the embedded stack reveals the settings that its functions need. */
export const hasStack = Boolean(variable('LOCAL_STACK'))

export const testLocally = test.runIf(hasStack)
if (!hasStack) console.log('LOCAL_STACK is not set: tests that start processes are left out.')

type Headers = Record<string, string>

export type Facade = {
  url: string
  pid: number
  /** Sends a request as the proxy does: the last entry of X-Forwarded-For is the client's address. */
  post: (path: string, body?: unknown, headers?: Headers) => Promise<Reply>
  get: (path: string, headers?: Headers) => Promise<Reply>
  output: () => string
  stop: () => Promise<void>
}

type Settings = Record<string, string | undefined>

export function defaultSettings(): Settings {
  const defaults = functionsEnvironment(theStack(), {
    ...process.env,
    READ_RATE: '0',
    RATES: 'off',
  })
  return { ...defaults, FACADE_DB_POOL: '4' }
}

const theStack = () =>
  readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
    RATES: 'off',
    NODE_ENV: 'test',
  })

/** Starts a facade that serves `names`. Settings override the defaults; undefined removes a setting. */
export async function startFacade(settings: Settings = {}, ...names: string[]): Promise<Facade> {
  const served = names.length ? names : ['api']
  const stack = theStack()
  const program = functionsProgram(stack, {
    name: 'own facade',
    port: 0,
    functions: stack.config.functions.filter(({ name }) => served.includes(name)),
    settings: {
      ...defaultSettings(),
      READ_RATE: '0',
      REFUSAL_RATE: '0',
      // A test with its own database URL counts all queries, so none may go to the replica.
      ...(settings.FACADE_DB_URL && { FACADE_READ_DB_URL: undefined }),
      ...settings,
    },
  })
  // Keeps the standard input open: the process ends when it closes.
  const child = spawn(program.command, program.args, { env: program.env, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  const port = await ready(child, () => output)
  const url = `http://127.0.0.1:${port}/${served[0]}`
  return {
    url,
    post: (path, body, headers) => request(url, 'POST', path, body, headers),
    get: (path, headers) => request(url, 'GET', path, undefined, headers),
    pid: child.pid!,
    output: () => output,
    stop: async () => {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}

async function request(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Headers = {},
): Promise<Reply> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const text = await response.text()
  const parsed = text ? JSON.parse(text) : null
  const reply = { status: response.status, body: parsed, headers: response.headers }
  if (response.headers.has('x-request-id')) await checkReply(method, path, reply, body)
  return reply
}

/** Returns the port that the process chose. */
async function ready(child: ChildProcess, output: () => string): Promise<string> {
  const port = () => /@ready (\d+)\n/.exec(output())?.[1]
  await waitUntil(
    'the process is ready or has ended',
    () => Boolean(port()) || child.exitCode !== null,
  )
  if (!port()) throw new Error(output())
  return port()!
}
