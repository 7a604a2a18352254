// In several tabs, the client never makes a call as a user other than the one who began it.
import { expect, test } from 'vitest'
import { memoryStorage, type Session } from '../../client/src/index.ts'
import { type Person, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { completeFields } from '../support/listings.ts'
import { waitUntil } from '../support/wait.ts'
import { changeKept, problem, spoilt, storedSession, watchedClient } from './support.ts'
import { changed, credentials, emptyTabs, twoTabs } from './two-tabs.ts'

const listing = {
  body: { ...completeFields.SALE, type: 'SALE' as const, publish: true },
}
const ownListings = async (person: Person) =>
  (await person.get('/properties/mine')).body.items.length

test('what was refused under one session is not sent under the next', async () => {
  const { a, b, here, there, comes } = await twoTabs()
  const gate = here.hold('/properties')
  const published = here.client.post('/properties', listing)
  const refused = expect(published).rejects.toMatchObject(changed)
  await waitUntil('it is on its way', () => gate.reached)
  await there.client.auth.signOut()
  await comes(b)
  gate.open()
  await refused
  expect(here.requests).toEqual(['POST /properties'])
  expect(await ownListings(b)).toBe(0)
  expect(here.heard).toEqual([b.id])
  expect((await here.client.get('/auth/me')).user.id).toBe(b.id)
  expect(await ownListings(a)).toBe(0)
})

test('what was sent under one session is done under it, whoever signs in meanwhile', async () => {
  const { a, b, here, comes } = await twoTabs()
  const gate = here.hold('/properties')
  const published = here.client.post('/properties', listing)
  await waitUntil('it is on its way', () => gate.reached)
  await comes(b)
  gate.open()
  expect((await published).status).toBe('active')
  expect([await ownListings(a), await ownListings(b)]).toEqual([1, 0])
})

test('a tab that missed who is signed in sends nothing as that person, and is told', async () => {
  const { b, here, there, comes } = await twoTabs()
  await there.client.auth.signOut()
  await comes(b)
  await expect(here.client.post('/properties', listing)).rejects.toMatchObject(
    changed,
  )
  expect(here.requests).toEqual([])
  expect(here.heard).toEqual([b.id])
  expect((await here.client.post('/properties', listing)).status).toBe(
    'active',
  )
  expect(await ownListings(b)).toBe(1)
})

test('the next sign-in of the same person is another session as well', async () => {
  const { a, here, there, comes } = await twoTabs()
  await there.client.auth.signOut()
  await comes(a)
  await expect(here.client.get('/wallet')).rejects.toMatchObject(changed)
  expect(here.heard).toEqual([a.id])
  expect((await here.client.get('/wallet')).held).toBe(0)
})

test('a tab where nobody is signed in goes on as who signs in elsewhere', async () => {
  const storage = memoryStorage()
  const [here, there] = emptyTabs(storage)
  expect(await here.client.auth.session()).toBeUndefined()
  const person = await signUp()
  await there.client.auth.signIn(credentials(person))
  expect((await here.client.get('/auth/me')).user.id).toBe(person.id)
  expect(here.heard).toEqual([person.id])
})

test('who signed out elsewhere is a guest here: public pages stay, nothing else is done', async () => {
  const { here, there } = await twoTabs()
  const id = await insertListing((await signUp()).identityId)
  await there.client.auth.signOut()
  expect((await here.client.get('/properties/{id}', { path: { id } })).id).toBe(
    id,
  )
  expect(here.heard).toEqual([undefined])
  await expect(here.client.post('/properties', listing)).rejects.toMatchObject({
    code: 'token_missing',
  })
})

test('a try after a pause is bound as the first was', async () => {
  for (const comesNext of [true, false]) {
    const { b, storage, there, comes } = await twoTabs()
    let requested = 0
    const busy = watchedClient({
      storage,
      fetch: async () => {
        requested++
        await there.client.auth.signOut()
        if (comesNext) await comes(b)
        return Response.json(problem('service_unavailable'), { status: 503 })
      },
    })
    await expect(busy.client.post('/properties', listing)).rejects
      .toMatchObject(changed)
    expect(requested).toBe(1)
  }
})

test('what was tried after a sign-out is not tried again by who has signed in since', async () => {
  const { b, storage, there, comes } = await twoTabs()
  let requested = 0
  const { client } = watchedClient({
    storage,
    fetch: async () => {
      requested++
      await comes(b)
      return Response.json(problem('service_unavailable'), { status: 503 })
    },
  })
  await client.auth.session()
  await there.client.auth.signOut()
  await expect(client.post('/properties', listing)).rejects.toMatchObject(
    changed,
  )
  expect(requested).toBe(1)
})

test('the pages of a list are all of one session', async () => {
  const { a, b, here, comes } = await twoTabs()
  const { identityId } = await signUp()
  for (let count = 0; count < 2; count++) {
    await a.post(`/favorites/${await insertListing(identityId)}`)
  }
  const pages = here.client.list('/favorites', { query: { limit: 1 } }).pages()
  expect((await pages.next()).value?.items).toHaveLength(1)
  await comes(b)
  await expect(here.client.get('/auth/me')).rejects.toMatchObject(changed)
  await expect(pages.next()).rejects.toMatchObject(changed)
})

test('a renewal elsewhere is taken over, and told', async () => {
  const { a, storage, here, there } = await twoTabs()
  await changeKept(storage, { until: Date.now() + 1000 })
  await there.client.get('/auth/me')
  await here.client.get('/auth/me')
  expect(here.requests).toEqual(['GET /auth/me'])
  expect(here.heard.every((id) => id === a.id)).toBe(true)
  const tokens = [here, there].map(async ({ client }) => (await client.auth.session())?.accessToken)
  expect(new Set(await Promise.all(tokens)).size).toBe(1)
})

test.each(['signs out', 'signs out and somebody else in'])(
  'a renewal that comes when a person %s elsewhere changes nothing',
  async (what) => {
    const { b, storage, here, there, comes } = await twoTabs()
    await changeKept(storage, { until: Date.now() + 1000 })
    const gate = here.hold('/auth/refresh')
    const requested = here.client.get('/auth/me').catch((error) => error)
    await waitUntil('it is on its way', () => gate.reached)
    await there.client.auth.signOut()
    if (what !== 'signs out') await comes(b)
    const left = await storedSession(storage)
    gate.open()
    expect(await requested).toMatchObject(
      what === 'signs out' ? { code: 'token_missing' } : changed,
    )
    expect(await storedSession(storage)).toBe(left)
    expect((await here.client.auth.session())?.user.id)
      .toBe(what === 'signs out' ? undefined : b.id)
  },
)

test('a session that ends in one tab ends nobody else in another', async () => {
  const { a, b, storage, here, comes } = await twoTabs()
  await a.post('/auth/logout', { scope: 'global' })
  await changeKept(storage, { until: Date.now() + 1000 })
  const gate = here.hold('/auth/refresh')
  const requested = expect(here.client.get('/auth/me')).rejects.toMatchObject(
    changed,
  )
  await waitUntil('it is on its way', () => gate.reached)
  await comes(b)
  gate.open()
  await requested
  expect(here.heard.at(-1)).toBe(b.id)
  expect(JSON.parse((await storedSession(storage))!).session.user.id).toBe(
    b.id,
  )
})

test('signing out of a tab that missed who is signed in leaves that person signed in', async () => {
  const { a, b, here, there, comes } = await twoTabs()
  await comes(b)
  await here.client.auth.signOut()
  expect((await there.client.get('/auth/me')).user.id).toBe(b.id)
  expect((await here.client.get('/auth/me')).user.id).toBe(b.id)
  expect(here.requests).toContain('POST /auth/logout')
  expect((await a.get('/auth/me')).status).toBe(200)
})

test('tokens that something else keeps are not mixed either', async () => {
  const [a, b] = [await signUp(), await signUp()]
  const tokens = [spoilt(a.accessToken), b.accessToken]
  const refused = watchedClient({ accessToken: () => tokens.shift() })
  await expect(refused.client.post('/properties', listing)).rejects
    .toMatchObject(changed)
  expect(refused.requests).toEqual(['POST /properties'])
  expect(await ownListings(b)).toBe(0)

  let token = a.accessToken
  const { client, requests } = watchedClient({ accessToken: () => token })
  const heard: (Session | undefined)[] = []
  client.auth.onChange((session) => heard.push(session))
  expect((await client.get('/auth/me')).user.id).toBe(a.id)
  token = b.accessToken
  await expect(client.post('/properties', listing)).rejects.toMatchObject(
    changed,
  )
  expect(requests).toEqual(['GET /auth/me'])
  expect(heard).toEqual([undefined])
  expect((await client.get('/auth/me')).user.id).toBe(b.id)
})
