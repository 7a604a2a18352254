import { describe, expect, test } from 'vitest'
import { defaultSettings, hasStack, startFacade } from '../support/facade.ts'
import { sandboxCallback, sandboxSignature } from '../support/money.ts'

const none = [
  '',
  ' ',
  'undefined',
  'null',
  'changeme',
  'fifteen-letters',
  '0'.repeat(32),
  'undefinedundefined',
  'changeme-changeme',
  'your-webhook-secret-here',
  '1234567890123456',
  'sk_test_xxxxxxxxxxxxxxxx',
]

async function answers(settings: Record<string, string>) {
  const facade = await startFacade(settings)
  try {
    const response = await fetch(`${facade.url}/health`)
    await response.text()
    return { status: response.status, said: facade.output() }
  } finally {
    await facade.stop()
  }
}

describe.runIf(hasStack)('PAY-03 a secret that is none', () => {
  test.each(none)('is not what webhooks are signed with: %j', async (value) => {
    const facade = await startFacade(
      {
        SANDBOX_SECRET: value,
        TAP_SECRET_KEY: value,
        MYFATOORAH_TOKEN: value,
        MYFATOORAH_WEBHOOK_SECRET: value,
        SMS_PROVIDER: 'twilio',
        SMS_ACCOUNT_SID: 'AC1',
        SMS_AUTH_TOKEN: value,
        SMS_SENDER: 'DAR',
        MAIL_PROVIDER: 'resend',
        MAIL_API_KEY: value,
        MAIL_FROM: 'a@example.com',
        FCM_SERVICE_ACCOUNT: JSON.stringify({
          project_id: 'p',
          client_email: 'a@example.com',
          private_key: value || 'null',
        }),
      },
      'api',
      'jobs',
    )
    try {
      const raw = sandboxCallback('sbx_unknown')
      // Signs with the weak secret, as an attacker who guesses it would. If it is blank, signs with `x`.
      const response = await fetch(`${facade.url}/payments/webhook/sandbox`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sandbox-signature': sandboxSignature(raw, value.trim() || 'x'),
        },
        body: raw,
      })
      expect(response.status).toBe(401)
      await response.text()
      const health = await (await fetch(`${facade.url}/health`)).json()
      expect(health).toMatchObject({ sms: 'mock', payments: 'off' })
      const said = facade.output()
      for (
        const name of [
          'SANDBOX_SECRET',
          'TAP_SECRET_KEY',
          'MYFATOORAH_TOKEN',
          'SMS_AUTH_TOKEN',
          'MAIL_API_KEY',
          'FCM_SERVICE_ACCOUNT',
        ]
      ) expect(said).toContain(`"alert":"secret_refused","subject":"${name}"`)
      if (value.length > 8) expect(said).not.toContain(value)
    } finally {
      await facade.stop()
    }
  })

  test.each(['CODE_SECRET', 'SEAL_KEY', 'SUPABASE_SECRET_KEYS', 'FACADE_DB_URL'])(
    'closes the function that needs it: %s',
    async (name) => {
      const weak: Record<string, (value: string) => string> = {
        CODE_SECRET: (value) => btoa(value.padEnd(32, '0').slice(0, 32)),
        SEAL_KEY: (value) => btoa(value.padEnd(32, '0').slice(0, 32)),
        SUPABASE_SECRET_KEYS: (value) => JSON.stringify({ default: value }),
        FACADE_DB_URL: (value) => {
          const url = new URL(defaultSettings().FACADE_DB_URL!)
          url.password = value
          return url.href
        },
      }
      for (const value of ['0'.repeat(32), 'changeme']) {
        const { status, said } = await answers({ [name]: weak[name]!(value) })
        expect(status, value).toBe(503)
        expect(said).toContain(`"alert":"secret_refused","subject":"${name}"`)
        expect(said).not.toContain(value)
      }
    },
  )
})
