import { expect, test, vi } from 'vitest'
import type { Session } from '../../client/src/index.ts'
import { newEmail, signIn, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { changeKept, signedIn, spoilt, watchedClient } from './support.ts'

const refreshes = (requests: string[]) =>
  requests.filter((request) => request.endsWith('/auth/refresh')).length

test('whoever signed in is signed in at the next start of the app', async () => {
  const person = await signUp()
  const { storage } = await signedIn(person)
  const { client, requests } = watchedClient({ storage })
  expect((await client.auth.session())?.user.id).toBe(person.id)
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  expect(requests).toEqual(['GET /auth/me'])
})

test('many calls at once renew a session once', async () => {
  const { storage } = await signedIn(await signUp())
  await changeKept(storage, { until: Date.now() + 1000 })
  const { client, requests } = watchedClient({ storage })
  await Promise.all(Array.from({ length: 10 }, () => client.get('/auth/me')))
  expect(refreshes(requests)).toBe(1)
  expect(requests).toHaveLength(11)
})

test('many calls that are refused for their token renew it once, and are made again', async () => {
  const { storage } = await signedIn(await signUp())
  await changeKept(storage, { spoilt: true })
  const { client, requests } = watchedClient({ storage })
  await Promise.all(Array.from({ length: 5 }, () => client.get('/auth/me')))
  expect(refreshes(requests)).toBe(1)
  expect(requests).toHaveLength(11)
})

test('a public route answers as to the person, also when the token was not good any more', async () => {
  const owner = await signUp()
  const { id } = await publishListing(owner)
  const person = await signUp()
  await person.post(`/favorites/${id}`)
  const { storage } = await signedIn(person)
  await changeKept(storage, { spoilt: true })
  const { client } = watchedClient({ storage })
  expect(await client.get('/properties/{id}', { path: { id } })).toMatchObject({ isFavorite: true })
})

test('what one tab has renewed the other takes', async () => {
  const { storage } = await signedIn(await signUp())
  await changeKept(storage, { until: Date.now() + 1000 })
  const tabs = [watchedClient({ storage }), watchedClient({ storage })]
  for (const { client } of tabs) await client.auth.session()
  for (const { client } of tabs) await client.get('/auth/me')
  expect(tabs.map(({ requests }) => refreshes(requests))).toEqual([1, 0])
})

test('a session that was ended elsewhere is forgotten, and the app hears why', async () => {
  const person = await signUp()
  const { client, storage } = await signedIn(person)
  const heard: [Session | undefined, unknown][] = []
  client.auth.onChange((session, reason) => heard.push([session, reason]))
  const elsewhere = await signIn(person.identifier, person.password)
  await elsewhere.post('/auth/logout', { scope: 'others' })
  await expect(client.get('/auth/me')).rejects.toMatchObject({ code: 'token_invalid', status: 401 })
  expect(heard).toEqual([[undefined, expect.objectContaining({ code: 'token_invalid' })]])
  expect(await client.auth.session()).toBeUndefined()
  expect(await watchedClient({ storage }).client.auth.session()).toBeUndefined()
})

const html = '<html>403 Forbidden</html>'

test.each<[string, number, unknown]>([
  ['a page', 403, html],
  ['a page that asks to sign in', 200, html],
  ['JSON of another kind', 401, { message: 'Invalid API key' }],
  ['an error that is a text', 403, { error: 'forbidden' }],
  ['an error with another code', 401, { error: { code: 401, message: 'Unauthorized' } }],
  ['half of an error', 401, { error: { code: 'token_invalid' } }],
  ['no session', 200, { status: 'ok' }],
  ['nothing', 200, ''],
])('a session outlives %s from something in between', async (_what, status, body) => {
  const person = await signUp()
  const { storage } = await signedIn(person)
  await changeKept(storage, { until: 0 })
  let between = true
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const { client } = watchedClient({
    storage,
    fetch: (input, init) =>
      between ? Promise.resolve(new Response(text, { status })) : fetch(input, init),
  })
  const heard: unknown[] = []
  client.auth.onChange((session) => heard.push(session))
  await expect(client.get('/auth/me', { retries: 0 })).rejects.toMatchObject({
    code: 'connection',
  })
  expect(heard).toEqual([])
  between = false
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
})

test('what stands between ends no session at any other call either', async () => {
  const person = await signUp()
  const { storage } = await signedIn(person)
  let between = true
  const { client, requests } = watchedClient({
    storage,
    fetch: (input, init) =>
      between ? Promise.resolve(new Response(html, { status: 401 })) : fetch(input, init),
  })
  const call = client.get('/auth/me', { retries: 0 })
  await expect(call).rejects.toMatchObject({ code: 'connection', status: 401 })
  expect(requests).toEqual(['GET /auth/me'])
  between = false
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
})

test.each(['signIn', 'verify'] as const)(
  '%s signs nobody in with an answer of another',
  async (by) => {
    const { client } = watchedClient({ fetch: () => Promise.resolve(new Response(html)) })
    const given = { identifier: newEmail(), password: 'Diwaniya-2026', code: '123456' }
    await expect(client.auth[by](given)).rejects.toMatchObject({ code: 'connection' })
    expect(await client.auth.session()).toBeUndefined()
  },
)

test('a listener that throws keeps nobody from hearing, and no call from its answer', async () => {
  const person = await signUp()
  const { client } = watchedClient()
  const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
  let heard = 0
  client.auth.onChange(() => {
    throw new Error('of the app')
  })
  client.auth.onChange(() => heard++)
  const { identifier, password } = person
  expect((await client.auth.signIn({ identifier, password })).user.id).toBe(person.id)
  expect(heard).toBe(1)
  expect(complaints).toHaveBeenCalledOnce()
  complaints.mockRestore()
})

test('a session outlives a time without a connection', async () => {
  const person = await signUp()
  const { storage } = await signedIn(person)
  await changeKept(storage, { until: 0 })
  let connected = false
  const { client } = watchedClient({
    storage,
    fetch: (input, init) =>
      connected ? fetch(input, init) : Promise.reject(new TypeError('no route to host')),
  })
  await expect(client.get('/auth/me', { retries: 0 })).rejects.toMatchObject({
    code: 'connection',
  })
  connected = true
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
})

test('who signs out everywhere else stays signed in here', async () => {
  const person = await signUp()
  const [here, there] = [await signedIn(person), await signedIn(person)]
  await here.client.auth.signOut('others')
  expect((await here.client.get('/auth/me')).user.id).toBe(person.id)
  await expect(there.client.get('/auth/me')).rejects.toMatchObject({ status: 401 })
})

test('acting as another identity shows in the session', async () => {
  const person = await signUp()
  const { client } = await signedIn(person)
  const seen: (string | undefined)[] = []
  client.auth.onChange((session) => seen.push(session?.activeIdentity?.id))
  await client.auth.switchIdentity(person.identityId)
  expect(seen).toEqual([person.identityId])
  expect((await client.auth.session())?.accessToken).toEqual(expect.any(String))
})

test('something else may keep the session, and is asked for the token of the moment', async () => {
  const person = await signUp()
  const tokens = [spoilt(person.accessToken), person.accessToken]
  const { client, requests } = watchedClient({ accessToken: () => tokens.shift() })
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  expect(requests).toEqual(['GET /auth/me', 'GET /auth/me'])
})

test('a wrong password is told as such and signs nobody in', async () => {
  const { client, requests } = watchedClient()
  const wrong = client.auth.signIn({ identifier: newEmail(), password: 'not-this-one' })
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_credentials', status: 401 })
  expect(await client.auth.session()).toBeUndefined()
  expect(requests).toEqual(['POST /auth/login'])
})
