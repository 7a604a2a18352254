import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runDeploy, type Settings } from './support/run.ts'
import { startPlatform } from './support/management-api.ts'
import { type Platform } from './support/platform.ts'

let platform: Platform

beforeAll(async () => {
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
    [
      'with a short key',
      { CODE_SECRET: 'c2hvcnQ=' },
      'CODE_SECRET must be 32 bytes in base64; left out',
    ],
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
    [
      'a replica by another role',
      {
        FACADE_READ_DB_URL: `postgresql://postgres:${
          'a1b2c3d4'.repeat(4)
        }@db.example:5432/postgres`,
      },
      'FACADE_READ_DB_URL must be of the role facade',
    ],
    [
      'a replica without a password',
      {
        FACADE_READ_DB_URL:
          'postgresql://facade.abcdefghijklmnopqrst-rr-us-east-1-abcde@aws-0.pooler.supabase.com:6543/postgres',
      },
      'FACADE_READ_DB_URL must have a password',
    ],
  ])('%s', async (_, settings, why) => {
    expect(await refused(settings)).toContain(why)
  })

  const account = JSON.stringify({ project_id: 'x', client_email: 'x@x.example' })
  test.each<[what: string, settings: Settings, why: string]>([
    ['HTML_PAGES', { HTML_PAGES: 'yes' }, 'HTML_PAGES must be one of true, false'],
    ['RETURN_URLS', { RETURN_URLS: 'your.site/back' }, 'RETURN_URLS must be addresses with https'],
    ['one of RETURN_URLS', { RETURN_URLS: 'dar://,javascript:alert(1)' }, 'RETURN_URLS must be'],
    ['a way back in clear', { RETURN_URLS: 'http://your.site/' }, 'RETURN_URLS must begin with'],
    ['a slash', { CORS_ORIGINS: 'https://your.site/' }, 'CORS_ORIGINS must be origins'],
    ['any origin', { CORS_ORIGINS: '*' }, 'CORS_ORIGINS must be origins'],
    ['a usual port', { CORS_ORIGINS: 'https://your.site:443' }, 'CORS_ORIGINS must be origins'],
    ['an address', { DOCS_URL: 'docs.your.site' }, 'DOCS_URL must be an address'],
    [
      'listings in clear',
      { SHARE_URL: 'http://your.site/{refNo}' },
      'SHARE_URL must be an address',
    ],
    ['one listing', { SHARE_URL: 'https://your.site/p' }, 'SHARE_URL must be an address'],
    ['two', { SHARE_URL: 'https://your.site/{refNo}/{refNo}' }, 'SHARE_URL must be an address'],
    [
      'a host of its own',
      { SHARE_URL: 'https://{refNo}.your.site/' },
      'SHARE_URL must be an address',
    ],
    [
      'pictures without a width',
      { PICTURE_URL: 'https://img.your.site/{path}' },
      'PICTURE_URL must',
    ],
    ['twice', { PICTURE_URL: 'https://img.your.site/{w}/{w}/{path}' }, 'PICTURE_URL must be an'],
    [
      'pictures of a host',
      { PICTURE_URL: 'https://{w}.your.site/{path}' },
      'PICTURE_URL must be an',
    ],
    ['pictures in clear', { PICTURE_URL: 'http://your.site/{w}/{path}' }, 'PICTURE_URL must be an'],
    ['an app', { SMS_ANDROID_HASH: 'FA+9qCX9VS' }, 'SMS_ANDROID_HASH must be the 11 characters'],
    [
      'a site',
      { SMS_AUTOFILL_DOMAIN: 'https://your.site' },
      'SMS_AUTOFILL_DOMAIN must be a domain',
    ],
    [
      'a domain with which a code takes two SMS',
      { SMS_AUTOFILL_DOMAIN: 'a-long-market.kuwait.example'.slice(-26) },
      'SMS_AUTOFILL_DOMAIN must be a domain as your.site, without https://, of at most 25',
    ],
    ['an API in clear', { API_URL: 'http://your.site/api' }, 'API_URL must begin with https://'],
    ['an API here', { API_URL: 'https://localhost/api' }, 'API_URL must begin with https://'],
    [
      'unsigned alarms',
      { ALARM_WEBHOOK: 'https://alarms.example/hook?key=Xk3Pq9ZtLm2Rv8Bn' },
      'set ALARM_WEBHOOK_SECRET too',
    ],
    [
      'alarms in clear',
      { ALARM_WEBHOOK: 'http://alarms.example/Xk3Pq9ZtLm2R', ALARM_WEBHOOK_FORMAT: 'slack' },
      'ALARM_WEBHOOK must begin with https://',
    ],
    [
      'a secret of alarms of another form',
      { ALARM_WEBHOOK_SECRET: 'Xk3Pq9ZtLm2Rv8Bn' },
      'ALARM_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in base64',
    ],
    ['a number', { READ_RATE: 'many' }, 'READ_RATE must be a whole number, 0 or more'],
    ['a pool of none', { FACADE_DB_POOL: '0' }, 'FACADE_DB_POOL must be a whole number, 1 or'],
    ['a sender', { MAIL_FROM: 'codes at your.site' }, 'MAIL_FROM must be an address'],
    ['client ids', { GOOGLE_CLIENT_IDS: 'a; b' }, 'GOOGLE_CLIENT_IDS must be ids'],
    ['the file of an account', { FCM_SERVICE_ACCOUNT: './keys/firebase.json' }, 'is the path of a'],
    ['half an account', { FCM_SERVICE_ACCOUNT: account }, 'FCM_SERVICE_ACCOUNT must be the JSON'],
    [
      'the file of a key',
      { APPLE_PRIVATE_KEY: '/home/me/AuthKey_ABC.p8' },
      'is the path of a file',
    ],
    [
      'the file of a secret',
      { TAP_SECRET_KEY: '/home/me/secrets/tap-live' },
      'is the path of a file',
    ],
    ['the file of certificates', { DATABASE_CA: 'prod-ca-2021.crt' }, 'is the path of a file'],
    ['no SMS', { ALLOW_NO_SMS: '' }, 'No SMS can be sent'],
    [
      'half of SMS',
      { SMS_PROVIDER: 'kwtsms', SMS_SENDER: 'Dar' },
      'set SMS_USERNAME, SMS_PASSWORD',
    ],
    ['the sandbox', { PAYMENT_PROVIDER: 'sandbox' }, 'which production has not'],
    ['a test key', { TAP_SECRET_KEY: `sk_test_${'Xk3Pq9Zt'}` }, 'TAP_SECRET_KEY is a test key'],
    [
      'MyFatoorah for tests',
      { MYFATOORAH_TOKEN: 'rLtt6JWvbUHDDhsZnfpA', MYFATOORAH_WEBHOOK_SECRET: 'Xk3Pq9ZtLm2Rv8Bn' },
      'MYFATOORAH_MODE is test',
    ],
    [
      'nowhere to come back to',
      { PAYMENT_PROVIDER: 'tap', TAP_SECRET_KEY: 'sk_live_Xk3Pq9Zt' },
      'set RETURN_URLS too',
    ],
    ['a typo in a name', { CORS_ORIGIN: 'https://your.site' }, 'is it CORS_ORIGINS?'],
    ['swapped letters', { SMS_PROIVDER: 'twilio' }, 'is it SMS_PROVIDER?'],
  ])('with a wrong value, never shown: %s', async (_, settings, why) => {
    const output = await refused(settings, '--check')
    expect(output).toContain(why)
    for (const value of Object.values(settings)) {
      if (value && value.length > 9) expect(output).not.toContain(value)
    }
  })

  test('with names in deploy.env that nothing reads', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deploy-env-'))
    const file = join(folder, 'deploy.env')
    writeFileSync(
      file,
      'FIREBASE_JSON={}\nTAP_URL=https://x.example\nENVIRONMENT=staging\nPORT=1\n',
    )
    try {
      const output = await refused({}, `--env-file-if-exists=${file}`)
      expect(output).toContain('Nothing reads FIREBASE_JSON.')
      for (const name of ['TAP_URL', 'PORT']) {
        expect(output).toContain(`${name} is not for a hosted project`)
      }
      expect(output).toContain('ENVIRONMENT is always production')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test.each<[what: string, stored: [string, string], why: string]>([
    ['a stand-in', ['SMS_URL', 'https://x.example'], 'SMS_URL, which is for tests'],
    ['a wrong word', ['HTML_PAGES', 'yes'], 'HTML_PAGES of the project must be one of'],
    ['half a provider', ['SMS_PROVIDER', 'unifonic'], 'SMS_PROVIDER is unifonic: set SMS_APP_SID'],
  ])('to a project that keeps %s', async (_, [name, value], why) => {
    platform.secrets.set(name, value)
    try {
      expect(await refused({})).toContain(why)
    } finally {
      platform.secrets.delete(name)
    }
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
    ['of another Postgres', () => {
      platform.postgres = '15'
      return () => (platform.postgres = '17')
    }, 'The project has Postgres 15: it must be 17'],
    ['at an address of another one', () => {
      platform.isOwn = false
      return () => (platform.isOwn = true)
    }, 'is not this project'],
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
})
