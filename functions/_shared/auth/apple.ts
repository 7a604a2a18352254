// Stores Apple's refresh tokens in encrypted form. Apple requires us to revoke them when an account is
// deleted.
import { importPKCS8, SignJWT } from 'jose'
import { backend } from '../database/db.ts'
import { alarm } from '../errors/alarms.ts'
import { causeOf } from '../errors/refusal.ts'
import { fetchOnce, formType, textOf } from '../outside/http-client.ts'
import { env } from '../settings/env.ts'
import { secret as secretOf, setting } from '../settings/read-setting.ts'
import { seal, unseal } from './secrets.ts'

const base = !env.production && setting('APPLE_URL') || 'https://appleid.apple.com'

async function clientSecret(clientId: string): Promise<string | undefined> {
  const [team, kid] = [setting('APPLE_TEAM_ID'), setting('APPLE_KEY_ID')]
  const key = secretOf('APPLE_PRIVATE_KEY')
  if (!team || !kid || !key) return undefined
  return await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(team)
    .setSubject(clientId)
    .setAudience('https://appleid.apple.com')
    .setIssuedAt()
    .setExpirationTime('5 minutes')
    .sign(await importPKCS8(key.replaceAll('\\n', '\n'), 'ES256'))
}

async function post(path: string, form: Record<string, string>): Promise<string> {
  const response = await fetchOnce(base + path, {
    method: 'POST',
    headers: formType,
    body: new URLSearchParams(form),
  })
  const text = await textOf(response)
  if (response.ok) return text
  const error = /"error" *: *"([\w-]{1,40})"/.exec(text)?.[1] ?? ''
  throw new Error(`HTTP ${response.status} ${error}`.trim())
}

const sealUse = (accountId: string, clientId: string) => `apple ${accountId} ${clientId}`

/**
 * Exchanges the authorization code for a refresh token. A failure raises an alarm, but the sign-in continues.
 */
export async function exchangeAppleCode(accountId: string, clientId: string, code: string) {
  try {
    const secret = await clientSecret(clientId)
    if (!secret) throw new Error('APPLE_TEAM_ID, APPLE_KEY_ID or APPLE_PRIVATE_KEY is not set')
    const answer = await post('/auth/token', {
      grant_type: 'authorization_code',
      client_id: clientId,
      client_secret: secret,
      code,
    })
    const { refresh_token: token } = JSON.parse(answer)
    if (typeof token !== 'string' || !token) throw new Error('no refresh token')
    const sealedToken = await seal(token, sealUse(accountId, clientId))
    await backend('store_apple_token', { accountId, clientId, sealedToken })
  } catch (error) {
    alarm('apple_code', 'apple', { cause: causeOf(error as Error) })
  }
}

type Due = { accountId: string; clientId: string; sealed: string }

export async function revokeAppleTokens(): Promise<number> {
  let revoked = 0
  for (
    const { accountId, clientId, sealed } of await backend<Due[]>('take_apple_revocations', {})
  ) {
    try {
      const token = await unseal(sealed, sealUse(accountId, clientId))
      // A token that was encrypted with an earlier key can no longer be decrypted.
      if (token !== undefined) await revoke(clientId, token)
      await backend('finish_apple_revocation', { accountId, clientId })
      revoked++
    } catch (error) {
      const why = causeOf(error as Error)
      await alarm('job_failed', `revoke_apple ${accountId}`, { why })
    }
  }
  return revoked
}

async function revoke(clientId: string, token: string) {
  const secret = await clientSecret(clientId)
  if (!secret) throw new Error('APPLE_TEAM_ID, APPLE_KEY_ID or APPLE_PRIVATE_KEY is not set')
  await post('/auth/revoke', {
    client_id: clientId,
    client_secret: secret,
    token,
    token_type_hint: 'refresh_token',
  })
}
