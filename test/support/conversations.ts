import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, type Guest, type Person, signUp } from './client.ts'

// deno-lint-ignore no-explicit-any
type Json = any

export async function openConversation(person: Guest, about: object): Promise<Json> {
  const { status, body } = await person.post('/conversations', about)
  expect(status).toBeOneOf([200, 201])
  return body
}

export async function conversationBetween(a: Guest, b: { identityId: string }): Promise<string> {
  return (await openConversation(a, { identityId: b.identityId })).id
}

export type Conversation = { a: Person; b: Person; conversationId: string }

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

export const postMessage = (person: Person, id: string, message: string | object = 'مرحبا') =>
  person.post(
    `/conversations/${id}/messages`,
    typeof message === 'string' ? textMessage(message) : message,
  )

export async function sendMessageAs(person: Person, conversationId: string, body = 'نص') {
  expect((await postMessage(person, conversationId, body)).status).toBe(201)
}

/** Sends texts of several people in one transaction, as the functions do. Skipped texts return null. */
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

export const messagesPage = async (person: Person, id: string, query = '?limit=50') =>
  (await person.get(`/conversations/${id}/messages${query}`)).body

export async function wholeHistory(person: Person, conversationId: string): Promise<Json[]> {
  const items: Json[] = []
  for (;;) {
    const after = items.at(-1)?.seq ?? 0
    const page = await messagesPage(person, conversationId, `?afterSeq=${after}&limit=50`)
    items.push(...page.items)
    if (!page.hasMore) return items
  }
}

export async function listEntry(person: Person, id: string): Promise<Json> {
  const { body } = await person.get('/conversations?limit=50')
  return body.items.find((item: Json) => item.id === id)
}
