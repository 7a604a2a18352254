// People who use the API over HTTP. Each test signs up new people, so no test has to clean up.
import { randomInt, randomUUID } from 'node:crypto'
import pg from 'pg'
import { mobilePrefixes } from '../../functions/_shared/input/identifiers.ts'
import { variable } from '../../local/config/environment.ts'
import { databaseAt } from '../../local/schema/connection.ts'
import { recordSecrets } from './recorded-secrets.ts'
import { waitFor } from './wait.ts'

export const projectUrl = variable('SUPABASE_URL')!
export const publishableKey = variable('SUPABASE_PUBLISHABLE_KEY')!
export const secretKey = variable('SUPABASE_SECRET_KEY')!
const inboxUrl = variable('INBOX_URL')!
export const baseUrl = `${projectUrl}/functions/v1/api`

export type Reply = {
  status: number
  // deno-lint-ignore no-explicit-any
  body: any
  headers: Headers
}
export type Sent = { headers?: Record<string, string>; signal?: AbortSignal }

export async function request(
  method: string,
  path: string,
  body?: unknown,
  { headers = {}, signal }: Sent = {},
): Promise<Reply> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      // Compressing a small response costs both sides more than the rest of the call. The app clients, which
      // the suite also tests, do request compression.
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  const parsed = text && type.startsWith('application/json') ? JSON.parse(text) : text || null
  const reply = { status: response.status, body: parsed, headers: response.headers }
  recordSecrets(body)
  recordSecrets(parsed)
  await checkAnswer(method, path, reply, body)
  return reply
}

type Method = (path: string, body?: unknown, sent?: Sent) => Promise<Reply>

export function caller(token?: string, always: Record<string, string> = {}) {
  const send = (method: string): Method => (path, body, sent = {}) =>
    request(method, path, body, {
      ...sent,
      headers: { ...(token && { authorization: `Bearer ${token}` }), ...always, ...sent.headers },
    })
  return {
    get: (path: string, sent?: Sent) => send('GET')(path, undefined, sent),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
  }
}

export const guest = caller()
export type Guest = typeof guest

export type Person = Guest & {
  id: string
  /** The individual identity, which is the acting identity at first. */
  identityId: string
  identifier: string
  password: string
  accessToken: string
  refreshToken: string
  /** An admin's proof of re-authentication (X-Proof), if this person's requests send it. */
  proof?: string
}

const prefixes = mobilePrefixes.split('|')
export const newEmail = () => `${randomUUID()}@example.com`
export const newPhone = () =>
  prefixes[randomInt(prefixes.length)]! + String(randomInt(10_000_000)).padStart(7, '0')

// deno-lint-ignore no-explicit-any
export function personOf(session: any, identifier: string, password: string): Person {
  return {
    ...caller(session.accessToken),
    id: session.user.id,
    identityId: session.identities[0].id,
    identifier,
    password,
    accessToken: session.accessToken,
    refreshToken: session.refreshToken,
  }
}

export async function signUp(fullName = 'سالم العنزي'): Promise<Person> {
  const identifier = newEmail()
  const password = randomUUID()
  const registered = await guest.post('/auth/register', { identifier, password, fullName })
  if (registered.status !== 201) throw new Error(`register: ${JSON.stringify(registered.body)}`)
  return await signIn(identifier, password)
}

export async function signIn(identifier: string, password: string): Promise<Person> {
  const { status, body } = await guest.post('/auth/login', { identifier, password })
  if (status !== 200) throw new Error(`login: ${JSON.stringify(body)}`)
  return personOf(body, identifier, password)
}

/** Waits for a message to a phone or email and returns the newest, so tests read codes as people do. */
export async function lastMessage(to: string): Promise<{ body: string; code: string }> {
  return await waitFor(`a message to ${to}`, async () => (await inboxOf(to))[0])
}

export async function inboxOf(to: string): Promise<{ body: string; code: string }[]> {
  const response = await fetch(`${inboxUrl}/messages?to=${encodeURIComponent(to)}`)
  return await response.json()
}

let pool: pg.Pool | undefined

/**
 * Runs SQL as the role postgres, for effects that HTTP cannot show. It sets edits.by, as migrations do, to
 * change rows that admins may not change by hand (test/admin/studio.ts makes manual edits).
 */
export function database(): pg.Pool {
  if (!pool) {
    // Idle connections close soon, because all test files and the project share 60 (100 with a replica).
    pool = new pg.Pool({
      ...databaseAt(variable('DATABASE_URL')!),
      min: 1,
      max: 4,
      idleTimeoutMillis: 1000,
      onConnect: async (client) => void await client.query(`set edits.by = 'tests'`),
    })
    // Some tests stop the database; the pool then replaces its broken connections.
    pool.on('error', () => {})
    pool.on('connect', (client) => client.on('error', () => {}))
  }
  return pool
}

/** Runs SQL as a client's role with a person's claims, bypassing the facade, and rolls it back. */
export async function asCaller<T>(
  person: Person | undefined,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await database().connect()
  try {
    await client.query('begin')
    const claims = person
      ? Buffer.from(person.accessToken.split('.')[1], 'base64url').toString()
      : '{"role":"anon"}'
    await client.query(`select set_config('request.jwt.claims', $1, true)`, [claims])
    await client.query(`set local role ${person ? 'authenticated' : 'anon'}`)
    return await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

type Check = (method: string, path: string, reply: Reply, sent?: unknown) => void | Promise<void>
let checkAnswer: Check = () => {}

export function onReply(check: Check) {
  checkAnswer = check
}

/** Checks a response. `sent` is the request's body: JSON (a value or text) or a form. */
export const checkReply: Check = (method, path, reply, sent) =>
  checkAnswer(method, path, reply, sent)
