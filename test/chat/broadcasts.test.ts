// Counts the broadcasts of each action, because every broadcast is billed and too
// many get a project throttled.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { closeClients, joinAs, topicOf } from '../support/channels.ts'
import {
  database,
  guest,
  type Person,
  projectUrl,
  publishableKey,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  listEntry,
  openConversation,
  postMessage,
  startConversation,
} from '../support/conversations.ts'
import { publishListing } from '../support/listings.ts'
import { notify, serviceMessage } from '../support/notifications.ts'
import { insertOrganisation } from '../support/fixtures.ts'

let a: Person
let b: Person
let id: string

beforeEach(async () => {
  ;({ a, b, conversationId: id } = await startConversation())
})
afterEach(closeClients)

async function sent(people: Pick<Person, 'id'>[], act: () => Promise<unknown>): Promise<string[]> {
  const names = async (): Promise<string[]> => {
    const { rows } = await database().query(
      `select accounts.topic::text as name from public.accounts where accounts.id = any ($1)
       union select private.live_topic(participants.conversation_id)
       from public.participants where participants.account_id = any ($1)`,
      [people.map((person) => person.id)],
    )
    return rows.map(({ name }) => name)
  }
  const before = await names()
  const at = (await database().query('select clock_timestamp() at time zone $1 as at', ['UTC']))
    .rows[0].at
  await act()
  const { rows } = await database().query(
    `select event from realtime.messages
     where topic = any ($1) and inserted_at >= $2 order by inserted_at, id`,
    [[...before, ...await names()], at],
  )
  return rows.map(({ event }) => event).filter((event) => event !== 'planted')
}

const logIn = ({ identifier, password }: Person) => signIn(identifier, password)

test('a message is two broadcasts, one to each side, also from one of many devices', async () => {
  await Promise.all([1, 2, 3].map(async () => joinAs(b, await topicOf(b))))
  expect(await sent([a, b], () => postMessage(a, id))).toEqual(['new_message', 'new_message'])
  expect(await sent([a, b], () => postMessage(b, id))).toEqual(['new_message', 'new_message'])
})

test('a repeated and a refused message are no broadcast', async () => {
  const message = { clientMessageId: randomUUID(), type: 'text', body: 'مرة' }
  await postMessage(a, id, message)
  expect(await sent([a, b], () => postMessage(a, id, message))).toEqual([])
  expect(await sent([a, b], () => postMessage(a, id, ' '))).toEqual([])
})

test('reading is two broadcasts, without receipts one, and none when repeated', async () => {
  const read = () => b.post(`/conversations/${id}/read`)
  // Notifications of messages are off, because reading one would cause another broadcast.
  await b.patch('/settings', { notifications: { messages: { inApp: false } } })
  await postMessage(a, id)
  expect((await sent([a, b], read)).toSorted()).toEqual(['conversation_updated', 'message_read'])
  expect(await sent([a, b], read)).toEqual([])
  await b.patch('/settings', { privacy: { readReceipts: false } })
  await postMessage(a, id)
  expect(await sent([a, b], read)).toEqual(['conversation_updated'])
  await b.patch('/settings', { privacy: { readReceipts: true } })
  await a.patch('/settings', { privacy: { readReceipts: false } })
  await postMessage(a, id)
  expect(await sent([a, b], read)).toEqual(['conversation_updated'])
})

test('a block is one broadcast, with any number of conversations; removing it is none', async () => {
  for (
    const listing of [await publishListing(b), await publishListing(b), await publishListing(b)]
  ) {
    await openConversation(a, { propertyId: listing.id })
  }
  await postMessage(a, id)
  const block = () => a.post(`/blocks/${b.identityId}`)
  expect(await sent([a, b], block)).toEqual(['conversation_updated'])
  expect(await sent([a, b], block)).toEqual([])
  expect(await sent([a, b], () => a.delete(`/blocks/${b.identityId}`))).toEqual([])
  const stranger = await signUp()
  expect(await sent([a, stranger], () => stranger.post(`/blocks/${a.identityId}`))).toEqual([])
})

test('reading notifications is one broadcast, however many, and none when repeated', async () => {
  await postMessage(a, id)
  const read = () => b.post(`/conversations/${id}/read`)
  expect((await sent([a, b], read)).toSorted())
    .toEqual(['conversation_updated', 'message_read', 'notifications_changed'])
  for (const text of ['الأولى', 'الثانية']) await notify(b, 'system', serviceMessage(text))
  const readAll = () => b.post('/notifications/read-all')
  expect(await sent([a, b], readAll)).toEqual(['notifications_changed'])
  expect(await sent([a, b], readAll)).toEqual([])
  await postMessage(a, id)
  const block = () => b.post(`/blocks/${a.identityId}`)
  expect((await sent([a, b], block)).toSorted())
    .toEqual(['conversation_updated', 'notifications_changed'])
})

test('opening a conversation is one broadcast, to who opens it; finding it again is none', async () => {
  const other = await signUp()
  const open = () => openConversation(a, { identityId: other.identityId })
  expect(await sent([a], open)).toEqual(['conversation_updated'])
  expect(await sent([a, other], open)).toEqual([])
  const third = await signUp()
  const message = { identityId: third.identityId, message: 'مرحبا' }
  expect(await sent([third], () => openConversation(a, message))).toEqual(['new_message'])
})

test('switching identities is no broadcast', async () => {
  const same = () => a.post('/auth/identity/switch', { identityId: a.identityId })
  expect(await sent([a, b], same)).toEqual([])
})

test('removing an identity notifies only its owner, locking an account is one broadcast', async () => {
  const admin = await signUpAdmin()
  const company = await insertOrganisation(a.id)
  const taken = () =>
    admin.patch(`/admin/identities/${company}/status`, { status: 'suspended', reason: 'ترخيص' })
  const broadcasts = await sent([a, b], taken)
  expect(broadcasts.filter((event) => event !== 'notification')).toEqual([])
  const status = (to: string) =>
    admin.patch(`/admin/users/${a.id}/status`, { status: to, reason: 'بلاغات' })
  await logIn(a)
  expect(await sent([a, b], () => status('suspended'))).toEqual(['topic_changed'])
  const note = () =>
    database().query(`select private.notify($1, null, 'system', null, $2)`, [
      a.id,
      serviceMessage('لا'),
    ])
  expect(await sent([a, b], note)).toEqual([])
  expect(await sent([a, b], () => status('active'))).toEqual([])
  expect(await sent([a, b], note)).toEqual(['notification'])
})

async function startSixtyConversations(): Promise<{ busy: Person; peers: { id: string }[] }> {
  const busy = await signUp()
  const { rows: peers } = await database().query(
    `with made as (
       insert into auth.users (id, instance_id, aud, role, email, raw_app_meta_data,
         raw_user_meta_data, created_at, updated_at, encrypted_password)
       select gen_random_uuid(), '00000000-0000-0000-0000-000000000000', 'authenticated',
         'authenticated', gen_random_uuid() || '@example.com', '{}', '{}', now(), now(), ''
       from generate_series(1, 60)
       returning id
     )
     select id from made`,
  )
  await database().query(
    `with pairs as (
       select accounts.id as account_id, accounts.active_identity_id as identity_id,
         gen_random_uuid() as conversation_id
       from public.accounts where accounts.id = any ($1)
     ), opened as (
       insert into public.conversations (id, pair_key)
       select conversation_id, conversation_id::text from pairs
     )
     insert into public.participants (conversation_id, identity_id, account_id)
     select conversation_id, identity_id, account_id from pairs
     union all
     select conversation_id, $2, $3 from pairs`,
    [peers.map((peer) => peer.id), busy.identityId, busy.id],
  )
  return { busy, peers }
}

test('a login/logout loop with sixty conversations broadcasts once per sign-out, to no peer', async () => {
  const { busy, peers } = await startSixtyConversations()
  expect((await busy.get('/conversations?limit=50')).body.items).toHaveLength(50)
  const events = await sent([busy, ...peers], async () => {
    for (let i = 0; i < 10; i++) {
      const session = await logIn(busy)
      expect((await session.post('/auth/logout', {})).status).toBe(204)
    }
  })
  // The account no longer uses the nine names in between. On each of these channels, the last
  // event contains the next name.
  const { rows } = await database().query(
    `with recursive chain as (
       select accounts.topic::text as topic, 0 as nth from public.accounts where id = $1
       union all
       select messages.payload ->> 'old', nth + 1
       from chain
       join realtime.messages on messages.event = 'topic_changed'
         and messages.payload ->> 'new' = chain.topic
     )
     select event from chain join realtime.messages using (topic) where event = 'topic_changed'`,
    [busy.id],
  )
  expect(rows).toHaveLength(10)
  expect(events.filter((event) => event !== 'notification')).toEqual(['topic_changed'])
})

test('ending all sessions at once is one broadcast', async () => {
  const { busy, peers } = await startSixtyConversations()
  for (let i = 0; i < 4; i++) await logIn(busy)
  const out = async () => {
    const session = await logIn(busy)
    expect((await session.post('/auth/logout', { scope: 'others' })).status).toBe(204)
  }
  expect((await sent([busy, ...peers], out)).filter((event) => event !== 'notification'))
    .toEqual(['topic_changed'])
})

test('a session that only checks a password changes no channel name', async () => {
  const { identifier, password } = a
  const [topic, { liveTopic }] = [await topicOf(a), await listEntry(a, id)]
  const tries = async () => {
    // The new password equals the current one, so it is refused after the current one was checked.
    await a.post('/auth/password/change', { currentPassword: password, newPassword: password })
    await a.post('/auth/password/change', { currentPassword: 'not this', newPassword: password })
    await guest.post('/auth/login', { identifier, password: 'not this either' })
  }
  expect(await sent([a, b], tries)).toEqual([])
  expect([await topicOf(a), (await listEntry(a, id)).liveTopic]).toEqual([topic, liveTopic])
  const { rows } = await database().query(
    'select count(*)::int from auth.sessions where user_id = $1',
    [a.id],
  )
  expect(rows).toEqual([{ count: 1 }])
  await logIn(a)
  const change = () =>
    a.post('/auth/password/change', { currentPassword: password, newPassword: randomUUID() })
  expect((await sent([a, b], change)).filter((event) => event !== 'notification'))
    .toEqual(['topic_changed'])
})

test('a session that claims to be the product’s own gets no privilege', async () => {
  // Makes the facade call Auth, which may then store the user agent of the facade.
  await a.post('/auth/password/change', { currentPassword: a.password, newPassword: a.password })
  const { rows } = await database().query(
    `select distinct user_agent from auth.sessions where user_agent is not null`,
  )
  for (const { user_agent: agent } of [...rows, { user_agent: 'facade' }]) {
    const session = await logIn(a)
    const refreshed = await fetch(`${projectUrl}/auth/v1/token?grant_type=refresh_token`, {
      method: 'POST',
      headers: {
        apikey: publishableKey,
        'content-type': 'application/json',
        'user-agent': agent,
      },
      body: JSON.stringify({ refresh_token: session.refreshToken }),
    })
    const { access_token: token } = await refreshed.json()
    const topic = await topicOf(a)
    const out = await fetch(`${projectUrl}/auth/v1/logout?scope=local`, {
      method: 'POST',
      headers: { apikey: publishableKey, authorization: `Bearer ${token}`, 'user-agent': agent },
    })
    expect(out.status).toBe(204)
    expect(await topicOf(a)).not.toBe(topic)
  }
})
