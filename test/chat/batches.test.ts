import { expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import {
  type Conversation,
  messagesPage,
  postMessage,
  sendBatch,
  startConversation,
  textMessage,
} from '../support/conversations.ts'
import { unknownId } from '../support/problems.ts'
import { bearer, race } from '../support/races.ts'

const posting = (person: Person, conversationId: string, body: object) => ({
  path: `/conversations/${conversationId}/messages`,
  body,
  headers: [bearer(person)],
})

const conversations = (count: number) =>
  Promise.all(Array.from({ length: count }, () => startConversation()))

test('each of many messages at once is stored once, in its own conversation', async () => {
  const all = await conversations(12)
  const shots = all.flatMap(({ a, b, conversationId }, i) =>
    [a, b].flatMap((person) => {
      const message = textMessage(`${i} ${person.id}`)
      return [posting(person, conversationId, message), posting(person, conversationId, message)]
    })
  )
  const replies = await race(shots)
  expect(replies.map(({ status }) => status).toSorted())
    .toEqual([...Array(24).fill(200), ...Array(24).fill(201)])
  for (const [i, { a, b, conversationId }] of all.entries()) {
    const { items } = await messagesPage(a, conversationId)
    expect(items.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2])
    expect(items.map(({ body }: { body: string }) => body).toSorted())
      .toEqual([`${i} ${a.id}`, `${i} ${b.id}`].toSorted())
    for (const reply of replies.slice(4 * i, 4 * i + 4)) expect(items).toContainEqual(reply.body)
  }
})

test('a message that is refused among others is refused as if it were alone', async () => {
  const all = await conversations(8)
  const [blocked, wordless, foreign, unknown, ...good] = all as [
    Conversation,
    Conversation,
    Conversation,
    Conversation,
  ]
  const stranger = await signUp()
  await blocked.b.post(`/blocks/${blocked.a.identityId}`)
  const refused = [
    posting(blocked.a, blocked.conversationId, textMessage('نص')),
    posting(wordless.a, wordless.conversationId, textMessage('\u200b')),
    posting(stranger, foreign.conversationId, textMessage('نص')),
    posting(unknown.a, unknownId, textMessage('نص')),
  ]
  const replies = await race([
    ...(good as Conversation[]).map(({ a, conversationId }) =>
      posting(a, conversationId, textMessage('نص'))
    ),
    ...refused,
  ])
  expect(replies.slice(0, good.length).map(({ status }) => status))
    .toEqual(good.map(() => 201))
  expect(replies.slice(good.length).map(({ status, body }) => [status, body.error.code])).toEqual([
    [403, 'blocked'],
    [422, 'message_empty'],
    [404, 'conversation_not_found'],
    [404, 'conversation_not_found'],
  ])
  for (const { a, conversationId } of [blocked, wordless, foreign]) {
    expect((await messagesPage(a, conversationId)).items).toEqual([])
  }
})

test('only what goes through at once is sent with others: not what was sent, or is refused', async () => {
  const [one, two, three, four] = await conversations(4)
  const { clientMessageId, ...message } = textMessage('نص')
  await postMessage(two!.a, two!.conversationId, { clientMessageId, ...message })
  await three!.b.post(`/blocks/${three!.a.identityId}`)
  const outcomes = await sendBatch([
    { by: one!.a, to: one!.conversationId },
    { by: two!.a, to: two!.conversationId, id: clientMessageId },
    { by: three!.a, to: three!.conversationId },
    { by: four!.a, to: one!.conversationId },
  ])
  expect(outcomes).toMatchObject([
    { created: true, message: { seq: 1, senderIdentityId: one!.a.identityId } },
    null,
    null,
    null,
  ])
  for (const [{ a, conversationId }, count] of [[two!, 1], [three!, 0]] as const) {
    expect((await messagesPage(a, conversationId)).items).toHaveLength(count)
  }
})

test('a message in a locked conversation is left, and the others do not wait for it', async () => {
  const [held, free] = await conversations(2)
  const holder = await database().connect()
  try {
    await holder.query('begin')
    await holder.query('select from public.conversations where id = $1 for update', [
      held!.conversationId,
    ])
    const outcomes = await sendBatch([
      { by: held!.a, to: held!.conversationId },
      { by: free!.a, to: free!.conversationId },
    ])
    expect(outcomes).toMatchObject([null, { created: true }])
    const waiting = postMessage(held!.a, held!.conversationId)
    expect((await postMessage(free!.a, free!.conversationId)).status).toBe(201)
    await holder.query('rollback')
    expect((await waiting).status).toBe(201)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})

test('somebody whose session has ended, or whose account may not act, sends nothing', async () => {
  const [gone, suspended] = await conversations(2)
  await database().query('delete from auth.sessions where user_id = $1', [gone!.a.id])
  await database().query("update public.accounts set status = 'suspended' where id = $1", [
    suspended!.a.id,
  ])
  expect(
    await sendBatch([
      { by: gone!.a, to: gone!.conversationId },
      { by: suspended!.a, to: suspended!.conversationId },
    ]),
  ).toEqual([null, null])
})
