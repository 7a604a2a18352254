import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlatform, token } from '../deploy/support/management-api.ts'
import { ref, type Upload } from '../deploy/support/platform.ts'
import { generateLock, lockFile, runDeno } from './lock.ts'
import { openRegistry } from './registry.ts'
import { readConfig } from '../config/config-toml.ts'
import { root } from '../config/settings.ts'
import { onceMore } from '../../test/suite/repetitions.ts'

const names = readConfig({}).functions.map(({ name }) => name)
const folders: string[] = []
const folder = () => {
  folders.push(mkdtempSync(join(tmpdir(), 'upload-')))
  return folders.at(-1)!
}

async function uploads(): Promise<Map<string, Upload>> {
  // This test needs no database, so nothing listens at this address.
  const url = 'postgresql://nobody@127.0.0.1:1/postgres'
  const platform = await startPlatform({ url, adminUrl: url })
  const home = folder()
  const profile = join(home, 'profile.yaml')
  const lines = {
    name: 'own',
    api_url: platform.url,
    dashboard_url: platform.url,
    project_host: 'localhost',
  }
  writeFileSync(profile, Object.entries(lines).map(([key, value]) => `${key}: ${value}\n`).join(''))
  try {
    const cli = join(root, 'node_modules', 'supabase', 'dist', 'supabase.js')
    const args = ['functions', 'deploy', '--use-api', `--remote=${ref}`, '--yes']
    await promisify(execFile)(process.execPath, [cli, ...args], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        SUPABASE_PROFILE: profile,
        SUPABASE_ACCESS_TOKEN: token,
        SUPABASE_TELEMETRY_DISABLED: '1',
        DO_NOT_TRACK: '1',
      },
    })
  } finally {
    await platform.stop()
  }
  return platform.uploads
}

// Loads a function as a worker does, and prints a line when the function registers its handler.
const starter = (entrypoint: string) => `
  Object.defineProperty(Deno, 'serve', { value: () => console.log('it serves') })
  await import('./${entrypoint}')
  Deno.exit()`

const settings = {
  SUPABASE_URL: 'http://127.0.0.1:9',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_of_nobody_at_all"}',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"none"}',
  FACADE_DB_URL: 'postgres://facade:password-of-nobody@127.0.0.1:9/none',
  CODE_SECRET: randomBytes(32).toString('base64'),
  SEAL_KEY: randomBytes(32).toString('base64'),
}

describe('the upload of a function', () => {
  let sent: Map<string, Upload>
  let registry: Awaited<ReturnType<typeof openRegistry>>
  beforeAll(async () => {
    ;[sent, registry] = await Promise.all([
      uploads(),
      onceMore('packages from the registry', openRegistry),
    ])
  })
  afterAll(() => {
    registry.close()
    for (const each of folders) rmSync(each, { recursive: true })
  })

  test('happens for every function of config.toml', () => {
    expect([...sent.keys()].sort()).toEqual(names.toSorted())
  })

  test.each(names)('of %s has all that it needs to start in an empty folder', async (name) => {
    const { entrypoint, files } = sent.get(name)!
    const directory = folder()
    for (const [path, content] of files) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), content)
    }
    writeFileSync(join(directory, 'start.ts'), starter(entrypoint))
    const { stdout } = await runDeno(directory, registry.url, [
      'run',
      '--frozen',
      '--allow-all',
      '--config',
      'functions/deno.json',
      'start.ts',
    ], settings)
    expect(stdout.trim()).toBe('it serves')
  })

  test('of api includes the examples of its description', () => {
    const file = readFileSync(join(root, 'docs/examples.json'))
    expect(sent.get('api')!.files.get('docs/examples.json')).toEqual(file)
  })

  test('includes the lock file as this version of Deno writes it', async () => {
    const lock = readFileSync(lockFile)
    for (const { files } of sent.values()) expect(files.get('functions/deno.lock')).toEqual(lock)
    expect(lock.toString()).toBe(await generateLock(registry.url))
  })
})
