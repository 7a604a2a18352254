// functions/deno.lock goes up with every function: a bundler takes the packages from it that
// package-lock.json has here. `npm run functions:lock` writes it.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readConfig } from '../stack/config.ts'
import { denoBinary } from '../stack/packages.ts'
import { root } from '../stack/settings.ts'

export const lockFile = join(root, 'functions', 'deno.lock')

/** Deno with nothing but that folder: a cache of its own, and one registry to fill it from. */
export async function runDeno(
  folder: string,
  registry: string,
  args: string[],
  settings: Record<string, string> = {},
) {
  const { PATH, HOME } = process.env
  const env = {
    PATH,
    HOME,
    DENO_DIR: join(folder, '.deno'),
    NPM_CONFIG_REGISTRY: registry,
    DENO_NO_UPDATE_CHECK: '1',
    NO_COLOR: '1',
    ...settings,
  }
  return await promisify(execFile)(denoBinary(), args, { cwd: folder, env })
}

/** The lock file that Deno writes for the functions when it has none. */
export async function generateLock(registry: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'functions-'))
  try {
    const functions = join(folder, 'functions')
    cpSync(join(root, 'functions'), functions, {
      recursive: true,
      filter: (path) => path !== lockFile,
    })
    const entrypoints = readConfig({}).functions
      .map(({ entrypoint }) => fileURLToPath(entrypoint).replace(root, ''))
    await runDeno(folder, registry, ['cache', '--config', 'functions/deno.json', ...entrypoints])
    return readFileSync(join(functions, 'deno.lock'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}
