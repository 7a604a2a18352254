import { randomUUID } from 'node:crypto'
import { createServer, request } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import { newAddress, testFromAddresses } from '../support/addresses.ts'
import { database, guest, newEmail, projectUrl, secretKey, signUp } from '../support/client.ts'
import { registerPhone, requestResetCode, signUpByPhone } from '../support/codes.ts'
import { sendRaw } from '../support/races.ts'
import { registerEmail, signInAs } from './social-sign-in.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { runJobs } from '../support/jobs.ts'

const admin = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin

async function known(id: string): Promise<number[]> {
  const { rows } = await database().query(
    `select extract(epoch from known_until - now()) / 86400 as days
     from private.known_addresses where account_id = $1 order by known_until`,
    [id],
  )
  return rows.map(({ days }) => Math.round(Number(days)))
}

const logIn = (identifier: string, password: string, from: string) =>
  sendRaw({ path: '/auth/login', body: { identifier, password }, from })

const later = (id: string, days: number) =>
  database().query(
    `update private.known_addresses set known_until = known_until - make_interval(days => $2)
     where account_id = $1`,
    [id, days],
  )

testFromAddresses('an address is known for 90 days after the last sign-in from it', async () => {
  const person = await signUp()
  const { id, identifier, password } = person
  expect(await known(id)).toEqual([90])
  const [home, elsewhere] = [newAddress(), newAddress()]
  expect(await logIn(identifier, password, home)).toMatchObject({ status: 200 })
  expect(await known(id)).toEqual([90, 90])
  await later(id, 30)
  expect(await logIn(identifier, password, home)).toMatchObject({ status: 200 })
  expect(await known(id)).toEqual([60, 90])

  expect(await logIn(identifier, 'wrong one', elsewhere)).toMatchObject({ status: 401 })
  const from = { from: elsewhere, path: '' }
  await sendRaw({ ...from, path: '/auth/refresh', body: { refreshToken: person.refreshToken } })
  await sendRaw({ ...from, path: '/auth/password/forgot', body: { identifier } })
  const code = await requestResetCode(identifier)
  const newPassword = randomUUID()
  const reset = { identifier, code, newPassword, confirmPassword: newPassword }
  expect(await sendRaw({ ...from, path: '/auth/password/reset', body: reset }))
    .toMatchObject({ status: 204 })
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [id])
  expect(await logIn(identifier, newPassword, elsewhere)).toMatchObject({ status: 403 })
  expect(await known(id)).toEqual([])
})

test('a code or a provider that signs somebody in makes the address known as well', async () => {
  const attempt = await registerPhone()
  const { code, registrationId, phone } = attempt
  const { body } = await guest.post('/auth/register/verify-otp', {
    identifier: phone,
    code,
    registrationId,
  })
  expect(await known(body.user.id)).toEqual([90])
  const come = await signInAs('google', { email: newEmail() })
  expect(come.status).toBe(200)
  expect(await known(come.body.user.id)).toEqual([90])
})

testFromAddresses('two accounts that know one address have nothing in common', async () => {
  const home = newAddress()
  const people = [await signUp(), await signUp()]
  for (const { identifier, password } of people) await logIn(identifier, password, home)
  const { rows } = await database().query(
    'select count(*)::int as rows, count(distinct mark)::int as marks ' +
      'from private.known_addresses where account_id = any ($1)',
    [people.map(({ id }) => id)],
  )
  expect(rows).toEqual([{ rows: 4, marks: 4 }])
})

test('known addresses go with their account, and with whoever held it before its owner', async () => {
  const person = await signUpByPhone()
  expect(await known(person.id)).toHaveLength(1)
  await admin.deleteUser(person.id)
  expect(await known(person.id)).toEqual([])

  const leaver = await signUp()
  expect(await leaver.post('/auth/me/delete', { password: leaver.password }))
    .toMatchObject({ status: 202 })
  await database().query('update public.accounts set delete_at = now() where id = $1', [leaver.id])
  await runJobs()
  expect(await known(leaver.id)).toEqual([])

  const email = newEmail()
  const password = await registerEmail(email)
  const attacker = await guest.post('/auth/login', { identifier: email, password })
  await database().query(
    `insert into private.known_addresses
     select account_id, 'another address', known_until from private.known_addresses
     where account_id = $1`,
    [attacker.body.user.id],
  )
  const owner = await signInAs('google', { email })
  expect(owner.body.user.id).toBe(attacker.body.user.id)
  expect(await known(owner.body.user.id)).toEqual([90])
})

test('addresses whose time is over are deleted, a thousand at a time', async () => {
  const { id } = await signUp()
  await database().query(
    `insert into private.known_addresses
     select $1, sha256(convert_to(nth::text, 'utf8')), now() - interval '1 day'
     from generate_series(1, 2500) as nth`,
    [id],
  )
  const purge = async () =>
    Number((await database().query('select private.purge_known_addresses() as gone')).rows[0].gone)
  for (let gone = 1; gone;) {
    gone = await purge()
    expect(gone).toBeLessThanOrEqual(1000)
  }
  expect(await known(id)).toEqual([90])
})

async function listeningAuth() {
  const requests: [request: string, client: string | undefined][] = []
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    requests.push([
      `${method} ${url.replace(/^\/auth\/v1/, '')}`,
      headers['sb-forwarded-for'] as string,
    ])
    const target = new URL(url, projectUrl)
    const onward = request(target, { method, headers: { ...headers, host: target.host } })
    onward.on('response', (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: () => server.closeAllConnections() ?? server.close(),
  }
}

testLocally(
  'Auth, which counts by address, is given the client address of each request',
  async () => {
    const auth = await listeningAuth()
    const functions = await startFacade({
      SUPABASE_URL: auth.url,
      AUTH_ISSUER: `${projectUrl}/auth/v1`,
    })
    try {
      const person = await signUp()
      const address = newAddress()
      const headers = {
        'x-forwarded-for': address,
        authorization: `Bearer ${person.accessToken}`,
      }
      const { identifier, password } = person
      const fresh = randomUUID()
      const post = (path: string, body: object) => functions.post(`/auth${path}`, body, headers)
      expect(await post('/login', { identifier, password })).toMatchObject({ status: 200 })
      expect(await post('/login', { identifier: newEmail(), password })).toMatchObject({
        status: 401,
      })
      expect(await post('/refresh', { refreshToken: person.refreshToken }))
        .toMatchObject({ status: 200 })
      expect(await post('/password/change', { currentPassword: password, newPassword: fresh }))
        .toMatchObject({ status: 204 })
      expect(await post('/me/delete', { password: fresh })).toMatchObject({ status: 202 })
      const counted = auth.requests.filter(([what]) => /^POST \/token|^PUT \/user/.test(what))
      expect([...new Set(counted.map(([what]) => what))].sort()).toEqual([
        'POST /token?grant_type=password',
        'POST /token?grant_type=refresh_token',
        'PUT /user',
      ])
      for (const [what, client] of counted) expect([what, client]).toEqual([what, address])
      // Malformed refresh tokens are not sent to Auth, so they do not count towards any limit.
      const requestsBefore = auth.requests.length
      for (
        const refreshToken of ['x', 'eleven char', 'a'.repeat(13), 'a'.repeat(50), 'ü'.repeat(12)]
      ) {
        expect(await post('/refresh', { refreshToken })).toMatchObject({ status: 401 })
      }
      expect(auth.requests).toHaveLength(requestsBefore)
      for (const refreshToken of ['a'.repeat(12), 'a'.repeat(51)]) {
        expect(await post('/refresh', { refreshToken })).toMatchObject({ status: 401 })
      }
      expect(auth.requests).toHaveLength(requestsBefore + 2)
    } finally {
      await functions.stop()
      auth.stop()
    }
  },
)
