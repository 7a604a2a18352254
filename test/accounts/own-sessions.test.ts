import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { testFromAddresses } from '../support/addresses.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import {
  database,
  guest,
  type Person,
  personOf,
  projectUrl,
  publishableKey,
  signIn,
  signUp,
} from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { sendRaw } from '../support/races.ts'
import { partsOf } from '../support/tokens.ts'

let phone: Person
beforeEach(async () => {
  phone = await signUp()
})

const sessionOf = ({ accessToken }: Person) => partsOf(accessToken).claims.session_id as string

const listOf = async (person: Person) => {
  const { status, body } = await person.get('/auth/sessions')
  expect(status).toBe(200)
  expect(body.nextCursor).toBe(null)
  return body.items
}
const idsOf = async (person: Person) => (await listOf(person)).map(({ id }: { id: string }) => id)

const gone = { status: 401, body: { error: { code: 'token_invalid' } } }
const missing = { status: 404, body: { error: { code: 'session_not_found' } } }

async function comeFrom(path: string, body: object, agent: string, from?: string) {
  const reply = await sendRaw({ path, body, headers: [['User-Agent', agent]], from })
  expect(reply.status).toBe(200)
  return personOf(reply.body, phone.identifier, phone.password)
}
const signInWith = ({ identifier, password }: Person, agent: string, from?: string) =>
  comeFrom('/auth/login', { identifier, password }, agent, from)

test('AUTH-20 each session is listed with its device and what the client says of itself', async () => {
  const agent = 'Diwaniya/2.1 (iPhone; iOS 26) '.padEnd(300, 'x')
  const tablet = await signInWith(phone, agent)
  await tablet.put('/devices', {
    deviceId: 'tablet',
    platform: 'ios',
    pushToken: randomUUID(),
    appVersion: '2.1.0',
  })
  await signUp() // another person's session must not be listed
  const items = await listOf(phone)
  expect(items).toEqual([
    {
      id: sessionOf(tablet),
      current: false,
      createdAt: expect.any(String),
      lastUsedAt: expect.any(String),
      address: expect.stringMatching(/^[0-9.]+$|^[0-9a-f:]+::\/64$/),
      userAgent: agent.slice(0, 200),
      device: { deviceId: 'tablet', platform: 'ios', appVersion: '2.1.0' },
    },
    expect.objectContaining({ id: sessionOf(phone), current: true, device: null }),
  ])
  expect((await listOf(tablet)).map(({ current }: { current: boolean }) => current))
    .toEqual([true, false])
  expect((await phone.get('/auth/me/export')).body.sessions).toEqual(items)
})

testFromAddresses(
  'AUTH-20 a session is where it last refreshed, at the facade or at Auth',
  async () => {
    const tablet = await signInWith(phone, 'Tablet/1', '127.0.0.11')
    const other = await signIn(phone.identifier, phone.password)
    const seen = async () => {
      const [first] = await listOf(phone)
      return [first.id, first.address, first.userAgent]
    }
    const id = sessionOf(tablet)
    expect((await seen())[0]).toBe(sessionOf(other))
    const { refreshToken } = await comeFrom(
      '/auth/refresh',
      { refreshToken: tablet.refreshToken },
      'Tablet/2',
      '127.0.0.12',
    )
    expect(await seen()).toEqual([id, '127.0.0.12', 'Tablet/2'])

    const atAuth = await fetch(`${projectUrl}/auth/v1/token?grant_type=refresh_token`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        'content-type': 'application/json',
        'user-agent': 'supabase-js/3',
      },
      body: JSON.stringify({ refresh_token: refreshToken }),
    })
    expect(atAuth.status).toBe(200)
    expect(await seen()).toEqual([id, expect.not.stringContaining('.0.12'), 'supabase-js/3'])

    await comeFrom(
      '/auth/refresh',
      { refreshToken: (await atAuth.json()).refresh_token },
      'Tablet/3',
      '127.0.0.13',
    )
    expect(await seen()).toEqual([id, '127.0.0.13', 'Tablet/3'])
  },
)

test('AUTH-20 an IPv6 address is shown by its /64, whoever noted it', async () => {
  const id = sessionOf(phone)
  await database().query('select private.note_session($1, $2, null)', [id, '2001:db8:0:7::/64'])
  expect(await listOf(phone)).toMatchObject([{ address: '2001:db8:0:7::/64', userAgent: null }])
  await database().query(
    `update auth.sessions set refreshed_at = now() at time zone 'UTC', ip = '2001:db8:0:8:9::1'
     where id = $1`,
    [id],
  )
  expect(await listOf(phone)).toMatchObject([{ address: '2001:db8:0:8::/64' }])
  await database().query('select private.note_session($1, $2, null)', [id, 'unknown'])
  expect(await listOf(phone)).toMatchObject([{ address: null }])
})

test('AUTH-21 a session that another ends is signed out, and nobody else', async () => {
  const tablet = await signIn(phone.identifier, phone.password)
  const socket = await ChatSocket.connect(tablet)
  const staying = await ChatSocket.connect(phone)
  const { realtimeTopic } = (await phone.get('/auth/me')).body
  const device = { deviceId: 'tablet', platform: 'web', pushToken: randomUUID() }
  expect((await tablet.put('/devices', device)).status).toBe(200)

  const path = `/auth/sessions/${sessionOf(tablet)}`
  expect(await phone.delete(path)).toMatchObject({ status: 204 })
  expect(await tablet.get('/auth/me')).toMatchObject(gone)
  expect(await guest.post('/auth/refresh', { refreshToken: tablet.refreshToken }))
    .toMatchObject(gone)
  expect((await socket.waitForClose()).code).toBe(4401)
  expect(staying.closed).toBe(undefined)
  expect((await phone.get('/devices')).body.items).toEqual([])
  expect((await phone.get('/auth/me')).body.realtimeTopic).not.toBe(realtimeTopic)
  expect(await idsOf(phone)).toEqual([sessionOf(phone)])

  const again = await phone.delete(path)
  expect(again).toMatchObject(missing)
  const theirs = await phone.delete(`/auth/sessions/${sessionOf(await signUp())}`)
  expect(theirs).toMatchObject(missing)
  staying.close()
})

test('AUTH-21 two sessions that end each other at once: one stays', async () => {
  const tablet = await signIn(phone.identifier, phone.password)
  const replies = await Promise.all([
    phone.delete(`/auth/sessions/${sessionOf(tablet)}`),
    tablet.delete(`/auth/sessions/${sessionOf(phone)}`),
  ])
  expect(replies.map(({ status }) => status).sort()).toEqual([204, 401])
  const [left] = [phone, tablet].filter((_, i) => replies[i]!.status === 204)
  expect(await idsOf(left!)).toEqual([sessionOf(left!)])
})

test('AUTH-21 ending the current session is signing out', async () => {
  expect(await phone.delete(`/auth/sessions/${sessionOf(phone)}`)).toMatchObject({ status: 204 })
  expect(await phone.get('/auth/me')).toMatchObject(gone)
  expect(await guest.post('/auth/refresh', { refreshToken: phone.refreshToken }))
    .toMatchObject(gone)
})

test('AUTH-22 a session that only proved a password is not listed, and cannot be named', async () => {
  const { password: currentPassword } = phone
  const newPassword = randomUUID()
  expect((await phone.post('/auth/password/change', { currentPassword, newPassword })).status)
    .toBe(204)
  expect(await idsOf(phone)).toEqual([sessionOf(phone)])
  // A function that crashes before it discards a session leaves a row like this.
  const id = randomUUID()
  await database().query(
    `insert into auth.sessions (id, user_id, aal, created_at, updated_at)
     values ($1, $2, 'aal1', now(), now())`,
    [id, phone.id],
  )
  expect(await idsOf(phone)).toEqual([sessionOf(phone)])
  expect(await phone.delete(`/auth/sessions/${id}`)).toMatchObject(missing)
  const { sessions } = (await phone.get('/auth/me/export')).body
  expect(sessions.map((one: { id: string }) => one.id)).toContain(id)
})

test('AUTH-22 nothing is kept of a session that has ended, however it did', async () => {
  const { identifier, password } = phone
  const storedSessions = async (ids: string[]) => {
    const { rows } = await database().query(
      'select count(*)::int from private.session_clients where session_id = any ($1)',
      [ids],
    )
    return rows[0].count
  }
  const people = [phone, await signIn(identifier, password), await signIn(identifier, password)]
  const ids = people.map(sessionOf)
  expect(await storedSessions(ids)).toBe(3)
  await people[1]!.post('/auth/logout')
  expect(await storedSessions(ids)).toBe(2)
  await phone.post('/auth/me/delete', { password })
  expect(await storedSessions(ids)).toBe(0)
})

test('AUTH-21 at the Data API the same holds', async () => {
  const tablet = await signIn(phone.identifier, phone.password)
  const rpc = async (name: string, args: object) => {
    const { status, text } = await callDataApi(phone, name, args)
    return { status, body: text && JSON.parse(text) }
  }
  expect(await rpc('list_sessions', {})).toEqual({
    status: 200,
    body: [{ items: await listOf(phone), nextCursor: null }],
  })
  expect((await rpc('end_session', { session_id: sessionOf(await signUp()) })).status).toBe(404)
  expect((await rpc('end_session', { session_id: sessionOf(tablet) })).status).toBe(204)
  expect(await tablet.get('/auth/me')).toMatchObject(gone)
})
