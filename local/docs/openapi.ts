// Gets the API descriptions from functions/api itself, without a running service.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { variable } from '../config/environment.ts'
import { denoBinary, denoPackages } from '../config/packages.ts'
import { root } from '../config/settings.ts'

// The functions do not start without these settings. Nothing connects to the addresses.
const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString('base64')
const settings = {
  SUPABASE_URL: variable('SUPABASE_URL') ?? 'http://127.0.0.1:54321',
  SUPABASE_SECRET_KEYS: '{"default":"for-the-description-only"}',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"for-the-description-only"}',
  FACADE_DB_URL: 'postgresql://facade:for-the-description-only@127.0.0.1:54322/postgres',
  CODE_SECRET: key,
  SEAL_KEY: key,
  ENVIRONMENT: 'local',
}

const api = pathToFileURL(join(root, 'functions/api'))

/** Returns the last line that a Deno program prints. Its imports from functions/api begin with `api:`. */
export function evaluate(program: string, ...args: string[]): string {
  const code = `${program.replaceAll("'api:", `'${api}/`)}\nDeno.exit()`
  const deno = ['eval', '--no-lock', ...denoPackages, code, ...args]
  const options = { env: { ...process.env, ...settings }, maxBuffer: 64 * 1024 * 1024 }
  // Log lines of requests come before it.
  return execFileSync(denoBinary(), deno, options).toString().trim().split('\n').at(-1)!
}

export const describe = (path = '/openapi.json') =>
  evaluate(
    `const { app } = await import('api:app.ts')
    console.log(await (await app.request(Deno.args[0])).text())`,
    path,
  )
