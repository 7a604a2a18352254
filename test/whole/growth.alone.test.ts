// HARM-04: the rows that one account can add, and their limits.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { openConversation, postMessage, startConversation } from '../support/conversations.ts'
import { countSessions } from '../support/codes.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { givePlan } from '../support/plans.ts'
import { statusAndCode } from '../support/problems.ts'
import { bearer, race } from '../support/races.ts'
import { hitsOf, plantHits } from '../support/rate-hits.ts'
import { withRates } from '../support/own-rates.ts'
import { callDataApi } from '../support/data-api.ts'
import { expectRateLimited } from '../support/rate-limits.ts'

withRates({ drafts: 50, blocks_kept: 500, sessions: 100, messages: 60, messages_day: 2000 })

describe('HARM-04 drafts', () => {
  const plantDrafts = (identityId: string, count: number) =>
    database().query(
      `insert into public.properties (owner_identity_id, type)
       select $1, 'SALE' from generate_series(1, ${count})`,
      [identityId],
    )
  const full = (limit: number) => ({
    status: 409,
    body: { error: { code: 'drafts_full', limit, used: limit } },
  })
  const act = (person: Person, id: string, action: string) =>
    person.post(`/properties/${id}/${action}`)

  test('fifty, at both doors; what is archived unpublished counts, what is published does not', async () => {
    const person = await signUp()
    await givePlan(person.identityId, 'plus')
    await plantDrafts(person.identityId, 48)
    const draft = await createDraft(person)
    const published = await publishListing(person)
    expect((await act(person, published.id, 'archive')).status).toBe(200)
    expect((await act(person, draft.id, 'archive')).status).toBe(200)
    const last = await createDraft(person)
    expect(await person.post('/properties', { type: 'SALE' })).toMatchObject(full(50))
    const { status, text } = await callDataApi(person, 'create_property', {
      fields: { type: 'SALE' },
    })
    expect([status, JSON.parse(text).message]).toEqual([409, 'drafts_full'])
    expect(await act(person, published.id, 'restore')).toMatchObject(full(50))
    const office = await insertOrganisation(person.id, 'office')
    const { rows: [one] } = await database().query(
      `insert into public.properties (owner_identity_id, owner_type, type)
       values ($1, 'office', 'SALE') returning id`,
      [office],
    )
    await actAs(person, office)
    const taken = { ids: [one.id], identityId: person.identityId }
    expect(await person.post('/properties/move', taken)).toMatchObject(full(50))
    await actAs(person, person.identityId)
    // The draft was counted when it was created, so restoring it does not count.
    expect((await act(person, draft.id, 'restore')).status).toBe(200)
    expect((await publishListing(person)).status).toBe('active')
    expect((await person.delete(`/properties/${last.id}`)).status).toBe(204)
    expect((await act(person, published.id, 'restore')).status).toBe(200)
    expect(await person.post('/properties', { type: 'SALE' })).toMatchObject(full(50))
  })

  test('twice as many as a plan shows, where that is more', async () => {
    const person = await signUp()
    const office = await insertOrganisation(person.id, 'office')
    await givePlan(office, 'office')
    await person.post('/auth/identity/switch', { identityId: office })
    await plantDrafts(office, 119)
    await createDraft(person)
    expect(await person.post('/properties', { type: 'SALE' })).toMatchObject(full(120))
  })

  test('of ten at once only as many as there is room for; what the service makes a draft passes', async () => {
    const person = await signUp()
    await givePlan(person.identityId, 'plus')
    await plantDrafts(person.identityId, 47)
    const replies = await race(Array.from({ length: 10 }, () => ({
      path: '/properties',
      body: { type: 'SALE' },
      headers: [bearer(person)],
    })))
    expect(replies.map(({ status }) => status).toSorted())
      .toEqual([...Array(3).fill(201), ...Array(7).fill(409)])
    const waiting = await insertListing(person.identityId, { status: 'pending_review' })
    await database().query('select private.suspend_unproven_past($1)', [person.id])
    expect((await person.get(`/properties/${waiting}`)).body.status).toBe('draft')
  })
})

test('HARM-04 five hundred blocks, one more of two at once is refused; one of before is repeated', async () => {
  const person = await signUp()
  await database().query(
    `with made as (
       insert into public.accounts (id, email)
       select gen_random_uuid(), gen_random_uuid() || '@example.com' from generate_series(1, 499)
       returning id
     ), identities as (
       insert into public.identities (account_id, type, status, display_name)
       select id, 'individual', 'active', 'سالم' from made returning id, account_id
     )
     insert into public.blocks (account_id, identity_id, blocked_account_id)
     select $1, id, account_id from identities`,
    [person.id],
  )
  try {
    const others = await Promise.all([signUp(), signUp()])
    for (const other of others) await openConversation(other, { identityId: person.identityId })
    const replies = await race(others.map(({ identityId }) => ({
      method: 'POST',
      path: `/blocks/${identityId}`,
      headers: [bearer(person)],
    })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 409])
    const refused = replies.find(({ status }) => status === 409)!
    expect(refused.body.error).toMatchObject({ code: 'blocks_full', limit: 500 })
    const [remaining, missing] = replies[0]!.status === 204 ? others : others.toReversed()
    expect((await person.post(`/blocks/${remaining!.identityId}`)).status).toBe(204)
    const { status, text } = await callDataApi(person, 'block_identity', {
      identity_id: missing!.identityId,
    })
    expect([status, JSON.parse(text).message]).toEqual([409, 'blocks_full'])
    await person.delete(`/blocks/${remaining!.identityId}`)
    expect((await person.post(`/blocks/${missing!.identityId}`)).status).toBe(204)
  } finally {
    await database().query(
      `delete from public.accounts using public.blocks
       where blocks.account_id = $1 and accounts.id = blocked_account_id
         and not exists (select from auth.users where users.id = accounts.id)`,
      [person.id],
    )
  }
})

test('HARM-04 a hundred sessions: of more the least recently used end', async () => {
  const person = await signUp()
  const oldest = person
  const used = await signIn(person.identifier, person.password)
  await database().query(
    `insert into auth.sessions (id, user_id, created_at, updated_at, refreshed_at)
     select gen_random_uuid(), $1, now() - interval '2 days', now(), now() - interval '1 day'
     from generate_series(1, 99)`,
    [person.id],
  )
  await database().query(
    `update auth.sessions set created_at = now() - interval '9 days',
       refreshed_at = case when id = $1 then now() at time zone 'UTC'
         else (now() - interval '9 days') at time zone 'UTC' end
     where id = any (array[$1, $2]::uuid[])`,
    [used, oldest].map(({ accessToken }) =>
      JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).session_id
    ),
  )
  const newest = await signIn(person.identifier, person.password)
  // The job, which runs every minute, may already have run.
  expect([102, 100]).toContain(await countSessions(person.id))
  await drain('end_surplus_sessions')
  expect(await countSessions(person.id)).toBe(100)
  expect((await oldest.get('/auth/me')).status).toBe(401)
  for (const one of [used, newest]) expect((await one.get('/auth/me')).status).toBe(200)
})

describe('HARM-04 messages', () => {
  test('2,000 a day over both doors, batches included; what is asked again is not counted', async () => {
    const { a, b, conversationId } = await startConversation()
    await plantHits('messages_day', a.id, 1997)
    const message = { clientMessageId: randomUUID(), type: 'text', body: 'مرحبا' }
    expect((await postMessage(a, conversationId, message)).status).toBe(201)
    expect((await postMessage(a, conversationId, message)).status).toBe(200)
    expect((await openConversation(a, { identityId: b.identityId })).id).toBe(conversationId)
    expect(await hitsOf('messages_day', a.id)).toBe(1998)
    const others = await Promise.all(Array.from({ length: 4 }, () => startConversation()))
    const replies = await race(
      [{ a, conversationId }, { a, conversationId }, { a, conversationId }, ...others].map((
        one,
      ) => ({
        path: `/conversations/${one.conversationId}/messages`,
        body: { clientMessageId: randomUUID(), type: 'text', body: 'مرحبا' },
        headers: [bearer(one.a)],
      })),
    )
    expect(replies.slice(3).map(({ status }) => status)).toEqual(Array(4).fill(201))
    expect(replies.slice(0, 3).map(({ status }) => status).toSorted()).toEqual([201, 201, 429])
    expectRateLimited(
      await postMessage(a, conversationId),
      2000,
      86_400,
      await callDataApi(a, 'send_message', {
        conversation_id: conversationId,
        client_message_id: randomUUID(),
        type: 'text',
        body: 'مرحبا',
      }),
    )
    const opening = await a.post('/conversations', {
      identityId: others[0]!.a.identityId,
      message: 'مرحبا',
    })
    expect(statusAndCode(opening)).toEqual([429, 'rate_limited'])
    expect(await hitsOf('messages', a.id)).toBe(4)
    expect((await postMessage(b, conversationId)).status).toBe(201)
  })
})
