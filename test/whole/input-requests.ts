import { signUpAdmin } from '../support/admins.ts'
import { type Person, request, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import {
  concreteSchema,
  type Input,
  type Operation,
  operations,
  requestWith,
  typeOf,
} from '../support/openapi.ts'
import { isNightly } from '../support/nightly.ts'
import { expectWithin } from '../support/promised-times.ts'

export const routes = operations.map((operation) => ({ ...operation, operation }))

export const isText = ({ schema }: Input) =>
  typeOf(schema) === 'string' || concreteSchema(schema).type === undefined

/** Whether a field is only informational; its invalid values are dropped instead of refused (INP-26). */
export const isLeftOut = ({ id }: Operation, { name }: Input) =>
  ['appVersion', 'locale', 'smsFor'].includes(name) ||
  id.startsWith('sign_in_with_') && name === 'fullName'

export async function signUpSenders() {
  const [owner, admin, company, office] = await Promise.all([
    signUp(),
    signUpAdmin(),
    signUp(),
    signUp(),
  ])
  for (const [person, type] of [[company, 'company'], [office, 'office']] as const) {
    const identityId = await insertOrganisation(person.id, type)
    await person.post('/auth/identity/switch', { identityId })
  }
  const scoped: Record<string, Person> = { admin, company, office }
  const listing = await insertListing(owner.identityId, { price: 100 })
  const headers = (path = '') => ({
    authorization: `Bearer ${(scoped[path.split('/')[1]!] ?? owner).accessToken}`,
  })
  return {
    owner,
    people: { owner, ...scoped },
    listing,
    headers,

    built(operation: Operation, input?: Input, value?: unknown) {
      const { path, body } = requestWith(operation, input, value)
      const own = operation.path.startsWith('/properties/{id}') && input?.in !== 'path'
      return { path: own ? path.replace(/[0-9a-f-]{36}/, listing) : path, body }
    },

    call: ({ method }: Operation, { path, body }: { path: string; body?: unknown }) =>
      request(method, path, body, { headers: headers(path) }),
  }
}

/** Returns all values in nightly runs, otherwise every fifth; varying `index` covers all. */
export const someOf = <T>(all: T[], index: number): T[] =>
  all.filter((_, i) => isNightly || i % 5 === index % 5)

export type Senders = Awaited<ReturnType<typeof signUpSenders>>

export async function each<T>(all: T[], work: (one: T) => Promise<unknown>) {
  let next = 0
  const worker = async () => {
    while (next < all.length) await work(all[next++]!)
  }
  await Promise.all(Array.from({ length: 6 }, worker))
}

/** Takes the fastest of up to five attempts, because other work of the machine does not slow all of them. */
export async function cheaply<T>(attempt: () => Promise<T>): Promise<T> {
  let least = Infinity
  let outcome: T
  let tries = 0
  do {
    const began = performance.now()
    outcome = await attempt()
    least = Math.min(least, performance.now() - began)
  } while (++tries < 5 && least > 50)
  expectWithin('a text over its bound is refused', least, 4)
  return outcome
}
