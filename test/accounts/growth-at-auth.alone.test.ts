// HARM-04: limits on the data that a client can store in Auth by bypassing the facade.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  database,
  guest,
  newEmail,
  newPhone,
  type Person,
  projectUrl,
  publishableKey,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import { normalizedIdentifier } from '../support/codes.ts'
import { withRates } from '../support/own-rates.ts'
import { issuerUrl } from '../support/social-issuer.ts'
import { doors } from './every-auth-door.ts'
import { personFrom, providers, signInAs } from './social-sign-in.ts'

withRates({ refreshes: 60 })

async function atAuth(method: string, path: string, body?: object, headers = {}) {
  const response = await fetch(`${projectUrl}/auth/v1${path}`, {
    method,
    redirect: 'manual',
    headers: { apikey: publishableKey, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}
const bearer = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
const sessionOf = ({ accessToken }: Person): string =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).session_id
const metadataOf = async (id: string) => {
  const { rows } = await database().query(
    'select raw_user_meta_data as metadata from auth.users where id = $1',
    [id],
  )
  return rows[0].metadata
}

test('HARM-04 what would be too much about oneself is refused and nothing of it kept', async () => {
  const person = await signUp()
  expect(
    (await atAuth('PUT', '/user', { data: { note: 'x'.repeat(15_000) } }, bearer(person))).status,
  )
    .toBe(200)
  const stored = await metadataOf(person.id)
  const data = { much: 'ك'.repeat(120 * 1024) }
  expect(await atAuth('PUT', '/user', { data }, bearer(person))).toEqual({
    status: 422,
    body: {
      code: 'PT422',
      message: 'What somebody keeps about themselves at Auth has 16,384 bytes at most.',
    },
  })
  // supabase-js asks for this version of the API, in which Auth's error has no details.
  const version = { 'x-supabase-api-version': '2024-01-01' }
  expect(await atAuth('PUT', '/user', { data }, { ...bearer(person), ...version }))
    .toMatchObject({ status: 500, body: { code: 'unexpected_failure' } })
  expect(await metadataOf(person.id)).toEqual(stored)
  const secret = { apikey: secretKey, authorization: `Bearer ${secretKey}` }
  const made = { email: newEmail(), email_confirm: true, user_metadata: data }
  expect(await atAuth('POST', '/admin/users', made, secret)).toMatchObject({ status: 422 })
  expect((await atAuth('PUT', '/user', { data: { note: null } }, bearer(person))).status).toBe(200)
  expect((await atAuth('GET', '/user', undefined, bearer(person))).body.user_metadata)
    .not.toHaveProperty('much')
})

describe.runIf(issuerUrl)('HARM-04 a sign-in by a provider', () => {
  test.each(providers)('does not fail for what there is no room for: %s', async (provider) => {
    const said = { sub: randomUUID(), email: `${randomUUID()}@example.com` }
    const person = personFrom(await signInAs(provider, said))
    const data = { note: 'x'.repeat(16_000) }
    expect((await atAuth('PUT', '/user', { data }, bearer(person))).status).toBe(200)
    const stored = await metadataOf(person.id)
    const again = await signInAs(provider, { ...said, name: 'سالم '.repeat(300) })
    expect(again).toMatchObject({ status: 200, body: { isNewAccount: false } })
    expect(await metadataOf(person.id)).toEqual(stored)
  })
})

test('HARM-04 of what a client calls itself Auth keeps what its owner is shown', async () => {
  const person = await signUp()
  const agent = `Nashmi ${'a'.repeat(12_000)}`
  const refreshed = await atAuth(
    'POST',
    '/token?grant_type=refresh_token',
    { refresh_token: person.refreshToken },
    { 'user-agent': agent },
  )
  expect(refreshed.status).toBe(200)
  const { rows } = await database().query('select user_agent from auth.sessions where id = $1', [
    sessionOf(person),
  ])
  expect(rows).toEqual([{ user_agent: agent.slice(0, 200) }])
})

test('HARM-04 sixty refresh tokens an hour of a session that Auth keeps as rows', async () => {
  const person = await signUp()
  const other = await signIn(person.identifier, person.password)
  /** Inserts refresh tokens of version 1, all used except the last one, which it returns. */
  const plant = async (session: string, count: number) => {
    const token = randomUUID().replaceAll('-', '').slice(0, 12)
    await database().query(
      `insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
       select '00000000-0000-0000-0000-000000000000', case n when $3 then $1 else gen_random_uuid()::text end,
         $4, n < $3, now(), now(), $2
       from generate_series(1, $3::int) as n`,
      [token, session, count, person.id],
    )
    return token
  }
  const here = await plant(sessionOf(person), 59)
  const last = (await guest.post('/auth/refresh', { refreshToken: here })).body.refreshToken
  expect(last).toHaveLength(12)
  const tokens = async () => {
    const { rows } = await database().query(
      `select count(*)::int, count(*) filter (where not revoked)::int as unused
       from auth.refresh_tokens where session_id = $1`,
      [sessionOf(person)],
    )
    return rows[0]
  }
  const before = await tokens()
  const facade = await guest.post('/auth/refresh', { refreshToken: last })
  expect(facade).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
  expect(Number(facade.headers.get('retry-after'))).toBeGreaterThan(5)
  expect(await atAuth('POST', '/token?grant_type=refresh_token', { refresh_token: last }))
    .toMatchObject({ status: 429, body: { msg: expect.stringMatching(/^rate_limited /) } })
  // The refused token is still unused, its session is valid, and the account's other session can refresh.
  expect(await tokens()).toEqual(before)
  expect((await person.get('/auth/me')).status).toBe(200)
  const elsewhere = await plant(sessionOf(other), 2)
  expect((await guest.post('/auth/refresh', { refreshToken: elsewhere })).status).toBe(200)
  await database().query(
    `update auth.refresh_tokens set created_at = now() - interval '61 minutes'
     where session_id = $1 and revoked`,
    [sessionOf(person)],
  )
  expect((await guest.post('/auth/refresh', { refreshToken: last })).status).toBe(200)
})

test('HARM-04 nobody begins a sign-in by a redirect, of which Auth would keep a row', async () => {
  for (const provider of ['google', 'apple', 'github', 'nobody']) {
    const target = encodeURIComponent(`${projectUrl}/${'x'.repeat(8000)}`)
    const query = `provider=${provider}&redirect_to=${target}`
    const challenge = `&code_challenge=${'a'.repeat(43)}&code_challenge_method=s256`
    for (const more of ['', challenge]) {
      const { status, body } = await atAuth('GET', `/authorize?${query}${more}`)
      expect([status, body.error_code], provider).toEqual([400, 'validation_failed'])
    }
  }
  await expect(
    database().query(
      `insert into auth.flow_state (id, provider_type, authentication_method, created_at, updated_at)
     values (gen_random_uuid(), 'google', 'oauth', now(), now())`,
    ),
  ).rejects.toMatchObject({ code: 'PT403' })
  const { rows } = await database().query('select from auth.flow_state')
  expect(rows).toEqual([])
})

/**
 * Returns the number of rows and characters in each table of Auth, Storage and Realtime, except
 * realtime.messages, whose rows are deleted after three days.
 */
async function sizes() {
  const { rows } = await database().query(
    `select format('%I.%I', nspname, relname) as name,
       query_to_xml(format('select count(*), sum(length(t::text)) from %I.%I as t', nspname, relname),
         false, true, '')::text as size
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'p') and not relispartition
       and nspname in ('auth', 'storage', 'realtime')
       and pg_class.oid <> 'realtime.messages'::regclass
     order by 1`,
  )
  expect(rows.length).toBeGreaterThanOrEqual(10)
  return Object.fromEntries(rows.map(({ name, size }) => [name, size]))
}

test.each(['the public key', 'an access token'])(
  'HARM-04 no door of Auth makes anything grow by %s',
  async (by) => {
    const there = await signUp()
    const phone = normalizedIdentifier(newPhone())
    const theirs = { email: there.identifier }
    const token = by === 'the public key' ? publishableKey : there.accessToken
    const headers = {
      authorization: `Bearer ${token}`,
      'user-agent': 'x'.repeat(8000),
    }
    const before = await sizes()
    for (
      const [method, path, body] of doors({ email: newEmail(), phone, there, theirs, code: '1' })
    ) {
      const response = await fetch(`${projectUrl}/auth/v1${path}`, {
        method,
        redirect: 'manual',
        headers: { apikey: publishableKey, 'content-type': 'application/json', ...headers },
        body: body && JSON.stringify({ ...body, more: 'x'.repeat(100_000) }),
      })
      await response.body?.cancel()
      expect([path, await sizes()]).toEqual([path, before])
    }
  },
)
