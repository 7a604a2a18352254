/** Which payment providers are configured, and which of them takes new charges. */
import { env } from '../api/env.ts'
import { myfatoorah } from './myfatoorah.ts'
import type { Provider } from './provider.ts'
import { sandbox } from './sandbox.ts'
import { tap } from './tap.ts'

export const setting = (name: string) => Deno.env.get(name)?.trim() || undefined

/** Where providers call us. */
const webhookUrl = (name: string) => `${env.apiUrl}/payments/webhook/${name}`

const filled = (...values: (string | undefined)[]) =>
  values.filter((value): value is string => value !== undefined)

function configuredTap(): Provider | undefined {
  const keys = filled(setting('TAP_SECRET_KEY'), setting('TAP_SECRET_KEY_OLD'))
  return setting('TAP_SECRET_KEY')
    ? tap({
      url: setting('TAP_URL') ?? 'https://api.tap.company/v2',
      keys,
      source: setting('TAP_SOURCE') ?? 'src_all',
      callbackUrl: webhookUrl('tap'),
    })
    : undefined
}

function configuredMyFatoorah(): Provider | undefined {
  const token = setting('MYFATOORAH_TOKEN')
  const secret = setting('MYFATOORAH_WEBHOOK_SECRET')
  if (!token || !secret) return undefined
  const mode = setting('MYFATOORAH_MODE') === 'live' ? 'live' : 'test'
  return myfatoorah({
    url: setting('MYFATOORAH_URL') ??
      `https://${mode === 'live' ? 'api' : 'apitest'}.myfatoorah.com`,
    mode,
    token,
    secrets: filled(secret, setting('MYFATOORAH_WEBHOOK_SECRET_OLD')),
  })
}

/** The sandbox does not exist in production, whatever is set. */
function configuredSandbox(): Provider | undefined {
  const secret = setting('SANDBOX_SECRET')
  return secret && !env.production ? sandbox({ url: env.apiUrl, secret }) : undefined
}

/** All that are configured: their webhooks are taken also when another one takes new charges. */
export const providers: Provider[] = [configuredTap(), configuredMyFatoorah(), configuredSandbox()]
  .filter((provider) => provider !== undefined)

export const providerNamed = (name: string) => providers.find((one) => one.name === name)

function chosen(): Provider | undefined {
  const wanted = setting('PAYMENT_PROVIDER')
  if (!wanted) return undefined
  if (!['tap', 'myfatoorah', 'sandbox'].includes(wanted)) {
    throw new Error('The setting PAYMENT_PROVIDER must be one of tap, myfatoorah, sandbox.')
  }
  const provider = providerNamed(wanted)
  if (!provider) {
    console.error(JSON.stringify({ alert: 'provider_not_configured', provider: wanted }))
  }
  return provider
}

/** Who takes new charges; undefined where nobody does. */
export const provider = chosen()

/** For /health. */
export const paymentState = !provider ? 'off' : provider.mode === 'live' ? 'live' : 'sandbox'
