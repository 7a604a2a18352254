// HARM-06: accounts without a verified phone or email can write only to people who allow it.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, type Person, signUp } from '../support/client.ts'
import {
  listEntry,
  openConversation,
  postMessage,
  startConversation,
} from '../support/conversations.ts'
import { insertListing, proveEmail } from '../support/fixtures.ts'
import { statusAndCode } from '../support/problems.ts'
import { callDataApi } from '../support/data-api.ts'

const provenOnly = [403, 'recipient_proven_only']
const choose = async (person: Person, whoMayWrite: string) => {
  const { status, body } = await person.patch('/settings', { privacy: { whoMayWrite } })
  expect([status, body.privacy.whoMayWrite]).toEqual([200, whoMayWrite])
}

test('HARM-06 an account without a proof opens nothing with who wants proven ones only', async () => {
  const [writer, reader] = [await signUp(), await signUp()]
  const listing = await insertListing(reader.identityId)
  await choose(reader, 'proven')
  for (
    const refused of [
      await writer.post('/conversations', { identityId: reader.identityId }),
      await writer.post('/conversations', { propertyId: listing, message: 'مرحبا' }),
      await writer.post(`/properties/${listing}/contact`, { kind: 'chat' }),
    ]
  ) expect(statusAndCode(refused)).toEqual(provenOnly)
  const { status, text } = await callDataApi(writer, 'create_conversation', {
    identity_id: reader.identityId,
  })
  expect([status, JSON.parse(text).message]).toEqual(provenOnly)
  await reader.post(`/blocks/${writer.identityId}`)
  expect((await writer.post('/conversations', { propertyId: listing })).body.error.code)
    .toBe('blocked')
  await reader.delete(`/blocks/${writer.identityId}`)
  await proveEmail(writer)
  expect((await writer.post('/conversations', { propertyId: listing })).status).toBe(201)
})

test('HARM-06 it holds in what is there where its owner never wrote, and nowhere else', async () => {
  const { a: writer, b: reader, conversationId } = await startConversation()
  const message = { clientMessageId: randomUUID(), type: 'text', body: 'مرحبا' }
  expect((await postMessage(writer, conversationId, message)).status).toBe(201)
  await choose(reader, 'proven')
  expect((await listEntry(writer, conversationId)).cannotWriteReason).toBe('recipient_proven_only')
  expect((await listEntry(reader, conversationId)).cannotWriteReason).toBe(null)
  expect(statusAndCode(await postMessage(writer, conversationId))).toEqual(provenOnly)
  expect((await postMessage(writer, conversationId, message)).status).toBe(200)
  const socket = await ChatSocket.connect(writer)
  try {
    expect(await socket.sendMessage(conversationId, 'مرحبا')).toMatchObject({
      event: 'error',
      data: { code: 'recipient_proven_only' },
    })
  } finally {
    socket.close()
  }
  expect((await openConversation(writer, { identityId: reader.identityId })).id)
    .toBe(conversationId)
  expect((await postMessage(reader, conversationId)).status).toBe(201)
  expect((await postMessage(writer, conversationId)).status).toBe(201)
  await choose(reader, 'everyone')
  expect((await postMessage(writer, conversationId)).status).toBe(201)

  const before = await listEntry(writer, conversationId)
  await database().query('select private.anonymise_account($1)', [reader.id])
  expect(await listEntry(writer, conversationId))
    .toMatchObject({ cannotWriteReason: 'unavailable', changedAt: before.changedAt })
})

test('HARM-06 the choice is one of two', async () => {
  const person = await signUp()
  for (const wrong of ['nobody', true, 1]) {
    expect(await person.patch('/settings', { privacy: { whoMayWrite: wrong } }))
      .toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
  }
})
