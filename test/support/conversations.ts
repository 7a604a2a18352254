/** Two people and what they say to each other over REST. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Person, type Reply, signUp } from './client.ts'

// What a test looks at is what it checks.
// deno-lint-ignore no-explicit-any
type Json = any

/** Opens a conversation, or finds it. */
export async function conversation(person: Person, about: object): Promise<Json> {
  const { status, body } = await person.post('/conversations', about)
  expect(status).toBeOneOf([200, 201])
  return body
}

/** Two people who have a conversation about nothing in particular. */
export async function talk() {
  const [a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
  const { id } = await conversation(a, { identityId: b.identityId })
  return { a, b, id: id as string }
}

export const text = (body: string, more: object = {}) => ({
  clientMessageId: randomUUID(),
  type: 'text',
  body,
  ...more,
})

export const write = (person: Person, id: string, message: string | object = 'مرحبا') =>
  person.post(
    `/conversations/${id}/messages`,
    typeof message === 'string' ? text(message) : message,
  )

export const history = async (person: Person, id: string, query = '?limit=50') =>
  (await person.get(`/conversations/${id}/messages${query}`)).body

/** The person's list entry of the conversation. */
export async function entry(person: Person, id: string): Promise<Json> {
  const { body } = await person.get('/conversations?limit=50')
  return body.items.find((item: Json) => item.id === id)
}

/** A refusal without what differs from call to call. */
export function refusal({ status, body }: Reply) {
  const { requestId, ...error } = body.error
  expect(requestId).toBeTruthy()
  return { status, error }
}

export const code = ({ status, body }: Reply) => [status, body.error?.code]
