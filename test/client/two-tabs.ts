// Two tabs of an app that share a storage but are not notified of changes to it.
import type { Storage } from '../../client/src/index.ts'
import { baseUrl, type Person, signUp } from '../support/client.ts'
import { signedIn, watchedClient } from './support.ts'

function tab(storage: Storage) {
  const gate = { path: '', reached: false, open: () => {} }
  let opened: Promise<void> | undefined
  const watched = watchedClient({
    storage,
    fetch: async (input, init) => {
      if (gate.path && String(input) === baseUrl + gate.path) {
        gate.reached = true
        await opened
      }
      return await fetch(input, init)
    },
  })
  const heard: (string | undefined)[] = []
  watched.client.auth.onChange((session) => heard.push(session?.user.id))
  const hold = (path: string) => {
    gate.path = path
    opened = new Promise((resolve) => (gate.open = resolve))
    return gate
  }
  return { ...watched, heard, hold }
}

export const credentials = ({ identifier, password }: Person) => ({
  identifier,
  password,
})

export const emptyTabs = (storage: Storage) => [tab(storage), tab(storage)] as const

export async function twoTabs() {
  const [a, b] = [await signUp(), await signUp()]
  const { storage } = await signedIn(a)
  const [here, there] = emptyTabs(storage)
  for (const { client } of [here, there]) await client.auth.session()
  const comes = (person: Person) => there.client.auth.signIn(credentials(person))
  return { a, b, storage, here, there, comes }
}

export const changed = { code: 'session_changed', status: 0, temporary: false }
