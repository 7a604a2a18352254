/** What npm run deploy refuses before it sends anything. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runDeploy, type Settings } from './support/run.ts'
import { startPlatform } from './support/management-api.ts'
import { type Platform } from './support/platform.ts'

let platform: Platform

beforeAll(async () => {
  // It never comes to the database.
  const url = 'postgresql://nobody@127.0.0.1:1/postgres'
  platform = await startPlatform({ url, adminUrl: url })
})

afterAll(() => platform.stop())

describe('nothing is sent', () => {
  const refused = async (settings: Settings, ...flags: string[]) => {
    const { code, output } = await runDeploy(platform, settings, ...flags)
    expect(code).toBe(1)
    expect(output).toContain('Nothing was sent.')
    expect(platform.sent).toEqual([])
    return output
  }

  test.each<[what: string, settings: Settings, why: string]>([
    ['without a token', { SUPABASE_ACCESS_TOKEN: '' }, 'Set SUPABASE_ACCESS_TOKEN'],
    ['without a project', { SUPABASE_PROJECT_ID: '' }, 'Set SUPABASE_PROJECT_ID'],
    ['to what is no project', { SUPABASE_PROJECT_ID: 'https://x.supabase.co' }, '20 letters'],
    ['in clear', { SUPABASE_URL: 'http://api.example.com' }, 'must begin with https://'],
    ['to a site on this machine', { SITE_URL: 'http://localhost:3000' }, 'SITE_URL must be'],
    [
      'with a placeholder',
      { TAP_SECRET_KEY: 'changeme-changeme' },
      'TAP_SECRET_KEY is a placeholder',
    ],
    ['with a token that is none', { SUPABASE_ACCESS_TOKEN: 'your-token-here' }, 'is a placeholder'],
    [
      'with a password that is none',
      { SUPABASE_DB_PASSWORD: 'password-password' },
      'SUPABASE_DB_PASSWORD is a placeholder',
    ],
    [
      'by a way that anybody could go',
      { FACADE_DB_URL: 'postgresql://facade:changeme@db.example/x' },
      'FACADE_DB_URL must have a password',
    ],
    ['with a short key', { CODE_SECRET: 'c2hvcnQ=' }, 'CODE_SECRET must be 32 random bytes'],
    ['to nobody who sends', { SMS_PROVIDER: 'pigeon' }, 'SMS_PROVIDER must be one of'],
    ['to half a provider', { MAIL_PROVIDER: 'resend' }, 'set MAIL_API_KEY, MAIL_FROM too'],
    ['for Google switched off', { GOOGLE_CLIENT_IDS: 'a,b' }, 'auth.external.google.enabled'],
    ['with an odd CLIENT_IP_HOPS', { CLIENT_IP_HOPS: '0' }, 'CLIENT_IP_HOPS must be'],
    [
      'by an unverified way',
      { FACADE_DB_URL: 'postgresql://facade:0123456789abcdefgh@db.example/x?sslmode=no-verify' },
      'FACADE_DB_URL must not ask',
    ],
    [
      'of another role',
      { FACADE_DB_URL: 'postgresql://postgres:x@a.pooler.supabase.com:6543/x' },
      'facade',
    ],
  ])('%s', async (_, settings, why) => {
    expect(await refused(settings)).toContain(why)
  })

  test('with an unknown flag', async () => {
    expect(await refused({}, '--chek')).toContain('There is no --chek')
  })

  test.each<[what: string, change: () => () => void, why: string]>([
    ['that signs by a shared secret', () => {
      const before = platform.signing
      platform.signing = [{ id: 'a', algorithm: 'HS256', status: 'in_use' }]
      return () => (platform.signing = before)
    }, 'signs its tokens with HS256'],
    ['that has only the old keys', () => {
      const before = platform.keys
      platform.keys = before.filter(({ type }) => type === 'legacy')
      return () => (platform.keys = before)
    }, 'no new API keys'],
    ['that sleeps', () => {
      platform.status = 'INACTIVE'
      return () => (platform.status = 'ACTIVE_HEALTHY')
    }, 'The project is INACTIVE'],
    ['whose Auth leads to this machine', () => {
      const before = platform.auth.site_url
      platform.auth.site_url = 'http://localhost:3000'
      return () => (platform.auth.site_url = before)
    }, 'set SITE_URL'],
  ])('to a project %s', async (_, change, why) => {
    const back = change()
    try {
      expect(await refused({ SITE_URL: '' })).toContain(why)
    } finally {
      back()
    }
  })

  test('with --check, which reports what would change', async () => {
    const { code, output } = await runDeploy(platform, {}, '--check')
    expect(output).toContain('checked')
    expect(output).toMatch(/would become[^]*auth security_captcha_enabled: true/)
    expect(code).toBe(0)
    expect(platform.sent).toEqual([])
  })
})
