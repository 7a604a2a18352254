import { alarm } from '../_shared/errors/alarms.ts'
import { env } from '../_shared/settings/env.ts'
import { secret, setting } from '../_shared/settings/read-setting.ts'
import { myfatoorah } from './myfatoorah.ts'
import type { Provider } from './provider.ts'
import { sandbox } from './sandbox.ts'
import { tap } from './tap.ts'

const webhookUrl = (name: string) => `${env.apiUrl}/payments/webhook/${name}`

const filled = (...values: (string | undefined)[]) =>
  values.filter((value): value is string => value !== undefined)

function configuredTap(): Provider | undefined {
  const key = secret('TAP_SECRET_KEY')
  return key
    ? tap({
      url: setting('TAP_URL') ?? 'https://api.tap.company/v2',
      keys: filled(key, secret('TAP_SECRET_KEY_OLD')),
      source: setting('TAP_SOURCE')!,
      callbackUrl: webhookUrl('tap'),
    })
    : undefined
}

function configuredMyFatoorah(): Provider | undefined {
  const token = secret('MYFATOORAH_TOKEN')
  const portal = secret('MYFATOORAH_WEBHOOK_SECRET')
  if (!token || !portal) return undefined
  const mode = setting('MYFATOORAH_MODE') === 'live' ? 'live' : 'test'
  return myfatoorah({
    url: setting('MYFATOORAH_URL') ??
      `https://${mode === 'live' ? 'api' : 'apitest'}.myfatoorah.com`,
    mode,
    token,
    secrets: filled(portal, secret('MYFATOORAH_WEBHOOK_SECRET_OLD')),
  })
}

/** The sandbox is never available in production, even if its secret is set. */
function configuredSandbox(): Provider | undefined {
  const shared = secret('SANDBOX_SECRET')
  return shared && !env.production ? sandbox({ url: env.apiUrl, secret: shared }) : undefined
}

/** All of these may send webhooks; only PAYMENT_PROVIDER receives new charges. */
export const providers: Provider[] = [configuredTap(), configuredMyFatoorah(), configuredSandbox()]
  .filter((provider) => provider !== undefined)

export const providerNamed = (name: string) => providers.find((one) => one.name === name)

function chosen(): Provider | undefined {
  const chosen = setting('PAYMENT_PROVIDER')
  if (!chosen) return undefined
  const provider = providerNamed(chosen)
  if (!provider) alarm('provider_not_configured', chosen)
  return provider
}

export const provider = chosen()

export const paymentState = !provider ? 'off' : provider.mode === 'live' ? 'live' : 'sandbox'
