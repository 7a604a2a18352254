import { randomUUID } from 'node:crypto'
import { database, guest, type Person, projectUrl, publishableKey } from '../support/client.ts'
import { refusal } from '../support/problems.ts'

export const register = (identifier: unknown, more: object = {}) =>
  guest.post('/auth/register', { identifier, password: randomUUID(), ...more })

export const reset = (
  identifier: string,
  code: string,
  newPassword: string = randomUUID(),
  again = newPassword,
) => guest.post('/auth/password/reset', { identifier, code, newPassword, confirmPassword: again })

export const wrong = refusal(401, 'invalid_credentials')

export const logIn = (identifier: string, password: string) =>
  guest.post('/auth/login', { identifier, password })

/** Changes the user at Auth, bypassing the facade, and returns the status and the error code. */
export async function atAuth({ accessToken }: Person, body: object) {
  const response = await fetch(`${projectUrl}/auth/v1/user`, {
    method: 'PUT',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const { error_code, code } = await response.json()
  return [response.status, error_code ?? code]
}

export const announcePassword = (accountId: string, sessionId: string | null = null) =>
  database().query('select private.announce_password($1, $2)', [accountId, sessionId])

export const sessionOf = ({ accessToken }: Person): string =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).session_id
