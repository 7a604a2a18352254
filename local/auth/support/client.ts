// Tests that use this file must pass both with the stand-in and on a hosted project.
import { createClient } from '@supabase/supabase-js'
import { randomInt, randomUUID } from 'node:crypto'
import { database, projectUrl, publishableKey, secretKey } from '../../../test/support/client.ts'

const stateless = { auth: { persistSession: false, autoRefreshToken: false } }
export const client = () => createClient(projectUrl, publishableKey, stateless)
// Used for password sign-ins, which would need a captcha without the secret key.
export const server = () => createClient(projectUrl, secretKey, stateless)
export const { admin } = server().auth

export const newEmail = () => `${randomUUID()}@example.com`
export const newPhone = () => `9655${String(randomInt(10_000_000)).padStart(7, '0')}`

// deno-lint-ignore no-explicit-any
type Reply = { status: number; headers: Headers; body: any }

/** Sends a plain request to Auth with the publishable key. */
export async function auth(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(`${projectUrl}/auth/v1${path}`, {
    method,
    headers: { apikey: publishableKey, 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
export const secret = { apikey: secretKey }
export const refresh = (token: string) =>
  auth('POST', '/token?grant_type=refresh_token', { refresh_token: token })

export async function newUser(more: Parameters<typeof admin.createUser>[0] = {}) {
  const email = newEmail()
  const password = randomUUID()
  const made = await admin.createUser({ email, password, email_confirm: true, ...more })
  if (made.error) throw made.error
  return { id: made.data.user.id, email, password }
}

export async function signedIn() {
  const user = await newUser()
  const signIn = async () => {
    const { email, password } = user
    const { data, error } = await server().auth.signInWithPassword({ email, password })
    if (error) throw error
    return data.session!
  }
  return { ...user, signIn, session: await signIn() }
}

export async function rowOf(id: string) {
  const { rows } = await database().query('select * from auth.users where id = $1', [id])
  return rows[0]
}
