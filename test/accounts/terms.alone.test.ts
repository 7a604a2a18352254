import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { edit } from '../admin/studio.ts'
import { socketOf } from '../chat/sockets.ts'
import {
  database,
  guest,
  newEmail,
  newPhone,
  type Person,
  type Reply,
  signIn,
  signUp,
} from '../support/client.ts'
import { ageCodes, codeSentBy, requestResetCode, verifyCode } from '../support/codes.ts'
import { type Conversation, postMessage, startConversation } from '../support/conversations.ts'
import { callDataApi } from '../support/data-api.ts'
import { insertListing, proveEmail } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { notificationsOf, waitForNotification } from '../support/notifications.ts'
import { announce, dayIn, requireTerms, type Terms, terms } from '../support/terms.ts'
import { reset, sessionOf } from './password-requests.ts'

const set = (value: Terms | null) => edit('private.settings', 'terms', { value }, 'name')
const acceptedBy = async (person: Person) => (await person.get('/auth/me')).body.user.termsVersion
const accept = (person: Person, version: string) => person.post('/auth/me/terms', { version })
const notified = async (person: Person) => {
  await drain('notify_of_terms')
  return await notificationsOf(person, 'terms_new')
}

afterAll(() => announce(null))

describe('TERMS-01 what an administrator sets', () => {
  const first = terms('2026-12')

  test.each([
    [{ ...first, version: 3 }, 'has version'],
    [{ ...first, version: 'two words' }, 'has version'],
    [{ ...first, url: 'http://market.example' }, 'has version'],
    [{ ...first, requiredFrom: '2026-02-30' }, 'has version'],
    [{ ...first, requiredFrom: 'tomorrow' }, 'has version'],
    [{ version: '1' }, 'has version'],
    [[], 'has version'],
    [terms('2026-12', 13), 'at least 14 days ahead'],
    [terms('2026-12', -1), 'at least 14 days ahead'],
  ])('%j is refused with a sentence', async (value, sentence) => {
    await expect(set(value as Terms)).rejects.toThrow(sentence)
  })

  test('the day of a version moves away, and never nearer than 14 days', async () => {
    await announce(first)
    await set({ ...first, url: 'https://market.example/new' })
    await set(terms('2026-12', 40))
    await set(terms('2026-12', 15))
    await expect(set(terms('2026-12', 10))).rejects.toThrow('at least 14 days ahead')
    await requireTerms(first)
    await set({ ...first, requiredFrom: dayIn(1) })
    await expect(set(terms('2027-01', 1))).rejects.toThrow('at least 14 days ahead')
    await announce(null)
  })
})

test('TERMS-02 they are told of once, accepted before they are required, and refuse nothing until then', async () => {
  const [reader, early] = [await signUp(), await signUp()]
  expect((await guest.get('/meta/app')).body.terms).toBe(null)
  const none = await accept(reader, 'v1')
  expect(none).toMatchObject({ status: 409, body: { error: { code: 'terms_outdated' } } })
  expect(none.body.error).not.toHaveProperty('version')

  const first = terms('v1')
  await announce(first, reader)
  expect((await guest.get('/meta/app')).body.terms).toEqual({
    version: 'v1',
    url: first.url,
    requiredFrom: expect.stringMatching(/^\d{4}-\d\d-\d\dT21:00:00\+00:00$/),
  })
  await waitForNotification(reader, 'terms_new')
  expect(await notified(reader)).toMatchObject([{
    identityId: null,
    data: { route: 'terms', entityId: null },
    bodyEn: expect.stringContaining(first.requiredFrom.replaceAll('-', '/')),
  }])
  expect(await notified(early)).toEqual([])
  expect(await acceptedBy(early)).toBe(null)
  await publishListing(early)

  expect(await accept(early, 'v0'))
    .toMatchObject({ status: 409, body: { error: { code: 'terms_outdated', version: 'v1' } } })
  expect((await accept(early, 'v1')).status).toBe(204)
  const exported = async () => (await early.get('/auth/me/export')).body.user
  const { termsVersion, termsAcceptedAt } = await exported()
  expect([termsVersion, await acceptedBy(early)]).toEqual(['v1', 'v1'])
  expect((await accept(early, 'v1')).status).toBe(204)
  expect(await exported()).toMatchObject({ termsVersion, termsAcceptedAt })

  // The same version with another date is not a new version.
  await set(terms('v1', 30))
  expect(await notified(reader)).toHaveLength(1)
  await announce(terms('v2'), reader)
  await waitForNotification(reader, 'terms_new')
  await expect.poll(() => notified(reader)).toHaveLength(2)
  expect((await accept(early, 'v1')).status).toBe(409)
  expect(await acceptedBy(early)).toBe('v1')
  expect((await accept(early, 'v2')).status).toBe(204)
  await announce(null)
  await announce(terms('v2'), early)
  expect(await notified(early)).toEqual([])
  await announce(null)
})

// The order matters, because the last test accepts the terms.
describe('TERMS-03 once they are required', { shuffle: false }, () => {
  const present = terms('v3')
  let person: Person
  let other: Person
  let conversationId: string
  let reviewId: string
  let friends: Conversation[]
  let acts: [name: string, act: () => Promise<Reply>][]

  async function rpc(name: string, args: object) {
    const { status, text } = await callDataApi(person, name, args)
    return { status, message: JSON.parse(text).message }
  }

  beforeAll(async () => {
    const talk = await startConversation()
    ;[person, other, conversationId] = [talk.a, talk.b, talk.conversationId]
    const draft = await createDraft(person, completeFields.SALE)
    const listing = await insertListing(other.identityId)
    const paused = await insertListing(person.identityId, { status: 'paused' })
    const expired = await insertListing(person.identityId, { status: 'expired' })
    const written = await other.post('/conversations', { identityId: person.identityId })
    expect((await postMessage(other, written.body.id)).status).toBe(201)
    expect((await postMessage(person, written.body.id)).status).toBe(201)
    await Promise.all([proveEmail(person), proveEmail(other)])
    const review = await other.post('/reviews', { identityId: person.identityId, rating: 4 })
    expect(review.status).toBe(201)
    reviewId = review.body.id
    acts = [
      ['publish', () => person.post(`/properties/${draft.id}/publish`)],
      ['resume', () => person.post(`/properties/${paused}/resume`)],
      ['renew', () => person.post(`/properties/${expired}/renew`)],
      [
        'create and publish',
        () => person.post('/properties', { ...completeFields.RENT, publish: true }),
      ],
      ['open a conversation', () => person.post('/conversations', { propertyId: listing })],
      ['ask by chat', () => person.post(`/properties/${listing}/contact`, { kind: 'chat' })],
      ['write', () => postMessage(person, conversationId)],
      ['review', () => person.post('/reviews', { identityId: other.identityId, rating: 5 })],
      ['reply', () => person.post(`/reviews/${reviewId}/reply`, { body: 'شكراً' })],
    ]
    friends = await Promise.all([startConversation(), startConversation()])
    await announce(present)
    await requireTerms(present)
  })

  const refused = {
    status: 403,
    body: {
      error: { code: 'terms_not_accepted', version: 'v3', url: present.url },
    },
  }

  test('each act that addresses others is refused, and nothing of it happens', async () => {
    const listings = async () => (await person.get('/properties/mine?limit=50')).body.items
    const conversations = async () => (await person.get('/conversations')).body.items
    const before = [await listings(), await conversations()]
    for (const [name, act] of acts) expect(await act(), name).toMatchObject(refused)
    // The service checks whether the terms are accepted before it checks whose review it is.
    expect(await person.patch(`/reviews/${reviewId}`, { rating: 5 })).toMatchObject(refused)
    expect([await listings(), await conversations()]).toEqual(before)
  })

  test('also past the facade', async () => {
    const refusal = { status: 403, message: 'terms_not_accepted' }
    const id = randomUUID()
    expect(await rpc('act_on_property', { property_id: id, action: 'publish' })).toEqual(refusal)
    expect(await rpc('create_property', { fields: completeFields.SALE, publish: true }))
      .toEqual(refusal)
    expect(await rpc('create_conversation', { property_id: id })).toEqual(refusal)
    expect(
      await rpc('send_message', {
        conversation_id: conversationId,
        client_message_id: id,
        type: 'text',
        body: 'مرحبا',
      }),
    ).toEqual(refusal)
    expect(await rpc('create_review', { identity_id: other.identityId, rating: 5 }))
      .toEqual(refusal)
    expect(await rpc('update_review', { review_id: id, fields: { rating: 1 } })).toEqual(refusal)
    expect(await rpc('reply_to_review', { review_id: id, body: 'شكراً' })).toEqual(refusal)
  })

  test('the gateway answers error, and messages of many at once are refused alone', async () => {
    const socket = await socketOf(person)
    await socket.join(conversationId)
    const { event, data } = await socket.sendMessage(conversationId, 'مرحبا')
    expect({ event, data }).toMatchObject({
      event: 'error',
      data: { code: 'terms_not_accepted', version: 'v3' },
    })
    expect(socket.closed).toBe(undefined)

    for (const { a } of friends) await accept(a, 'v3')
    const replies = await Promise.all([
      ...friends.map(({ a, conversationId }) => postMessage(a, conversationId)),
      postMessage(person, conversationId),
    ])
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 403])
    const talks = [friends[0]!, { a: person, conversationId }]
    const { rows: [{ sent }] } = await database().query(
      'select private.send_messages($1) as sent',
      [
        JSON.stringify(talks.map(({ a, conversationId }) => ({
          accountId: a.id,
          sessionId: sessionOf(a),
          conversationId,
          clientMessageId: randomUUID(),
          body: 'مرحبا',
        }))),
      ],
    )
    expect(sent).toEqual([expect.objectContaining({ answer: expect.any(String) }), null])
  })

  test('all else goes on, and the state of the account comes first', async () => {
    const draft = await createDraft(person)
    expect(
      (await person.patch(`/properties/${draft.id}`, { price: 1, version: draft.version })).body,
    )
      .not.toMatchObject(refused.body)
    const stored = await insertListing(person.identityId)
    expect((await person.post(`/properties/${stored}/pause`)).status).toBe(200)
    const listing = await insertListing(other.identityId)
    expect((await person.post(`/favorites/${listing}`)).status).toBe(200)
    expect((await person.post(`/conversations/${conversationId}/read`)).status).toBe(200)
    const out = await signIn(person.identifier, person.password)
    await out.post('/auth/logout')
    expect(await postMessage(out, conversationId))
      .toMatchObject({ status: 401, body: { error: { code: 'token_invalid' } } })
    const banned = await signUp()
    await database().query(`update public.accounts set status = 'banned' where id = $1`, [
      banned.id,
    ])
    expect(await postMessage(banned, conversationId))
      .toMatchObject({ status: 403, body: { error: { code: 'account_banned' } } })
  })

  test('accepted, each of them is done', async () => {
    expect((await accept(person, 'v3')).status).toBe(204)
    for (const [name, act] of acts) {
      const { status, body } = await act()
      expect([name, status < 300, body]).toEqual([name, true, body])
    }
  })
})

describe('TERMS-04 accepted at registration', () => {
  const present = terms('v4')
  beforeAll(() => announce(present))
  const password = randomUUID()
  const register = (identifier: string, termsVersion?: string) =>
    guest.post('/auth/register', { identifier, password, termsVersion })

  test('by email, by phone, or not', async () => {
    const email = newEmail()
    expect((await register(email, 'v4')).status).toBe(201)
    expect(await acceptedBy(await signIn(email, password))).toBe('v4')
    const phone = newPhone()
    const [code, { body }] = await codeSentBy(phone, () => register(phone, 'v4'))
    expect((await verifyCode(phone, code, body.registrationId)).body.user.termsVersion).toBe('v4')
    expect(await acceptedBy(await signUp())).toBe(null)
  })

  test('another version is refused, and there is no account', async () => {
    for (const identifier of [newEmail(), newPhone()]) {
      expect(await register(identifier, 'v3'))
        .toMatchObject({ status: 409, body: { error: { code: 'terms_outdated', version: 'v4' } } })
      expect(await guest.post('/auth/login', { identifier, password })).toMatchObject({
        status: 401,
      })
    }
  })

  test("an attempt's acceptance goes the way of its password", async () => {
    const phone = newPhone()
    await codeSentBy(phone, () => register(phone, 'v4'))
    await ageCodes(phone, 60)
    const [code] = await codeSentBy(phone, () => register(phone))
    // Two people have tried to register the phone, and the code does not tell which
    // of them accepted the terms.
    expect((await verifyCode(phone, code)).body.user.termsVersion).toBe(null)

    const email = newEmail()
    await register(email, 'v4')
    const owned = randomUUID()
    expect(await reset(email, await requestResetCode(email), owned)).toMatchObject({ status: 204 })
    // The person who accepted the terms before the email was verified may not be its owner.
    const owner = await signIn(email, owned)
    expect(await acceptedBy(owner)).toBe(null)
    await accept(owner, 'v4')
    await ageCodes(email, 60)
    expect(await reset(email, await requestResetCode(email), password))
      .toMatchObject({ status: 204 })
    expect(await acceptedBy(await signIn(email, password))).toBe('v4')
  })

  test('a deleted account keeps nothing of it', async () => {
    const person = await signUp()
    await accept(person, 'v4')
    await database().query('delete from auth.users where id = $1', [person.id])
    const { rows } = await database().query(
      'select terms_version, terms_accepted_at from public.accounts where id = $1',
      [person.id],
    )
    expect(rows).toEqual([{ terms_version: null, terms_accepted_at: null }])
  })
})
