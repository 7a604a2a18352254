/** Which payment providers are configured, and which of them takes new charges. */
import { alarm } from '../_shared/alarms.ts'
import { env } from '../_shared/env.ts'
import { secret, setting } from '../_shared/read-setting.ts'
import { myfatoorah } from './myfatoorah.ts'
import type { Provider } from './provider.ts'
import { sandbox } from './sandbox.ts'
import { tap } from './tap.ts'

/** Where providers call us. */
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

/** The sandbox does not exist in production, whatever is set. */
function configuredSandbox(): Provider | undefined {
  const shared = secret('SANDBOX_SECRET')
  return shared && !env.production ? sandbox({ url: env.apiUrl, secret: shared }) : undefined
}

/** All that are configured: webhooks are accepted of all, new charges are made by one. */
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

/** The provider of new charges, if there is one. */
export const provider = chosen()

/** For /health. */
export const paymentState = !provider ? 'off' : provider.mode === 'live' ? 'live' : 'sandbox'
