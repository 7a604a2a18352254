import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Times } from '../../functions/chat/server/times.ts'
import type { Program } from '../processes/launch.ts'
import { denoBinary, denoPackages } from '../config/packages.ts'
import { root } from '../config/settings.ts'
import type { Stack } from '../config/stack.ts'

type Options = {
  name: string
  port: number
  functions: Stack['config']['functions']
  settings: Record<string, string | undefined>
}

export function functionsProgram(stack: Stack, options: Options): Program {
  const { port, functions } = options
  return denoProgram(stack, { port, functions }, options)
}

/** Describes the process of a worker. It runs one function, and chooses and reports its own port. */
export function workerProgram(
  stack: Stack,
  { fn, settings }: { fn: Options['functions'][number]; settings: Options['settings'] },
): Program {
  const options = { port: 0, functions: [fn], worker: true }
  return denoProgram(stack, options, { name: 'functions', settings })
}

export function chatProgram(
  { dataDir }: Stack,
  { name, port, settings, times = {} }: Omit<Options, 'functions'> & { times?: Partial<Times> },
): Program {
  return {
    name,
    command: process.execPath,
    args: [
      fileURLToPath(new URL('./chat.ts', import.meta.url)),
      String(port),
      JSON.stringify(times),
    ],
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      NODE_COMPILE_CACHE: join(dataDir, 'node'),
      ...settings,
    },
    dataDir,
  }
}

/** Returns a Deno program that may only read the code and the examples, and use network and environment. */
function denoProgram(
  { dataDir }: Stack,
  options: object,
  { name, settings }: Pick<Options, 'name' | 'settings'>,
): Program {
  const reads = ['functions', 'local', 'node_modules', 'docs/examples.json']
    .map((name) => join(root, name))
  return {
    name,
    command: denoBinary(),
    args: [
      'run',
      '--quiet',
      '--no-prompt',
      '--no-remote',
      '--no-lock',
      ...denoPackages,
      '--allow-net',
      '--allow-env',
      `--allow-read=${reads.join(',')}`,
      fileURLToPath(new URL('./main.ts', import.meta.url)),
      JSON.stringify({ ...options, patience: Number(settings.PATIENCE || 1) }),
    ],
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      DENO_DIR: join(dataDir, 'deno'),
      DENO_NO_UPDATE_CHECK: '1',
      ...settings,
    },
    dataDir,
  }
}
