// functions/deno.lock is uploaded with every function, so that the hosted bundler installs the versions in
// package-lock.json. `npm run functions:lock` writes it.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readConfig } from '../config/config-toml.ts'
import { denoBinary } from '../config/packages.ts'
import { root } from '../config/settings.ts'

export const lockFile = join(root, 'functions', 'deno.lock')

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
