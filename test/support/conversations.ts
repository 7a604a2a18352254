/** Two people and their messages to each other over REST. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, type Guest, type Person, signUp } from './client.ts'

// What a test looks at is what it checks.
// deno-lint-ignore no-explicit-any
type Json = any

/** Opens a conversation, or finds it. */
export async function openConversation(person: Guest, about: object): Promise<Json> {
  const { status, body } = await person.post('/conversations', about)
  expect(status).toBeOneOf([200, 201])
  return body
}

/** The id of the conversation of two people. */
export async function conversationBetween(a: Guest, b: { identityId: string }): Promise<string> {
  return (await openConversation(a, { identityId: b.identityId })).id
}

export type Conversation = { a: Person; b: Person; conversationId: string }

/** Two people with a conversation about nothing in particular. */
export async function startConversation(): Promise<Conversation> {
  const [a, b] = await Promise.all([signUp('أحمد العنزي'), signUp('نورة الشمري')])
  return { a, b, conversationId: await conversationBetween(a, b) }
}

export const textMessage = (body: string, more: object = {}) => ({
  clientMessageId: randomUUID(),
  type: 'text',
  body,
  ...more,
})

/** Sends a message, a text unless it is given whole. */
export const postMessage = (person: Person, id: string, message: string | object = 'مرحبا') =>
  person.post(
    `/conversations/${id}/messages`,
    typeof message === 'string' ? textMessage(message) : message,
  )

/** Sends a text that must be accepted. */
export async function sendMessageAs(person: Person, conversationId: string, body = 'نص') {
  expect((await postMessage(person, conversationId, body)).status).toBe(201)
}

/** Sends texts of several people in one transaction, as the functions do; null for one that was left. */
export async function sendBatch(
  messages: { by: Person; to: string; body?: string; id?: string }[],
): Promise<Json[]> {
  const { rows: sessions } = await database().query(
    'select distinct on (user_id) user_id, id from auth.sessions where user_id = any ($1)',
    [messages.map(({ by }) => by.id)],
  )
  const given = messages.map(({ by, to, body = 'نص', id = randomUUID() }) => ({
    accountId: by.id,
    sessionId: sessions.find(({ user_id }) => user_id === by.id)?.id,
    conversationId: to,
    clientMessageId: id,
    body,
  }))
  const { rows } = await database().query('select private.send_messages($1) as outcomes', [
    JSON.stringify(given),
  ])
  return rows[0].outcomes.map((outcome: { answer: string } | null) =>
    outcome && JSON.parse(outcome.answer)
  )
}

/** A page of the history, its newest one by default. */
export const messagesPage = async (person: Person, id: string, query = '?limit=50') =>
  (await person.get(`/conversations/${id}/messages${query}`)).body

/** All messages of a conversation, oldest first. */
export async function wholeHistory(person: Person, conversationId: string): Promise<Json[]> {
  const items: Json[] = []
  for (;;) {
    const after = items.at(-1)?.seq ?? 0
    const page = await messagesPage(person, conversationId, `?afterSeq=${after}&limit=50`)
    items.push(...page.items)
    if (!page.hasMore) return items
  }
}

/** The conversation as the person's list shows it. */
export async function listEntry(person: Person, id: string): Promise<Json> {
  const { body } = await person.get('/conversations?limit=50')
  return body.items.find((item: Json) => item.id === id)
}
