import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { beforeEach, expect, test } from 'vitest'
import {
  asCaller,
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  ageRefreshTokens,
  countSessions,
  requestResetCode,
  signUpByPhone,
} from '../support/codes.ts'
import { callDataApi } from '../support/data-api.ts'
import { race, waitedFor } from '../support/races.ts'
import { partsOf } from '../support/tokens.ts'

let person: Person
beforeEach(async () => {
  person = await signUp()
})

const admin = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

const dataApi = async (name: string, accessToken: string) =>
  (await callDataApi({ accessToken }, name)).status

test('AUTH-12 the tokens of a deleted account open nothing any more', async () => {
  const { error } = await admin.deleteUser(person.id)
  expect(error).toBeNull()

  const refusal = { status: 401, body: { error: { code: 'token_invalid' } } }
  expect(await person.get('/auth/me')).toMatchObject(refusal)
  expect(await person.post(`/favorites/${randomUUID()}`)).toMatchObject(refusal)
  expect(await guest.post('/auth/refresh', { refreshToken: person.refreshToken }))
    .toMatchObject(refusal)
  const { identifier, password } = person
  expect(await guest.post('/auth/login', { identifier, password }))
    .toMatchObject({ status: 401, body: { error: { code: 'invalid_credentials' } } })
  expect(await dataApi('get_me', person.accessToken)).toBe(401)
  expect(await dataApi('list_identities', person.accessToken)).toBe(401)
  expect(await visible(person)).toEqual([0, 0, 0])
  expect(await countSessions(person.id)).toBe(0)

  const { rows } = await database().query(
    `select accounts.email, accounts.phone, accounts.status, individual_profiles.full_name,
       identities.display_name, identities.status as identity_status
     from public.accounts
     join public.individual_profiles on individual_profiles.account_id = accounts.id
     join public.identities on identities.account_id = accounts.id
     where accounts.id = $1`,
    [person.id],
  )
  expect(rows).toEqual([{
    email: null,
    phone: null,
    status: 'deleted',
    full_name: null,
    display_name: 'حساب محذوف',
    identity_status: 'closed',
  }])
})

test('AUTH-12 a user that Auth only marks as deleted is gone as well', async () => {
  const { error } = await admin.deleteUser(person.id, true)
  expect(error).toBeNull()
  expect(await person.get('/auth/me')).toMatchObject({ status: 401 })
  const { identifier, password } = person
  expect(await guest.post('/auth/login', { identifier, password })).toMatchObject({ status: 401 })
  expect(await guest.post('/auth/register', { identifier, password })).toMatchObject({
    status: 201,
  })
})

const visible = (caller: Person) =>
  asCaller(caller, async (client) => {
    const counts = []
    for (const table of ['accounts', 'individual_profiles', 'identities']) {
      const { rows } = await client.query(`select count(*)::int from public.${table}`)
      counts.push(rows[0].count)
    }
    return counts
  })

const setStatus = (id: string, status: string, reason?: string, until?: string) =>
  database().query(
    `update public.accounts set status = $2, status_reason = $3, suspended_until = $4::timestamptz
     where id = $1`,
    [id, status, reason, until],
  )

test('AUTH-13 a suspended account is refused everywhere at once, and intact afterwards', async () => {
  const mine = (await person.get('/auth/me')).body
  const { identifier, password } = person
  await setStatus(person.id, 'suspended', 'إعلانات مخالفة')

  const refusal = {
    status: 403,
    body: {
      error: {
        code: 'account_suspended',
        message: 'تم إيقاف حسابك مؤقتاً: إعلانات مخالفة',
        messageEn: 'Your account is suspended',
      },
    },
  }
  expect(await person.get('/auth/me')).toMatchObject(refusal)
  expect(await person.post(`/favorites/${randomUUID()}`)).toMatchObject(refusal)
  expect(await person.post('/auth/identity/switch', { identityId: person.identityId }))
    .toMatchObject(refusal)
  expect(await person.post('/auth/logout')).toMatchObject(refusal)
  // The account's sessions are gone, so its refresh token is unknown.
  expect(await guest.post('/auth/refresh', { refreshToken: person.refreshToken }))
    .toMatchObject({ status: 401, body: { error: { code: 'token_invalid' } } })
  expect(await guest.post('/auth/login', { identifier, password })).toMatchObject(refusal)
  expect(await guest.post('/auth/login', { identifier, password: 'wrong one' }))
    .toMatchObject({ status: 401, body: { error: { code: 'invalid_credentials' } } })
  expect(await dataApi('get_me', person.accessToken)).toBe(403)
  expect(await visible(person)).toEqual([0, 0, 0])
  const ignored = await person.get('/errors')
  expect(ignored.status).toBe(200)

  await setStatus(person.id, 'active')
  const again = await signIn(identifier, password)
  const { realtimeTopic: _old, ...before } = mine
  expect((await again.get('/auth/me')).body).toMatchObject(before)
})

test('AUTH-13 a suspension ends by itself, a ban does not, and ended sessions still get the reason', async () => {
  const { identifier, password } = person
  await setStatus(person.id, 'suspended', 'سبب', new Date(Date.now() + 60_000).toISOString())
  expect(await person.get('/auth/me')).toMatchObject({ status: 403 })
  await setStatus(person.id, 'suspended', 'سبب', new Date(Date.now() - 1000).toISOString())
  expect(await person.get('/auth/me')).toMatchObject({ status: 401 }) // the session ended with the suspension
  const again = await signIn(identifier, password)
  expect(await again.get('/auth/me')).toMatchObject({ status: 200 })

  await setStatus(person.id, 'banned', 'سبب')
  await database().query('delete from auth.sessions where user_id = $1', [person.id])
  const banned = { status: 403, body: { error: { code: 'account_banned' } } }
  expect(await person.get('/auth/me')).toMatchObject(banned)
  expect(await guest.post('/auth/login', { identifier, password })).toMatchObject(banned)
})

test('AUTH-13 a suspension that was over and comes again ends what began in between', async () => {
  const { identifier, password } = person
  await setStatus(person.id, 'suspended', 'سبب', new Date(Date.now() - 1000).toISOString())
  const again = await signIn(identifier, password)
  const topic = (await again.get('/auth/me')).body.realtimeTopic
  await database().query(
    `update public.accounts set status = 'suspended', suspended_until = now() - interval '1 minute'
     where id = $1`,
    [person.id],
  )
  expect(await again.get('/auth/me')).toMatchObject({ status: 200, body: { realtimeTopic: topic } })
  await setStatus(person.id, 'suspended', 'سبب')
  expect(await again.get('/auth/me')).toMatchObject({ status: 403 })
  const { rows } = await database().query(
    `select topic::text, (select count(*)::int from auth.sessions where user_id = accounts.id)
     from public.accounts where id = $1`,
    [person.id],
  )
  expect(rows[0].topic).not.toBe(topic)
  expect(rows[0].count).toBe(0)
})

test('who may act is decided in one place, alike for every state', async () => {
  const { rows } = await database().query(
    `select private.may_act(jsonb_populate_record(accounts, jsonb_build_object(
       'status', state.status, 'suspended_until', state.until))) as may
     from public.accounts
     cross join (values
       ('active', null), ('suspended', now() - interval '1 second'),
       ('suspended', null), ('suspended', now() + interval '1 minute'), ('banned', null),
       ('banned', now() - interval '1 second'), ('deleted', null)
     ) as state (status, until)
     where accounts.id = $1`,
    [person.id],
  )
  expect(rows.map(({ may }) => may))
    .toEqual([true, true, false, false, false, false, false])
  const { rows: copies } = await database().query(
    `select oid::regprocedure::text as name from pg_proc
     where pronamespace in ('api'::regnamespace, 'private'::regnamespace)
       and prosrc ~ 'suspended_until < now\\(\\)' and proname not like 'end_suspension%'`,
  )
  expect(copies).toEqual([])
})

const refresh = (refreshToken: string) => guest.post('/auth/refresh', { refreshToken })

test.concurrent('AUTH-14 an old refresh token used again ends the whole family', async () => {
  const person = await signUp()
  const first = person.refreshToken
  const second = (await refresh(first)).body.refreshToken
  const third = (await refresh(second)).body
  await ageRefreshTokens(person.id)
  const refusal = { status: 401, body: { error: { code: 'token_invalid' } } }
  expect(await refresh(first)).toMatchObject(refusal)
  expect(await refresh(third.refreshToken)).toMatchObject(refusal)
  expect(await guest.get('/auth/me', bearer(third.accessToken))).toMatchObject(refusal)
  expect(await countSessions(person.id)).toBe(0)
})

test('AUTH-14 a session whose refresh tokens are rows is over when none is left', async () => {
  // Inserts rows as Auth writes them for refresh tokens of version 1, regardless of the
  // version that it issues here.
  const session = randomUUID()
  const add = (token: string, parent?: string) =>
    database().query(
      `insert into auth.refresh_tokens
         (instance_id, user_id, session_id, token, parent, revoked, created_at, updated_at)
       values ($1, $2, $3, $4, $5, false, now(), now())`,
      [randomUUID(), person.id, session, token, parent],
    )
  const revoke = (token: string) =>
    database().query('update auth.refresh_tokens set revoked = true where token = $1', [token])
  await database().query(
    `insert into auth.sessions (id, user_id, aal, created_at, updated_at)
     values ($1, $2, 'aal1', now(), now())`,
    [session, person.id],
  )
  const [first, second] = [randomUUID(), randomUUID()]
  await add(first)
  await add(second, first)
  await revoke(first)
  expect(await countSessions(person.id)).toBe(2)
  await revoke(second)
  expect(await countSessions(person.id)).toBe(1)
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })
})

test.concurrent('AUTH-15 a refresh whose answer was lost can be asked for again', async () => {
  const person = await signUp()
  const lost = (await refresh(person.refreshToken)).body
  await ageRefreshTokens(person.id)
  const again = await refresh(person.refreshToken)
  expect(again.status).toBe(200)
  expect(again.body.refreshToken).toBe(lost.refreshToken)
  expect(await refresh(again.body.refreshToken)).toMatchObject({ status: 200 })
  expect(await countSessions(person.id)).toBe(1)
})

test('AUTH-16 fifty refreshes at once give fifty working tokens of one session', async () => {
  const body = { refreshToken: person.refreshToken }
  const fifty = Array.from({ length: 50 }, () => ({ path: '/auth/refresh', body }))
  let replies = await race(fifty)
  // On a slow machine some requests get a 503; these are sent again.
  while (replies.some(({ status }) => status === 503)) {
    replies = replies.filter(({ status }) => status !== 503)
    replies.push(...await race(fifty.slice(replies.length)))
  }
  expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200))
  const sessions = replies.map(({ body }) => partsOf(body.accessToken).claims.session_id)
  expect(new Set(sessions)).toEqual(new Set([partsOf(person.accessToken).claims.session_id]))
  for (const token of new Set(replies.map(({ body }) => body.accessToken))) {
    expect(await guest.get('/auth/me', bearer(token))).toMatchObject({ status: 200 })
  }
  const newest = new Set(replies.map(({ body }) => body.refreshToken))
  for (const token of newest) expect(await refresh(token)).toMatchObject({ status: 200 })
  expect(await countSessions(person.id)).toBe(1)
})

test('AUTH-17 signing out, changing and resetting the password end sessions at once', async () => {
  const phone = await signUpByPhone()
  const { identifier, password } = phone
  const [second, third] = [await signIn(identifier, password), await signIn(identifier, password)]
  const gone = { status: 401, body: { error: { code: 'token_invalid' } } }
  const isOut = async (who: Person) => {
    expect(await who.get('/auth/me')).toMatchObject(gone)
    expect(await refresh(who.refreshToken)).toMatchObject(gone)
  }

  expect(await second.post('/auth/logout')).toMatchObject({ status: 204 })
  await isOut(second)
  expect(await countSessions(phone.id)).toBe(2)

  const newPassword = randomUUID()
  expect(await third.post('/auth/password/change', { currentPassword: password, newPassword }))
    .toMatchObject({ status: 204 })
  await isOut(phone)
  expect(await third.get('/auth/me')).toMatchObject({ status: 200 })
  expect(await countSessions(phone.id)).toBe(1)

  const code = await requestResetCode(identifier)
  const reset = { identifier, code, newPassword: password, confirmPassword: password }
  expect(await guest.post('/auth/password/reset', reset)).toMatchObject({ status: 204 })
  await isOut(third)
  expect(await countSessions(phone.id)).toBe(0)
})

test('AUTH-17 signing out can spare this session, or none', async () => {
  const { identifier, password } = person
  const [second, third] = [await signIn(identifier, password), await signIn(identifier, password)]
  expect(await second.post('/auth/logout', { scope: 'others' })).toMatchObject({ status: 204 })
  expect(await person.get('/auth/me')).toMatchObject({ status: 401 })
  expect(await third.get('/auth/me')).toMatchObject({ status: 401 })
  expect(await second.get('/auth/me')).toMatchObject({ status: 200 })
  await signIn(identifier, password)
  expect(await second.post('/auth/logout', { scope: 'global' })).toMatchObject({ status: 204 })
  expect(await countSessions(person.id)).toBe(0)
  expect(await third.post('/auth/logout', { scope: 'everywhere' })).toMatchObject({ status: 422 })
})

async function put(body: object) {
  const response = await fetch(`${projectUrl}/auth/v1/user`, {
    method: 'PUT',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${person.accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

test('AUTH-18 nobody gains rights through the data that Auth lets people write', async () => {
  const data = { role: 'admin', is_admin: true, identity_type: 'office', account_status: 'active' }
  expect((await put({ data })).status).toBe(200)
  expect((await put({ app_metadata: { role: 'admin' } })).status).toBe(403)
  await put({ role: 'service_role', aud: 'admin', email_confirm: true, phone_confirm: true })

  const { body } = await refresh(person.refreshToken)
  const { claims } = partsOf(body.accessToken)
  expect(claims).toMatchObject({ role: 'authenticated', aud: 'authenticated' })
  expect(claims).not.toHaveProperty('app_metadata')
  expect(claims).not.toHaveProperty('user_metadata')
  expect(body.identities).toHaveLength(1)
  expect(body.activeIdentity).toMatchObject({ type: 'individual' })
  const { rows } = await database().query(
    `select policyname from pg_policies
     where schemaname in ('api', 'private', 'public', 'auth', 'storage', 'realtime')
       and coalesce(qual, '') || coalesce(with_check, '') ilike '%user_metadata%'`,
  )
  expect(rows).toEqual([])
})

test('AUTH-18 what people write about themselves lengthens no token and locks nobody out', async () => {
  const { identifier, password } = person
  const length = (await signIn(identifier, password)).accessToken.length
  // Of these sizes (in KB) only the first is accepted. Small pieces are refused
  // once their total is too large.
  for (const [size, status] of [[12, 200], [17, 422], [240, 422], [900, 422]] as const) {
    const data = { ['ك'.repeat(8)]: 'x'.repeat(size * 1024) }
    expect((await put({ data })).status).toBe(status)
  }
  for (let i = 0; i < 20; i++) {
    expect((await put({ data: { [`piece${i}`]: 'x'.repeat(1000) } })).status)
      .toBe(i < 3 ? 200 : 422)
  }
  const { rows } = await database().query(
    'select octet_length(raw_user_meta_data::text) as bytes from auth.users where id = $1',
    [person.id],
  )
  expect(rows[0].bytes).toBeLessThanOrEqual(16_384)
  const again = await signIn(identifier, password)
  const refreshed = (await refresh(again.refreshToken)).body
  for (const token of [again.accessToken, refreshed.accessToken]) {
    expect(token.length).toBeLessThan(length + 100)
    expect(await guest.get('/auth/me', bearer(token))).toMatchObject({ status: 200 })
    expect(await dataApi('get_me', token)).toBe(200)
  }
})

test('AUTH-19 rememberMe changes nothing', async () => {
  const { identifier, password } = person
  const lives = []
  for (const rememberMe of [true, false, undefined, 'yes', null, 7, { for: 'ever' }]) {
    const { status, body } = await guest.post('/auth/login', { identifier, password, rememberMe })
    expect(status).toBe(200)
    const { claims } = partsOf(body.accessToken)
    lives.push([body.expiresIn, Number(claims.exp) - Number(claims.iat)])
  }
  expect(new Set(lives.map(String)).size).toBe(1)
  const { rows } = await database().query(
    'select count(*)::int from auth.sessions where user_id = $1 and not_after is not null',
    [person.id],
  )
  expect(rows).toEqual([{ count: 0 }])
})

test('sessions are locked in the order in which Auth deletes them, also one that was refreshed', async () => {
  const { id } = person
  await signIn(person.identifier, person.password)
  const sessions = await database().query(
    'select id from auth.sessions where user_id = $1 order by ctid',
    [id],
  )
  const [first, second] = sessions.rows.map((row) => row.id)
  // The update moves the row behind the other one in the table, but an index scan still finds it first.
  await database().query('update auth.sessions set refreshed_at = now() where id = $1', [first])
  const [holder, locker] = await Promise.all([database().connect(), database().connect()])
  const free = async () =>
    (await database().query(
      'select id from auth.sessions where user_id = $1 for update skip locked',
      [id],
    )).rows.map((row) => row.id)
  const left: string[][] = []
  const locks = ['delete from auth.sessions where user_id = $1', 'select private.lock_sessions($1)']
  try {
    for (const sql of locks) {
      await holder.query('begin')
      await holder.query('select from auth.sessions where id = $1 for update', [first])
      // An older plan cached in this connection might scan the whole table.
      await locker.query('begin; set local enable_seqscan = off; discard plans')
      const waits = locker.query(sql, [id])
      await waitedFor(holder)
      left.push(await free())
      await holder.query('rollback')
      await waits
      await locker.query('rollback')
    }
    // If the update moved the row to another page, it has a new index entry. Both statements then lock the
    // other session first, so neither is free.
    expect([[], [second]]).toContainEqual(left[0])
    expect(left[1]).toEqual(left[0])
  } finally {
    await holder.query('rollback')
    await locker.query('rollback')
    holder.release()
    locker.release()
  }
})
