import { createPublicKey, generateKeyPairSync, randomInt, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@supabase/supabase-js'
import { beforeEach, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import {
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  secretKey,
  signUp,
} from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { callDataApi } from '../support/data-api.ts'
import { hasStack } from '../support/facade.ts'
import { sendRaw } from '../support/races.ts'
import {
  mintToken,
  newKey,
  partsOf,
  signEs256,
  signHs256,
  signRs256,
  testWithKey,
  unsignedToken,
} from '../support/tokens.ts'

let person: Person
beforeEach(async () => {
  person = await signUp()
})

const admin = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const nobody = { body: { error: { code: expect.stringMatching(/^token_/) } } }

async function refused(token: string) {
  const unknown = `/favorites/${randomUUID()}`
  for (
    const reply of [
      await guest.get('/favorites/ids', bearer(token)),
      await guest.post(unknown, undefined, bearer(token)),
      await guest.get('/auth/me', bearer(token)),
    ]
  ) {
    expect(reply).toMatchObject({ status: 401, ...nobody })
  }
  expect(
    await guest.get('/errors', bearer(token)).then(({ headers }) => headers.get('x-auth-ignored')),
  )
    .toBe('1')
}

const dataApi = async (name: string, accessToken: string) =>
  (await callDataApi({ accessToken }, name)).status

test('AUTH-01 a token without a signature authenticates nobody', async () => {
  const { header, claims } = partsOf(person.accessToken)
  for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
    const token = unsignedToken({ ...header, alg }, claims)
    await refused(token)
    await refused(`${token}.`)
    expect(await dataApi('get_me', `${token}.`)).toBe(401)
  }
  expect((await person.get('/favorites/ids')).body).toEqual({ ids: [] })
})

test('AUTH-02 a token signed with the public key as a secret authenticates nobody', async () => {
  const victim = await signUp()
  const before = await countSessions(victim.id)
  const { keys } = await (await fetch(`${projectUrl}/auth/v1/.well-known/jwks.json`)).json()
  const key = createPublicKey({ key: keys[0], format: 'jwk' })
  const pem = key.export({ type: 'spki', format: 'pem' }).toString()
  const { header, claims } = partsOf(person.accessToken)
  const secrets = [
    pem,
    pem.trimEnd(),
    key.export({ type: 'spki', format: 'der' }),
    JSON.stringify(keys[0]),
    keys[0].x,
    publishableKey,
  ]
  for (const secret of secrets) {
    const token = signHs256(header, { ...claims, sub: victim.id }, secret)
    await refused(token)
    expect(await dataApi('get_me', token)).toBe(401)
  }
  expect(await countSessions(victim.id)).toBe(before)
})

test('AUTH-03 a token must name its key, and name it as a string', async () => {
  const { header, claims } = partsOf(person.accessToken)
  const key = newKey()
  const kids = [
    randomUUID(),
    `' or '1'='1`,
    '../../../../dev/null',
    'k'.repeat(8192),
    [header.kid],
    7,
    undefined,
    header.kid,
  ]
  for (const kid of kids) await refused(signEs256({ ...header, kid }, claims, key))
  await refused(signHs256({ ...header, kid: '../../../../dev/null' }, claims, ''))
})

testWithKey('AUTH-03 the right signature does not help a token that names no key', async () => {
  for (const kid of [undefined, null, 7, [partsOf(person.accessToken).header.kid]]) {
    await refused(mintToken(person.accessToken, {}, { kid }))
  }
  const same = mintToken(person.accessToken, {})
  expect(await guest.get('/auth/me', bearer(same))).toMatchObject({ status: 200 })
})

testWithKey(
  'AUTH-05 tokens that are expired, not yet valid, from the future or far too long-lived are refused',
  async () => {
    const now = Math.floor(Date.now() / 1000)
    const year = 365 * 24 * 3600
    const wrong = [
      { exp: now - 1 },
      { exp: now - 61 },
      { exp: now - year },
      { nbf: now + 3600 },
      { iat: now + 3600 },
      { exp: now + 10 * year },
    ]
    for (const claims of wrong) await refused(mintToken(person.accessToken, claims))
    const expired = await guest.get(
      '/auth/me',
      bearer(mintToken(person.accessToken, { exp: now - 61 })),
    )
    expect(expired.body.error.code).toBe('token_expired')
  },
)

testWithKey('AUTH-06 times that are not plain numbers are refused', async () => {
  const { claims } = partsOf(person.accessToken)
  const odd = ['"never"', '"9999999999"', 'null', 'true', '[9999999999]', '{}', '1e400', '-1e400']
  for (const name of ['exp', 'nbf', 'iat']) {
    for (const value of odd) {
      // As `nbf`, -1e400 is a valid number and means a time long ago.
      if (name === 'nbf' && value === '-1e400') continue
      const { [name]: _old, ...others } = claims
      const text = `${JSON.stringify(others).slice(0, -1)},"${name}":${value}}`
      await refused(mintToken(person.accessToken, text))
    }
  }
  await refused(mintToken(person.accessToken, { exp: undefined }))
  await refused(mintToken(person.accessToken, { iat: undefined }))
})

test('AUTH-07 tokens of other projects, keys and other kinds of tokens authenticate nobody', async () => {
  const { header, claims } = partsOf(person.accessToken)
  const key = newKey()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const idToken = { iss: 'https://accounts.google.com', aud: 'us', sub: '1', exp: claims.exp }
  const tokens = [
    signEs256({ ...header, kid: randomUUID() }, claims, key),
    signEs256(header, { ...claims, role: 'service_role' }, key),
    signEs256(header, { ...claims, role: 'supabase_admin' }, key),
    signHs256(header, { url: 'avatars/a.webp', iat: claims.iat, exp: claims.exp }, 'storage'),
    signRs256({ alg: 'RS256', kid: randomUUID() }, idToken, privateKey),
    publishableKey,
    secretKey,
  ]
  for (const token of tokens) await refused(token)
})

testWithKey('AUTH-07 our own key does not help another issuer, audience or role', async () => {
  const others = [
    { iss: 'https://other.supabase.co/auth/v1' },
    { iss: undefined },
    { aud: 'storage' },
    { aud: undefined },
    { role: 'service_role' },
    { role: 'anon' },
    { role: 'postgres' },
    { role: ['authenticated'] },
  ]
  for (const claims of others) await refused(mintToken(person.accessToken, claims))
})

test('AUTH-08 a single flipped bit makes a token invalid', async () => {
  const parts = person.accessToken.split('.')
  const flipped = Array.from({ length: 200 }, () => {
    for (;;) {
      const at = randomInt(3)
      const index = randomInt(parts[at]!.length)
      const code = parts[at]!.charCodeAt(index) ^ (1 << randomInt(6))
      const changed = parts[at]!.slice(0, index) + String.fromCharCode(code) +
        parts[at]!.slice(index + 1)
      // Skips text that decodes to the same bytes, which is the same token, and characters
      // that no header can contain.
      const same = Buffer.from(changed, 'base64url').equals(Buffer.from(parts[at]!, 'base64url'))
      if (!same && code > 32 && code < 127) return parts.with(at, changed).join('.')
    }
  })
  const statuses = new Set<number>()
  for (let i = 0; i < flipped.length; i += 20) {
    const replies = await Promise.all(
      flipped.slice(i, i + 20).map((token) => guest.get('/favorites', bearer(token))),
    )
    for (const { status } of replies) statuses.add(status)
  }
  expect([...statuses]).toEqual([401])
})

test('AUTH-09 malformed authorization headers are refused and break nothing', async () => {
  const token = person.accessToken
  const [header, payload, signature] = token.split('.') as [string, string, string]
  const of = (text: string) =>
    [header, Buffer.from(text).toString('base64url'), signature].join('.')
  const odd = [
    '',
    'Bearer',
    'Bearer ',
    'Bearer     ',
    header,
    `Bearer ${header}`,
    `Bearer ${header}.${payload}`,
    `Bearer ${token}.${signature}`,
    `Bearer ${token}.${signature}.x`,
    `Bearer ..`,
    `Bearer ###.$$$.%%%`,
    `Bearer ${of('not json')}`,
    `Bearer ${of('null')}`,
    `Bearer ${of('[]')}`,
    `Bearer ${of('"text"')}`,
    `Bearer ${token}, Bearer ${(await signUp()).accessToken}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token.slice(0, -1)}é`,
    `Bearer ${'a'.repeat(9000)}.${payload}.${signature}`,
  ]
  for (const authorization of odd) {
    const reply = await sendRaw({ path: '/auth/me', headers: [['Authorization', authorization]] })
    expect(reply, authorization.slice(0, 80)).toMatchObject({ status: 401, ...nobody })
  }
  for (const size of [64 * 1024, 1024 * 1024]) {
    const headers: [string, string][] = [['Authorization', `Bearer ${'a'.repeat(size)}`]]
    const { status } = await sendRaw({ path: '/auth/me', headers })
    // A client that is still sending may see the connection close before it receives the response.
    if (size > 64 * 1024) expect([431, 0]).toContain(status)
    else expect(status).toBe(431)
  }
  expect(await person.get('/auth/me')).toMatchObject({ status: 200 })
})

test('AUTH-09 two tokens in one request act for neither', async () => {
  const other = await signUp()
  const header = ({ accessToken }: Person): [string, string] => [
    'Authorization',
    `Bearer ${accessToken}`,
  ]
  const reply = await sendRaw({ path: '/auth/me', headers: [header(person), header(other)] })
  expect(reply.status).toBe(401)
})

test('AUTH-10 only the Bearer scheme counts, in any case, and only the header', async () => {
  const token = person.accessToken
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    const headers = { authorization: `${scheme} ${token}` }
    expect(await guest.get('/auth/me', { headers })).toMatchObject({ status: 200 })
  }
  for (const scheme of ['Basic', 'Token', 'JWT', 'Bearer:', '']) {
    const headers = { authorization: `${scheme} ${token}`.trim() }
    expect(await guest.get('/auth/me', { headers })).toMatchObject({ status: 401, ...nobody })
  }

  const missing = { status: 401, body: { error: { code: 'token_missing' } } }
  for (const name of ['access_token', 'token', 'jwt', 'apikey']) {
    const reply = await guest.get(`/auth/me?${name}=${token}`)
    expect(reply).toMatchObject(missing)
    expect(JSON.stringify([reply.body, ...reply.headers])).not.toContain(token)
  }
  const elsewhere: Record<string, string> = {
    cookie: `access_token=${token}; sb-access-token=${token}`,
    'x-access-token': token,
    'x-authorization': `Bearer ${token}`,
  }
  expect(await guest.get('/auth/me', { headers: elsewhere })).toMatchObject(missing)
  expect(await guest.post('/auth/logout', { access_token: token })).toMatchObject(missing)
})

test.runIf(hasStack)('AUTH-10 a token in the query is in no log', async () => {
  const { accessToken } = await signUp()
  await guest.get(`/auth/me?access_token=${accessToken}`)
  const logs = join(variable('LOCAL_STACK')!, 'logs')
  expect(readdirSync(logs).length).toBeGreaterThan(2)
  for (const name of readdirSync(logs)) {
    expect(readFileSync(join(logs, name), 'utf8').includes(accessToken), name).toBe(false)
  }
})

testWithKey(
  'AUTH-11 the right signature under wrong claims authenticates nobody and creates nothing',
  async () => {
    const { id } = person
    const subjects = [undefined, '', 'me', `{${id}}`, [id], { id }, null, 7, id.toUpperCase()]
    for (const sub of subjects) await refused(mintToken(person.accessToken, { sub }))
    for (const session_id of [undefined, '', 'me', 7, null]) {
      await refused(mintToken(person.accessToken, { session_id }))
    }
    await refused(mintToken(person.accessToken, { role: undefined }))

    const other = await signUp()
    const { claims } = partsOf(other.accessToken)
    for (
      const changes of [{ sub: randomUUID() }, { session_id: randomUUID() }, {
        session_id: claims.session_id,
      }]
    ) {
      const reply = await guest.get('/auth/me', bearer(mintToken(person.accessToken, changes)))
      expect(reply).toMatchObject({ status: 401, body: { error: { code: 'token_invalid' } } })
    }
    expect(await countSessions(id)).toBe(1)
  },
)

test('AUTH-11 a user without an account is refused and gets no account', async () => {
  await database().query('delete from public.accounts where id = $1', [person.id])
  const refusal = { status: 401, body: { error: { code: 'token_invalid' } } }
  expect(await person.get('/auth/me')).toMatchObject(refusal)
  expect(await person.post(`/favorites/${randomUUID()}`)).toMatchObject(refusal)
  expect(await guest.post('/auth/refresh', { refreshToken: person.refreshToken }))
    .toMatchObject(refusal)
  const { rows } = await database().query('select from public.accounts where id = $1', [person.id])
  expect(rows).toEqual([])
  await admin.deleteUser(person.id)
})
