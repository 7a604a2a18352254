import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from './children.ts'
import { denoBinary } from './packages.ts'
import { root } from './settings.ts'
import type { Stack } from './stack.ts'

type Choice = {
  name: string
  port: number
  functions: Stack['config']['functions']
  settings: Record<string, string | undefined>
}

/** The process that runs the edge functions. Tests start further ones with settings of their own. */
export function functionsProgram(
  { dataDir }: Stack,
  { name, port, functions, settings }: Choice,
): Program {
  const reads = ['functions', 'local', 'node_modules'].map((name) => join(root, name))
  return {
    name,
    command: denoBinary(),
    args: [
      'run',
      '--quiet',
      '--no-prompt',
      '--no-remote',
      '--no-lock',
      '--config',
      join(root, 'functions', 'deno.json'),
      '--allow-net',
      '--allow-env',
      `--allow-read=${reads.join(',')}`,
      fileURLToPath(new URL('./functions.ts', import.meta.url)),
      JSON.stringify({ port, functions }),
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
