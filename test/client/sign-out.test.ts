import { expect, test } from 'vitest'
import { memoryStorage, type Session } from '../../client/src/index.ts'
import { baseUrl, caller, signUp } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'
import { changeKept, problem, signedIn, storedSession, watchedClient } from './support.ts'

async function traveller() {
  const storage = memoryStorage()
  const person = await signUp()
  await signedIn(person, { storage })
  const network = { connected: false }
  const watched = watchedClient({
    storage,
    fetch: (input, init) =>
      network.connected ? fetch(input, init) : Promise.reject(new TypeError('no route to host')),
  })
  const { accessToken } = (await watched.client.auth.session())!
  const isOver = async () => (await caller(accessToken).get('/auth/me')).status === 401
  return { ...watched, person, network, isOver }
}

test('signing out tells the service, and nothing of the session stays', async () => {
  const { client, network, isOver, storage } = await traveller()
  network.connected = true
  const heard: (Session | undefined)[] = []
  client.auth.onChange((session) => heard.push(session))
  await client.auth.signOut()
  expect(await isOver()).toBe(true)
  expect(await storedSession(storage)).toBeUndefined()
  expect(heard).toEqual([undefined])
})

test('a session whose token has ended is renewed to be signed out', async () => {
  const person = await signUp()
  const { storage } = await signedIn(person)
  await changeKept(storage, { spoilt: true })
  const { client, requests } = watchedClient({ storage })
  await client.auth.signOut()
  expect(requests).toEqual(['POST /auth/logout', 'POST /auth/refresh', 'POST /auth/logout'])
})

test('signing out offline forgets the session, and tells the service at the next chance', async () => {
  const { client, network, isOver, storage } = await traveller()
  await client.auth.signOut()
  expect(await client.auth.session()).toBeUndefined()
  expect(await storedSession(storage)).toBeUndefined()
  expect(await isOver()).toBe(false)
  await expect(client.get('/meta/areas', { retries: 0 })).rejects.toMatchObject({
    code: 'connection',
  })
  network.connected = true
  await client.get('/meta/areas')
  await waitUntil('the service knows', isOver)
})

test('what signs in after that stays signed in', async () => {
  const { client, network, isOver, person } = await traveller()
  await client.auth.signOut()
  network.connected = true
  const { identifier, password } = person
  await client.auth.signIn({ identifier, password })
  await waitUntil('the service knows of the session before', isOver)
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
})

test('a service that is busy is told again', async () => {
  const storage = memoryStorage()
  await signedIn(await signUp(), { storage })
  let busy = true
  const { client, requests } = watchedClient({
    storage,
    fetch: (input, init) =>
      busy && String(input) === `${baseUrl}/auth/logout`
        ? Promise.resolve(Response.json(problem('service_unavailable'), { status: 503 }))
        : fetch(input, init),
  })
  const logouts = () => requests.filter((one) => one === 'POST /auth/logout').length
  await client.auth.signOut()
  await client.get('/meta/areas')
  await waitUntil('it was told again', () => logouts() === 2)
  busy = false
  await client.get('/meta/areas')
  await waitUntil('and again', () => logouts() === 3)
  await client.get('/meta/areas')
  expect(logouts()).toBe(3)
})

test('signing out waits for no answer that does not come', async () => {
  const { storage } = await signedIn(await signUp())
  const { client } = watchedClient({
    storage,
    timeout: 100,
    fetch: (_input, init) =>
      new Promise((_, reject) => {
        init!.signal!.addEventListener('abort', () => reject(new TypeError('aborted')))
      }),
  })
  await client.auth.signOut()
  expect(await client.auth.session()).toBeUndefined()
})

test.each(['others', 'global'] as const)('%s needs the service', async (scope) => {
  const { client, network, person } = await traveller()
  await expect(client.auth.signOut(scope)).rejects.toMatchObject({ code: 'connection' })
  network.connected = true
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
})

test('who signs out everywhere is signed out here as well', async () => {
  const person = await signUp()
  const [here, there] = [await signedIn(person), await signedIn(person)]
  await here.client.auth.signOut('global')
  expect(await here.client.auth.session()).toBeUndefined()
  expect(await storedSession(here.storage)).toBeUndefined()
  await expect(there.client.get('/auth/me')).rejects.toMatchObject({ status: 401 })
})

test('tokens that something else keeps are signed out as well', async () => {
  const person = await signUp()
  const { client } = watchedClient({ accessToken: () => person.accessToken })
  await client.auth.signOut()
  expect((await person.get('/auth/me')).status).toBe(401)

  const other = await signUp()
  let connected = false
  let token: string | undefined = other.accessToken
  const offline = watchedClient({
    accessToken: () => token,
    fetch: (input, init) =>
      connected ? fetch(input, init) : Promise.reject(new TypeError('no route to host')),
  })
  await offline.client.auth.signOut()
  token = undefined
  connected = true
  await offline.client.get('/meta/areas')
  await waitUntil('it is told', async () => (await other.get('/auth/me')).status === 401)
})

test('nobody is told anything where nobody was signed in', async () => {
  const { client, requests } = watchedClient()
  await client.auth.signOut()
  expect(requests).toEqual([])
})

test('who has the account deleted is signed out, once that is accepted', async () => {
  const { client, network, person, storage, requests } = await traveller()
  const tab = watchedClient({ storage })
  await tab.client.auth.session()
  const heard: [Session | undefined, unknown][] = []
  client.auth.onChange((session, reason) => heard.push([session, reason]))
  const leave = (password: string) => client.post('/auth/me/delete', { body: { password } })
  await expect(leave(person.password)).rejects.toMatchObject({ code: 'connection' })
  network.connected = true
  await expect(leave('not-this-one')).rejects.toMatchObject({ code: 'invalid_credentials' })
  expect((await client.auth.session())?.user.id).toBe(person.id)
  expect(heard).toEqual([])

  expect(Date.parse((await leave(person.password)).deleteAt)).toBeGreaterThan(Date.now())
  expect(await storedSession(storage)).toBeUndefined()
  expect(await tab.client.auth.session()).toBeUndefined()
  expect(heard).toEqual([[undefined, undefined]])
  await expect(client.get('/auth/me')).rejects.toMatchObject({ code: 'token_missing' })
  expect(requests).toEqual([...Array(3).fill('POST /auth/me/delete'), 'GET /auth/me'])
})

test('who signed in while an account was left stays signed in', async () => {
  const storage = memoryStorage()
  const [leaver, next] = [await signUp(), await signUp()]
  await signedIn(leaver, { storage })
  const { client } = watchedClient({
    storage,
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      await signedIn(next, { storage })
      return answer
    },
  })
  await client.post('/auth/me/delete', { body: { password: leaver.password } })
  expect((await client.auth.session())?.user.id).toBe(next.id)
})
