import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { type Channel, closeClients, joinAs, topicOf } from '../support/channels.ts'
import { type Person, signIn, signUp } from '../support/client.ts'
import { listEntry, openConversation, postMessage } from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'

let a: Person
let b: Person
let id: string

beforeEach(async () => {
  ;[a, b] = await Promise.all([signUp(), signUp('نورة الشمري')])
  ;({ id } = await openConversation(a, { identityId: b.identityId }))
})
afterEach(closeClients)

const joined = 'SUBSCRIBED'
const refused = 'CHANNEL_ERROR'

const liveOf = async (person: Person) => (await person.get(`/conversations/${id}`)).body.liveTopic
const atAccount = async (person: Person) => joinAs(person, await topicOf(person))
const statuses = async (people: Person[], topic: string) =>
  (await Promise.all(people.map((person) => joinAs(person, topic)))).map(({ status }) => status)

async function expectMoved(channel: Channel, to?: string) {
  const [changed] = await channel.waitFor('topic_changed')
  expect(changed).toMatchObject({ old: channel.topic, new: to ?? expect.any(String) })
  expect(changed.new).not.toBe(channel.topic)
  expect(channel.payloads('topic_changed')).toHaveLength(1)
  expect(channel.heard.at(-1)!.event).toBe('topic_changed')
}

const bodies = (channel: Channel) =>
  channel.payloads('new_message').map(({ message }) => message.body)

test(
  'AUTH-17 ISO-16 a signed-out device receives nothing more, all others go on',
  async () => {
    const phone = await signIn(a.identifier, a.password)
    const [onPhone, onTablet] = [await atAccount(phone), await atAccount(a)]
    const atB = await atAccount(b)
    const [before, live] = [await topicOf(b), await liveOf(b)]
    expect((await phone.post('/auth/logout', {})).status).toBe(204)

    const topic = await topicOf(a)
    await expectMoved(onTablet, topic)
    await expectMoved(onPhone, topic)
    expect(await statuses([a, phone], topic)).toEqual([joined, refused])
    expect(await topicOf(b)).toBe(before)
    const now = await liveOf(b)
    expect(now).not.toBe(live)
    expect(await liveOf(a)).toBe(now)
    expect(await statuses([a, b, phone], now)).toEqual([joined, joined, refused])
    expect(await statuses([b], live)).toEqual([refused])

    const next = await joinAs(a, topic)
    await postMessage(b, id, 'بعد الخروج')
    await next.waitFor('new_message')
    await atB.waitFor('new_message')
    expect(atB.heard.map(({ event }) => event)).toEqual(['new_message'])
    for (const channel of [onPhone, onTablet]) await expectMoved(channel)
  },
)

test(
  'AUTH-17 a changed password cuts off the other sessions with one change of channel names',
  async () => {
    const phone = await signIn(a.identifier, a.password)
    const [onPhone, own] = [await atAccount(phone), await atAccount(a)]
    const change = { currentPassword: a.password, newPassword: randomUUID() }
    expect((await a.post('/auth/password/change', change)).status).toBe(204)
    const topic = await topicOf(a)
    await expectMoved(onPhone, topic)
    await expectMoved(own, topic)
    const next = await joinAs(a, topic)
    await postMessage(b, id)
    await next.waitFor('new_message')
    for (const channel of [onPhone, own]) await expectMoved(channel)
    expect(await statuses([phone], topic)).toEqual([refused])
  },
)

test(
  'AUTH-13 a suspended account receives nothing, and misses nothing when it returns',
  async () => {
    await postMessage(b, id, 'قبل الإيقاف')
    const atA = await atAccount(a)
    const atB = await atAccount(b)
    const live = await liveOf(b)
    const admin = await signUpAdmin()
    const set = (status: string) =>
      admin.patch(`/admin/users/${a.id}/status`, { status, reason: 'بلاغات متكررة' })
    expect((await set('suspended')).status).toBe(200)

    await expectMoved(atA)
    const now = await liveOf(b)
    expect(now).not.toBe(live)
    expect(await statuses([b, a], now)).toEqual([joined, refused])
    expect(await postMessage(b, id)).toMatchObject({
      status: 403,
      body: { error: { code: 'blocked' } },
    })
    // The sender of the messages gets no read position, because the account may not receive events any more.
    await b.post(`/conversations/${id}/read`)
    await expectMoved(atA)
    expect(atB.payloads('topic_changed')).toEqual([])

    expect((await set('active')).status).toBe(200)
    const back = await signIn(a.identifier, a.password)
    const again = await atAccount(back)
    expect(again.status).toBe(joined)
    await postMessage(b, id, 'بعد العودة')
    await again.waitFor('new_message')
    const { body } = await back.get(`/conversations/${id}/messages`)
    expect(body.items.map(({ body }: { body: string }) => body))
      .toEqual(['قبل الإيقاف', 'بعد العودة'])
  },
)

test('a blocked person receives nothing more; the blocker stays alone', async () => {
  const [atA, atB] = [await atAccount(a), await atAccount(b)]
  const live = await liveOf(a)
  const liveAtB = await joinAs(b, live)
  await postMessage(b, id, 'قبل')
  await Promise.all([atA.waitFor('new_message'), atB.waitFor('new_message')])
  const before = atB.heard.length
  expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
  const [updated] = await atA.waitFor('conversation_updated')
  const now = await liveOf(a)
  expect(now).not.toBe(live)
  expect(updated).toMatchObject({ identityId: a.identityId, conversationId: id, liveTopic: now })
  const mine = await joinAs(a, now)
  expect(mine.status).toBe(joined)
  expect(await statuses([b], now)).toEqual([refused])
  await mine.send('typing')
  for (const person of [a, b]) {
    expect(await postMessage(person, id))
      .toMatchObject({ status: 403, body: { error: { code: 'blocked' } } })
  }
  await a.post(`/conversations/${id}/read`)
  await atA.waitFor('conversation_updated', 2)
  expect([...atB.heard.slice(before), ...liveAtB.heard]).toEqual([])

  expect((await a.delete(`/blocks/${b.identityId}`)).status).toBe(204)
  expect(await statuses([b], now)).toEqual([joined])
  await postMessage(a, id, 'عدنا')
  await atB.waitFor('new_message', 2)
  expect(bodies(atB)).toEqual(['قبل', 'عدنا'])
})

test('IDN-06 a removed identity receives its conversations no more', async () => {
  const company = await insertOrganisation(a.id)
  await a.post('/auth/identity/switch', { identityId: company })
  const own = await openConversation(b, { identityId: company })
  const [atA, atB] = [await atAccount(a), await atAccount(b)]
  await postMessage(b, own.id, 'قبل')
  await atA.waitFor('new_message')
  const admin = await signUpAdmin()
  const taken = await admin.patch(`/admin/identities/${company}/status`, {
    status: 'suspended',
    reason: 'ترخيص غير صالح',
  })
  expect(taken.status).toBe(200)

  const { liveTopic } = await listEntry(b, own.id)
  expect(liveTopic).not.toBe(own.liveTopic)
  expect(await statuses([b, a], liveTopic)).toEqual([joined, refused])
  expect(await postMessage(a, own.id, 'x')).toMatchObject({ status: 403 })
  await b.post(`/conversations/${own.id}/read`)
  // The account's channel still delivers the events of the account and of its other identities.
  await postMessage(b, id, 'إلى الشخص نفسه')
  await atA.waitFor('new_message', 2)
  expect(bodies(atA)).toEqual(['قبل', 'إلى الشخص نفسه'])
  expect(atA.payloads('message_read')).toEqual([])
  for (const { heard } of [atA, atB]) {
    expect(heard.filter(({ event }) => event === 'topic_changed')).toEqual([])
  }
})
