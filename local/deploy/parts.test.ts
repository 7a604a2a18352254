import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfig, configText, withoutDeferred } from './config-file.ts'
import { measureHops, runJobs, verifyCaptcha, verifyDoors } from './live-checks.ts'
import { openManagement } from './management.ts'
import { assertSettings, setByApi, settings } from './settings.ts'
import { publishableKey, secretKey, startPlatform, token } from './support/management-api.ts'
import { type Platform, ref } from './support/platform.ts'

let platform: Platform

beforeAll(async () => {
  const url = 'postgresql://nobody@127.0.0.1:1/postgres'
  platform = await startPlatform({ url, adminUrl: url })
})

afterAll(() => platform.stop())

describe('supabase/config.toml', () => {
  const problems = (from: string | RegExp, to: string, env: NodeJS.ProcessEnv = {}) => {
    const text = configText().replace(from, to)
    expect(text).not.toBe(configText())
    return checkConfig(text, env).problems
  }

  test('is valid as it is', () => {
    expect(checkConfig(configText(), {}).problems).toEqual([])
  })

  test.each([
    ['[auth.captcha]\nenabled = true', '[auth.captcha]\nenabled = false', 'auth.captcha.enabled'],
    ['require_current_password = true', '', 'auth.email.require_current_password'],
    [
      '[auth.mfa.totp]\nenroll_enabled = false',
      '[auth.mfa.totp]\n',
      'auth.mfa.totp.enroll_enabled',
    ],
    ['[auth.oauth_server]\nenabled = false', '[auth.oauth_server]\nenabled = true', 'oauth_server'],
    [
      '[db.ssl_enforcement]\nenabled = true',
      '[db.ssl_enforcement]\n',
      'db.ssl_enforcement.enabled',
    ],
    ['[storage.image_transformation]\nenabled = false', '', 'storage.image_transformation'],
    ['token_refresh = 32767', 'token_refresh = 150', 'auth.rate_limit.token_refresh'],
    ['schemas = ["api"]', 'schemas = ["api", "public"]', 'api.schemas'],
    [
      'private/custom_access_token',
      'public/custom_access_token',
      'auth.hook.custom_access_token.uri',
    ],
    [/verify_jwt = false/, 'verify_jwt = true', 'verify_jwt must be false'],
    ['[auth]\n', '[auth]\nsite_url = "http://127.0.0.1:3000"\n', 'auth.site_url'],
  ])('may not say otherwise: %s', (from, to, why) => {
    expect(problems(from, to).join('\n')).toContain(why)
  })

  test('names no unset variable, except where a section is disabled', () => {
    const on = '[auth.external.google]\nenabled = true'
    const off = '[auth.external.google]\nenabled = false'
    expect(problems(off, on)).toEqual([
      'supabase/config.toml: env(GOOGLE_CLIENT_IDS) stands in an enabled section, and ' +
      'GOOGLE_CLIENT_IDS is not set.',
    ])
    expect(problems(off, on, { GOOGLE_CLIENT_IDS: 'a,b' })).toEqual([])
  })

  test('is pushed without the rate of tokens until the captcha is verified', () => {
    const early = withoutDeferred(configText())
    expect(configText().replace('token_refresh = 32767\n', '')).toBe(early)
  })
})

describe('what config.toml cannot hold', () => {
  const own = settings.filter(({ file }) => !file)
  const management = () => openManagement(platform.url, ref, token)

  test('is set, and read back', async () => {
    expect(await setByApi(management(), own)).toEqual([])
    await assertSettings(management(), own)
    platform.sent.length = 0
    await setByApi(management(), own)
    expect(platform.sent).toEqual([])
  })

  test('test numbers with fixed codes are taken away', async () => {
    platform.auth.sms_test_otp = '96550000000=123456'
    expect(await setByApi(management(), own)).toEqual([])
    expect(platform.auth.sms_test_otp).toBe('')
  })

  test('is reported, with what to do, where the platform does not store it', async () => {
    platform.auth.audit_log_disable_postgres = false
    platform.forgets.add('audit_log_disable_postgres')
    try {
      await setByApi(management(), own)
      await expect(assertSettings(management(), own)).rejects.toThrow(
        /audit_log_disable_postgres is not true.*\n.*dashboard/,
      )
    } finally {
      platform.forgets.clear()
    }
  })

  test('is set even if the platform refuses another setting', async () => {
    await setByApi(management(), own)
    platform.auth.security_sb_forwarded_for_enabled = false
    platform.auth.audit_log_disable_postgres = false
    platform.realtime.private_only = false
    platform.fails = (method, path) =>
      method === 'PATCH' && path === '/config/auth' ? 400 : undefined
    try {
      const refused = await setByApi(management(), own)
      expect(refused.every((why) => why.startsWith('PATCH /config/auth: 400'))).toBe(true)
      expect(refused).toHaveLength(2)
      expect(platform.realtime.private_only).toBe(true)
      await expect(assertSettings(management(), own, refused)).rejects.toThrow(refused[0])
    } finally {
      platform.fails = () => undefined
    }
  })
})

describe('the Management API', () => {
  const management = () => openManagement(platform.url, ref, token)

  test.each([429, 503])('is called again after a %i', async (status) => {
    let left = 1
    platform.fails = () => left-- > 0 ? status : undefined
    expect(await management().get('')).toMatchObject({ ref })
    platform.fails = () => undefined
  })

  test('gets no write twice, except after a 429', async () => {
    let requests = 0
    platform.fails = () => (requests++, 503)
    const send = management().send('POST', '/secrets', [{ name: 'A', value: 'the-value-of-it' }])
    await expect(send).rejects.toThrow(/^POST \/secrets: 503$/)
    expect(requests).toBe(1)
    platform.fails = () => undefined
  })
})

describe('checks of the running project', () => {
  const url = () => `${platform.url}/functions/v1/jobs/address`
  const under = async <T>(forwarded: Platform['forwarded'], work: () => Promise<T>) => {
    const before = platform.forwarded
    platform.forwarded = forwarded
    platform.functions.set('jobs', { version: 1, verifyJwt: false, files: [] })
    try {
      return await work()
    } finally {
      platform.forwarded = before
    }
  }
  const client = '198.51.100.7'

  test.each<[what: string, forwarded: Platform['forwarded'], hops: number]>([
    ['overwrites what callers send', () => client, 1],
    ['adds the caller', (sent) => [sent, client].filter(Boolean).join(', '), 1],
    [
      'adds the caller and a proxy',
      (sent) => [sent, client, '10.0.0.3'].filter(Boolean).join(','),
      2,
    ],
    [
      'adds the caller twice and a proxy',
      (sent) => [sent, client, client, '10.0.0.3'].filter(Boolean).join(', '),
      2,
    ],
    [
      'adds a proxy that changes',
      (sent) =>
        [sent, client, `10.0.0.${Math.ceil(Math.random() * 250)}`].filter(Boolean).join(', '),
      2,
    ],
  ])('a platform that %s is measured', async (_, forwarded, hops) => {
    expect(await under(forwarded, () => measureHops(url(), secretKey))).toBe(hops)
  })

  test('reject a platform that trusts the headers of its callers', async () => {
    await expect(under((sent) => sent ?? client, () => measureHops(url(), secretKey)))
      .rejects.toThrow('No entry of X-Forwarded-For is the caller')
  })

  test.each([1, 3])(
    'a value by which a caller could lie or all are one is refused: %i',
    async (hops) => {
      const two: Platform['forwarded'] = (sent) =>
        [sent, client, '10.0.0.3'].filter(Boolean).join(', ')
      await expect(under(two, () => measureHops(url(), secretKey, hops)))
        .rejects.toThrow(`CLIENT_IP_HOPS=${hops}`)
      expect(await under(two, () => measureHops(url(), secretKey, 2))).toBe(2)
    },
  )

  test('name the jobs that fail', async () => {
    platform.functions.set('jobs', { version: 1, verifyJwt: false, files: [] })
    const jobs = `${platform.url}/functions/v1/jobs`
    expect(await runJobs(jobs, secretKey)).toBe(2)
    await expect(runJobs(jobs, publishableKey)).rejects.toThrow('answered 401')
    platform.jobs = { keep_decoy: { done: 1 }, expire_listings: { error: 'no' } }
    await expect(runJobs(jobs, secretKey)).rejects.toThrow('Failed: expire_listings.')
  })

  test('name the doors of Auth that are open', async () => {
    platform.functions.set('jobs', { version: 1, verifyJwt: false, files: [] })
    const doors = `${platform.url}/functions/v1/jobs/doors`
    await verifyDoors(doors, secretKey)
    platform.openDoors = ['password', 'email']
    await expect(verifyDoors(doors, secretKey)).rejects.toThrow('Auth changes password, email for')
  })

  test('wait for a captcha that takes effect later, and fail without one', async () => {
    platform.auth.security_captcha_enabled = true
    platform.lag = 2
    await verifyCaptcha(platform.url, publishableKey, 5000)
    expect(platform.lag).toBeLessThan(0)
    platform.lag = 1000
    await expect(verifyCaptcha(platform.url, publishableKey, 300))
      .rejects.toThrow('answered with 400 invalid_credentials')
    platform.lag = 0
  })
})
