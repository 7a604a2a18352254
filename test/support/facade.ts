/** A facade of one's own beside the stack's: with other settings, another way to the database. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { variable } from '../../local/environment.ts'
import { functionsProgram } from '../../local/functions/programs.ts'
import { functionsEnvironment, readStack } from '../../local/stack/stack.ts'
import { projectUrl } from './client.ts'

/** Only the embedded stack tells what its functions need to start. */
export const hasStack = Boolean(variable('LOCAL_STACK'))

export type Facade = { url: string; pid: number; said: () => string; stop: () => Promise<void> }

type Settings = Record<string, string | undefined>

/** The settings that the stack gives its functions; a process beside them takes fewer connections. */
export function usualSettings(): Settings {
  const usual = functionsEnvironment(theStack(), { ...process.env, READ_RATE: '0', RATES: 'off' })
  return { ...usual, FACADE_DB_POOL: '4' }
}

const theStack = () =>
  readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
    RATES: 'off',
    NODE_ENV: 'test',
  })

/** A port that nobody has at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Starts it; settings replace the usual ones, undefined takes one away. `names`: other functions. */
export async function startFacade(settings: Settings = {}, ...names: string[]): Promise<Facade> {
  const wanted = names.length ? names : ['api']
  const port = await freePort()
  const stack = theStack()
  const program = functionsProgram(stack, {
    name: 'own facade',
    port,
    functions: stack.config.functions.filter(({ name }) => wanted.includes(name)),
    settings: { ...usualSettings(), READ_RATE: '0', REFUSAL_RATE: '0', ...settings },
  })
  // Its input stays open: the process takes the end of it as the sign to finish.
  const child = spawn(program.command, program.args, { env: program.env, stdio: 'pipe' })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part))
  await ready(child, () => said)
  return {
    url: `http://127.0.0.1:${port}/${wanted[0]}`,
    pid: child.pid!,
    said: () => said,
    stop: async () => {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}

async function ready(child: ChildProcess, said: () => string) {
  const deadline = Date.now() + 30_000
  while (!said().includes('@ready')) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(said())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
