import { expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import {
  listEntry,
  messagesPage,
  openConversation,
  postMessage,
  startConversation,
} from '../support/conversations.ts'
import { insertListing, insertOrganisation, insertWaitingCompany } from '../support/fixtures.ts'
import { problemOf, statusAndCode, unknownId } from '../support/problems.ts'

const blocked = [403, 'blocked']

test('a block stops messages and new conversations both ways; the history stays', async () => {
  const { a, b, conversationId: id } = await startConversation()
  await postMessage(b, id, 'قبل')
  const state = async (person: Person) => {
    const { cannotWriteReason, changedAt } = await listEntry(person, id)
    return [cannotWriteReason, changedAt]
  }
  const [, changedAt] = await state(a)
  expect(await state(b)).toEqual([null, changedAt])
  expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
  expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
  for (const [one, other] of [[a, b], [b, a]] as const) {
    expect(statusAndCode(await postMessage(one, id))).toEqual(blocked)
    expect(statusAndCode(await one.post('/conversations', { identityId: other.identityId })))
      .toEqual(blocked)
    expect((await messagesPage(one, id)).items).toHaveLength(1)
    expect((await listEntry(one, id)).peer.identityId).toBe(other.identityId)
  }
  expect([await state(a), await state(b)])
    .toEqual([['blocked', changedAt], ['unavailable', changedAt]])
  await b.post(`/blocks/${a.identityId}`)
  expect((await state(b))[0]).toBe('blocked')
  await b.delete(`/blocks/${a.identityId}`)
  expect((await a.post(`/conversations/${id}/read`)).body).toEqual({ unread: 0 })

  expect((await a.delete(`/blocks/${b.identityId}`)).status).toBe(204)
  expect((await a.delete(`/blocks/${b.identityId}`)).status).toBe(204)
  expect((await state(b))[0]).toBe(null)
  expect((await postMessage(b, id, 'بعد')).status).toBe(201)
  expect((await postMessage(a, id)).status).toBe(201)
})

test('a message that was left out for a block which is gone by now is to be sent once more', async () => {
  const { a, conversationId } = await startConversation()
  // write_message calls this function to find out why it has stored nothing. Here there is no reason any
  // more, so the error code asks for a retry.
  await expect(
    database().query(
      `select private.refuse_message(row($1::uuid, $2::uuid, 'one', 'text', 'نص', null, null))`,
      [conversationId, a.identityId],
    ),
  ).rejects.toMatchObject({ code: '40001' })
})

test('whom an advertiser blocks gets no conversation as a contact', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const listing = await insertListing(seller.identityId)
  await seller.post(`/blocks/${buyer.identityId}`)
  expect(statusAndCode(await buyer.post(`/properties/${listing}/contact`, { kind: 'chat' })))
    .toEqual(blocked)
})

test('a block is between accounts: no identity on either side gets around it', async () => {
  const { a, b } = await startConversation()
  const [ofA, ofB] = [await insertOrganisation(a.id), await insertOrganisation(b.id, 'office')]
  const apart = await openConversation(a, { identityId: ofB })
  await a.post('/auth/identity/switch', { identityId: ofA })
  await a.post(`/blocks/${b.identityId}`)
  await b.post('/auth/identity/switch', { identityId: ofB })
  expect(statusAndCode(await postMessage(b, apart.id))).toEqual(blocked)
  for (const identityId of [a.identityId, ofA]) {
    expect(statusAndCode(await b.post('/conversations', { identityId }))).toEqual(blocked)
  }
  const { items } = (await a.get('/blocks')).body
  expect(items.map(({ identityId }: { identityId: string }) => identityId)).toEqual([b.identityId])
  await a.delete(`/blocks/${ofB}`)
  expect(statusAndCode(await postMessage(b, apart.id))).toEqual(blocked)
})

test('the list is newest first, in pages, and one’s own', async () => {
  const a = await signUp()
  const others = []
  for (let i = 0; i < 5; i++) others.unshift(await signUp(`معلن رقم ${i}`))
  for (const { identityId } of others.toReversed()) await a.post(`/blocks/${identityId}`)
  const first = (await a.get('/blocks?limit=2')).body
  await a.delete(`/blocks/${others[1]!.identityId}`)
  const rest = (await a.get(`/blocks?limit=3&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...rest.items].map(({ identityId }) => identityId))
    .toEqual(others.map(({ identityId }) => identityId))
  expect(rest.nextCursor).toBe(null)
  expect(first.items[0]).toEqual({
    identityId: others[0]!.identityId,
    displayName: 'معلن رقم 4',
    avatarUrl: null,
    type: 'individual',
    createdAt: expect.any(String),
  })
  expect((await others[0]!.get('/blocks')).body).toEqual({ items: [], nextCursor: null })
  expect(statusAndCode(await others[0]!.get(`/blocks?cursor=${first.nextCursor}`)))
    .toEqual([422, 'cursor_invalid'])
})

test('blocking oneself, nobody or someone not visible is refused', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  const company = await insertOrganisation(a.id)
  for (const identityId of [a.identityId, company]) {
    expect(statusAndCode(await a.post(`/blocks/${identityId}`))).toEqual([422, 'validation_failed'])
  }
  const missing = problemOf(await a.post(`/blocks/${unknownId}`))
  expect(missing).toMatchObject({ status: 404, error: { code: 'identity_not_found' } })
  expect(problemOf(await a.post(`/blocks/${await insertWaitingCompany(b.id)}`))).toEqual(missing)
  expect((await a.post('/blocks/x')).status).toBe(422)
  expect((await a.delete(`/blocks/${unknownId}`)).status).toBe(204)
  for (const reply of [await guest.get('/blocks'), await guest.post(`/blocks/${unknownId}`)]) {
    expect(statusAndCode(reply)).toEqual([401, 'token_missing'])
  }
})

test('people who have met can block each other, whatever became of them', async () => {
  const { a, b } = await startConversation()
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [b.id])
  expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
  const stranger = await signUp()
  expect((await stranger.post(`/blocks/${b.identityId}`)).status).toBe(404)
})
