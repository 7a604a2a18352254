// Runs code that imports the facade's modules in the facade's Deno, without a database.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { denoBinary, denoPackages } from '../../local/config/packages.ts'

export const moduleOf = (path: string) =>
  JSON.stringify(new URL(`../../functions/${path}`, import.meta.url).href)

export async function runFacadeCode(code: string): Promise<string> {
  const key = randomBytes(32).toString('base64')
  const { stdout } = await promisify(execFile)(
    denoBinary(),
    ['eval', '--no-remote', '--no-lock', ...denoPackages, code],
    {
      env: {
        ...process.env,
        SUPABASE_URL: 'http://127.0.0.1:9',
        SUPABASE_SECRET_KEYS: '{"default":"sb_secret_of_nobody_at_all"}',
        SUPABASE_PUBLISHABLE_KEYS: '{"default":"none"}',
        FACADE_DB_URL: 'postgres://facade:password-of-nobody@127.0.0.1:9/none',
        CODE_SECRET: key,
        SEAL_KEY: key,
        HTML_PAGES: 'true',
        DOCS_URL: 'http://127.0.0.1:9/docs/',
      },
    },
  )
  return stdout
}
