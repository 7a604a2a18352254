import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { denoBinary, denoPackages } from '../../local/config/packages.ts'
import { hasStack, startFacade } from '../support/facade.ts'

const settings: Record<string, string> = {
  SUPABASE_URL: 'http://127.0.0.1:9',
  SUPABASE_SECRET_KEYS: '{"default":"value-of-the-secret-key"}',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"value-of-a-key"}',
  FACADE_DB_URL: 'postgres://facade:value-of-its-password@127.0.0.1:9/postgres',
  CODE_SECRET: randomBytes(32).toString('base64'),
  SEAL_KEY: randomBytes(32).toString('base64'),
}

/**
 * Starts functions with these settings and returns their error output, which is
 * empty if all settings are valid.
 */
function read(given: Record<string, string | undefined>): Promise<string> {
  const module = new URL('../../functions/_shared/settings/env.ts', import.meta.url).href
  const args = ['eval', '--no-lock', ...denoPackages, `await import(${JSON.stringify(module)})`]
  const cwd = fileURLToPath(new URL('../../functions', import.meta.url))
  const { PATH, HOME, DENO_DIR } = process.env
  const env = { PATH, HOME, DENO_DIR, NO_COLOR: '1', ...settings, ...given }
  return new Promise((resolve) => {
    execFile(denoBinary(), args, { cwd, env }, (error, _, stderr) => resolve(error ? stderr : ''))
  })
}

describe('OPS-02 missing settings', () => {
  test('with all of them the functions start', async () => {
    expect(await read({})).toBe('')
  })

  test.concurrent.each(Object.keys(settings))('without %s they name it', async (name) => {
    for (const value of [undefined, '']) {
      expect(await read({ [name]: value })).toMatch(`The setting ${name} `)
    }
  })

  test.concurrent.each([
    ['SUPABASE_URL', 'value of it'],
    ['SUPABASE_SECRET_KEYS', 'value-of-it'],
    ['SUPABASE_SECRET_KEYS', '{}'],
    ['SUPABASE_PUBLISHABLE_KEYS', '[""]'],
    ['FACADE_DB_URL', 'value-of-it'],
    ['FACADE_DB_URL', 'http://value-of-it'],
    ['FACADE_DB_URL', `${settings.FACADE_DB_URL}?sslmode=disable`],
    ['FACADE_DB_URL', `${settings.FACADE_DB_URL}?sslmode=prefer`],
    [
      'FACADE_DB_URL',
      settings.FACADE_DB_URL!.replace('127.0.0.1:9', 'db.example.com?ssl=no-verify'),
    ],
    ['FACADE_DB_URL', settings.FACADE_DB_URL!.replace('facade', 'postgres')],
    ['DATABASE_CA', 'value-of-it'],
    ['FACADE_DB_POOL', '0'],
    ['FACADE_DB_POOL', 'value-of-it'],
    ['CODE_SECRET', 'value-of-it'],
    ['CODE_SECRET', 'dmFsdWUtb2YtaXQ='],
    ['SEAL_KEY', 'value of it!'],
    ['CLIENT_IP_HOPS', '0'],
    ['READ_RATE', '-1'],
    ['REFUSAL_RATE', 'many'],
    ['ENVIRONMENT', 'Production'],
    ['HTML_PAGES', 'yes'],
  ])('with a wrong %s (%s) they name it and not its value', async (name, value) => {
    const said = await read({ [name]: value })
    expect(said).toMatch(new RegExp(`The setting ${name} must `))
    expect(said).not.toContain('value-of')
  })

  test.runIf(hasStack)('a facade that lacks one answers 503 and its log names it', async () => {
    const facade = await startFacade({ CODE_SECRET: undefined })
    const { status } = await fetch(`${facade.url}/health`)
    expect(status).toBe(503)
    expect(facade.output()).toContain('The setting CODE_SECRET is missing')
    await facade.stop()
  })
})
