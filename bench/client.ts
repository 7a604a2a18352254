import { randomUUID } from 'node:crypto'
import type { Stack } from '../test/support/stack.ts'

export type Session = {
  identifier: string
  password: string
  accessToken: string
  user: { id: string }
  activeIdentity: { id: string }
  realtimeTopic: string
}

/** Posts JSON to the facade. Throws if the request fails. */
export async function post(
  { baseUrl }: Pick<Stack, 'baseUrl'>,
  path: string,
  body: unknown = {},
  token?: string,
) {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return response.status === 204 ? undefined : await response.json()
}

export async function signUp(stack: Stack): Promise<Session> {
  const credentials = { identifier: `${randomUUID()}@example.com`, password: randomUUID() }
  await post(stack, '/auth/register', credentials)
  return { ...credentials, ...await post(stack, '/auth/login', credentials) }
}
