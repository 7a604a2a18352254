import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryStorage, type Session, type Storage } from '../../client/src/index.ts'
import { type Person, signUp } from '../support/client.ts'
import { pause } from '../support/wait.ts'
import { changeKept, signedIn, storedSession, watchedClient } from './support.ts'

let warnings: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
})
afterEach(() => warnings.mockRestore())

const credentials = ({ identifier, password }: Person) => ({ identifier, password })

function heardBy(client: ReturnType<typeof watchedClient>['client']) {
  const heard: (Session | undefined)[] = []
  client.auth.onChange((session) => heard.push(session))
  return () => heard.map((session) => session?.user.id)
}

function failing(inside: Storage = memoryStorage()) {
  const fails = { get: false, set: false, remove: false }
  const unless = (failed: boolean) => {
    if (failed) throw new Error('The storage is locked.')
  }
  const storage: Storage = {
    getItem: (key) => (unless(fails.get), inside.getItem(key)),
    setItem: (key, value) => (unless(fails.set), inside.setItem(key, value)),
    removeItem: (key) => (unless(fails.remove), inside.removeItem(key)),
  }
  return { storage, fails, inside }
}

test('a session holds until the app ends in a storage that always fails', async () => {
  const person = await signUp()
  const { storage, fails } = failing()
  Object.assign(fails, { get: true, set: true, remove: true })
  const { client } = watchedClient({ storage })
  const heard = heardBy(client)
  await client.auth.signIn(credentials(person))
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  await client.auth.switchIdentity(person.identityId)
  await client.auth.signOut()
  expect(await client.auth.session()).toBeUndefined()
  expect(heard()).toEqual([person.id, person.id, undefined])
})

test('and in one that keeps nothing, and does not say so', async () => {
  const person = await signUp()
  const nothing: Storage = { getItem: () => null, setItem: () => {}, removeItem: () => {} }
  const { client } = watchedClient({ storage: nothing })
  const heard = heardBy(client)
  await client.auth.signIn(credentials(person))
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  expect(heard()).toEqual([person.id])
})

test('a session that could not be read at first is found, and told, once it can be', async () => {
  const person = await signUp()
  const { storage, fails } = failing()
  await signedIn(person, { storage })
  fails.get = true
  const { client } = watchedClient({ storage })
  const heard = heardBy(client)
  expect(await client.auth.session()).toBeUndefined()
  fails.get = false
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  expect(heard()).toEqual([person.id])
})

test('who signed in stays so where the session of another could not be replaced', async () => {
  for (const unreadable of [false, true]) {
    const [before, person] = [await signUp(), await signUp()]
    const { storage, fails } = failing()
    await signedIn(before, { storage })
    const { client } = watchedClient({ storage })
    Object.assign(fails, { set: true, get: unreadable })
    await client.auth.signIn(credentials(person))
    fails.get = false
    expect((await client.get('/auth/me')).user.id).toBe(person.id)
    expect((await client.auth.session())?.user.id).toBe(person.id)
  }
})

test('a session goes on while the storage cannot be read', async () => {
  const person = await signUp()
  const { storage, fails } = failing()
  const { client } = await signedIn(person, { storage })
  fails.get = true
  expect((await client.get('/auth/me')).user.id).toBe(person.id)
  fails.get = false
  expect((await client.auth.session())?.user.id).toBe(person.id)
})

test.each(['', '{', 'null', '[]', '{"session":{}}', '{"session":{"accessToken":"x"}}'])(
  'what is no session is nobody: %s',
  async (text) => {
    const person = await signUp()
    const { storage, client } = await signedIn(person)
    const heard = heardBy(client)
    await storage.setItem('kuwait-property.session', text)
    expect(await watchedClient({ storage }).client.auth.session()).toBeUndefined()
    await expect(client.get('/auth/me')).rejects.toMatchObject({ code: 'token_missing' })
    expect(heard()).toEqual([undefined])
  },
)

test('a storage that is emptied signs out, and is heard', async () => {
  const { client, storage } = await signedIn(await signUp())
  const heard = heardBy(client)
  await storage.removeItem('kuwait-property.session')
  expect(await client.auth.session()).toBeUndefined()
  expect(heard()).toEqual([undefined])
})

/** Returns a storage that is asynchronous, like AsyncStorage. Its calls take different times. */
function slow(): Storage {
  const inside = memoryStorage()
  const times = [3, 0, 9, 1, 5, 2]
  let turn = 0
  const later = async <Value>(work: () => Value) => {
    await pause(times[turn++ % times.length]!, 'any moment is right')
    return work()
  }
  return {
    getItem: (key) => later(() => inside.getItem(key) as string | undefined),
    setItem: (key, value) => later(() => inside.setItem(key, value)),
    removeItem: (key) => later(() => inside.removeItem(key)),
  }
}

test('a slow storage ends with what came last, and mixes nobody up', async () => {
  const [a, b] = [await signUp(), await signUp()]
  const storage = slow()
  const { client } = watchedClient({ storage })
  const heard = heardBy(client)
  await client.auth.signIn(credentials(a))
  const calls = Promise.allSettled(
    Array.from({ length: 10 }, async (_, nth) => {
      await pause(nth * 4, 'any moment is right')
      return (await client.get('/auth/me')).user.id
    }),
  )
  await client.auth.signOut()
  await client.auth.signIn(credentials(b))
  for (const answer of await calls) {
    if (answer.status === 'fulfilled') expect([a.id, b.id]).toContain(answer.value)
    else expect(['token_missing', 'token_invalid', 'session_changed']).toContain(answer.reason.code)
  }
  expect(heard()).toEqual([a.id, undefined, b.id])
  expect((await client.auth.session())?.user.id).toBe(b.id)
  expect(JSON.parse((await storedSession(storage))!).session.user.id).toBe(b.id)
})

test('many calls over a slow storage renew once', async () => {
  const storage = slow()
  await signedIn(await signUp(), { storage })
  await changeKept(storage, { until: 0 })
  const { client, requests } = watchedClient({ storage })
  await Promise.all(Array.from({ length: 10 }, () => client.get('/auth/me')))
  expect(requests.filter((request) => request === 'POST /auth/refresh')).toHaveLength(1)
})
