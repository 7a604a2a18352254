/**
 * What admins and jobs do to people, at the moment in which these people do something: nobody waits
 * for somebody who waits for them (sql/accounts_locks.sql), and what is closed keeps nothing.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { makeAdmin } from '../admins.ts'
import { database, type Person, signUp } from '../client.ts'
import { conversation, text } from '../conversations.ts'
import { complete } from '../listings.ts'
import { jpeg } from '../pictures.ts'
import { race, type Shot } from '../races.ts'
import { runJobs } from '../told.ts'
import { uploadAvatar } from '../uploads.ts'
import { until } from '../until.ts'
import { listingOf, organisationOf } from '../world.ts'

let admin: Person

beforeAll(async () => {
  admin = await makeAdmin(await signUp('مشرفة السوق'))
})

/** Somebody with an office, a listing and money, acting as that office. */
type Side = Person & { office: string; listing: string; drafted: string; planId: string }

async function side(): Promise<Side> {
  const person = await signUp()
  const office = await organisationOf(person.id, 'office')
  const listing = await listingOf(office)
  const drafted = await listingOf(office, { status: 'draft', published_at: null, expires_at: null })
  const { rows: [{ id: planId }] } = await database().query(
    `select id from public.plans where audience = 'office' and price between 1 and 90 and on_sale
     order by price limit 1`,
  )
  await database().query(
    `update public.accounts set active_identity_id = $2 where id = $1`,
    [person.id, office],
  )
  await database().query('select private.adjust_wallet($1, 500, $2)', [office, randomUUID()])
  return { ...person, office, listing, drafted, planId }
}

type Pair = { one: Side; other: Side; talk: string; sessions: string }

/** Two who know each other: a conversation with words of both, saved listings, devices, a review. */
async function pair(): Promise<Pair> {
  const [one, other] = await Promise.all([side(), side()])
  const { id: talk } = await conversation(other, { identityId: one.office })
  for (const [who, whom] of [[one, other], [other, one]] as const) {
    await who.post(`/conversations/${talk}/messages`, text('مرحبا'))
    await who.post(`/favorites/${whom.listing}`)
    await who.put('/devices', device())
    await who.post('/reviews', { identityId: whom.office, rating: 4, comment: 'تعامل ممتاز' })
  }
  const { rows: [{ kept }] } = await database().query(
    `select jsonb_agg(sessions)::text as kept from auth.sessions where user_id = any ($1)`,
    [[one.id, other.id]],
  )
  return { one, other, talk, sessions: kept }
}

const device = () => ({
  deviceId: randomUUID(),
  platform: 'ios',
  pushToken: `token-${randomUUID()}`,
})

const as = ({ accessToken }: Person) => ({
  headers: [['Authorization', `Bearer ${accessToken}`]] as [string, string][],
})

type Act = (by: Side, about: Side, talk: string) => Omit<Shot, 'headers'>

/** What people do, by themselves and to one another. */
const acts: Record<string, Act> = {
  message: (_by, _about, talk) => ({ path: `/conversations/${talk}/messages`, body: text('هلا') }),
  read: (_by, _about, talk) => ({ method: 'POST', path: `/conversations/${talk}/read` }),
  favorite: (_by, { listing }) => ({ method: 'POST', path: `/favorites/${listing}` }),
  contact: (_by, { listing }) => ({
    path: `/properties/${listing}/contact`,
    body: { kind: 'chat' },
  }),
  conversation: (_by, { listing }) => ({
    path: '/conversations',
    body: { propertyId: listing, message: 'هل ما زال متوفراً؟' },
  }),
  review: (_by, { office }) => ({
    path: '/reviews',
    body: { identityId: office, rating: 5, comment: 'تعامل راقٍ' },
  }),
  report: (_by, { listing }) => ({
    path: '/reports',
    body: { targetType: 'property', targetId: listing, reason: 'spam', note: 'مكرر' },
  }),
  block: (_by, { office }) => ({ method: 'POST', path: `/blocks/${office}` }),
  unblock: (_by, { office }) => ({ method: 'DELETE', path: `/blocks/${office}` }),
  create: () => ({ path: '/properties', body: { ...complete.SALE, publish: true } }),
  publish: ({ drafted }) => ({ method: 'POST', path: `/properties/${drafted}/publish` }),
  patch: ({ listing }) => ({
    method: 'PATCH',
    path: `/properties/${listing}`,
    body: { price: 100_000 + Math.floor(Math.random() * 9000) },
  }),
  pause: ({ listing }) => ({ method: 'POST', path: `/properties/${listing}/pause` }),
  resume: ({ listing }) => ({ method: 'POST', path: `/properties/${listing}/resume` }),
  profile: () => ({
    method: 'PATCH',
    path: '/office/profile',
    body: { nameAr: `مكتب ${randomUUID().slice(0, 8)}` },
  }),
  about: () => ({ method: 'PATCH', path: '/office/profile', body: { aboutAr: randomUUID() } }),
  me: () => ({ method: 'PATCH', path: '/auth/me', body: { fullName: 'سالم بن فهد' } }),
  settings: () => ({ method: 'PATCH', path: '/settings', body: { language: 'en' } }),
  switch: ({ identityId }) => ({ path: '/auth/identity/switch', body: { identityId } }),
  back: ({ office }) => ({ path: '/auth/identity/switch', body: { identityId: office } }),
  topup: () => ({ path: '/wallet/topup', body: { amount: 5 } }),
  subscribe: ({ planId }) => ({ path: '/plans/subscribe', body: { planId, payWith: 'wallet' } }),
  cancel: () => ({ method: 'POST', path: '/plans/cancel' }),
  device: () => ({ method: 'PUT', path: '/devices', body: device() }),
  identity: () => ({
    path: '/auth/identities',
    body: {
      type: 'company',
      nameAr: 'شركة جديدة',
      licenceNo: randomUUID().slice(0, 18).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    },
  }),
  login: ({ identifier, password }) => ({ path: '/auth/login', body: { identifier, password } }),
  readAll: () => ({ method: 'POST', path: '/notifications/read-all' }),
}

const reason = 'مخالفة الشروط'
const status = (id: string, to: string) => ({
  method: 'PATCH',
  path: `/admin/users/${id}/status`,
  body: { status: to, reason },
})
const identity = (id: string, to: string) => ({
  method: 'PATCH',
  path: `/admin/identities/${id}/status`,
  body: { status: to, reason },
})
const decide = (id: string, decision: string) => ({
  path: `/admin/moderation/${id}/decide`,
  body: { decision, reason },
})

/** What admins do to somebody, more than once where it can be taken back. */
const adminActs: Record<string, (whom: Side) => Omit<Shot, 'headers'>[]> = {
  'suspends the account': ({ id }) => [status(id, 'suspended')],
  'bans the account': ({ id }) => [status(id, 'banned')],
  'suspends and releases the account': ({ id }) => [status(id, 'suspended'), status(id, 'active')],
  'suspends the identity': ({ office }) => [identity(office, 'suspended')],
  'suspends and releases the identity': ({ office }) => [
    identity(office, 'suspended'),
    identity(office, 'active'),
  ],
  'suspends the listing': ({ listing }) => [decide(listing, 'suspend')],
  'suspends and restores the listing': ({ listing }) => [
    decide(listing, 'suspend'),
    decide(listing, 'restore'),
  ],
}

/** Everything as it was before the admin came. */
async function restore({ one, other, sessions }: Pair) {
  for (const { id, office, listing, drafted } of [one, other]) {
    await database().query(
      `update public.accounts set status = 'active', suspended_until = null where id = $1`,
      [id],
    )
    await database().query(`update public.identities set status = 'active' where id = $1`, [office])
    await database().query(
      `update public.organisations set verified = true where identity_id = $1`,
      [office],
    )
    await database().query(
      'update public.accounts set active_identity_id = $2 where id = $1',
      [id, office],
    )
    await database().query(
      `update public.properties set status = 'active', suspended_from = null, status_reason = null,
         paused_at = null, published_at = now(), expires_at = now() + interval '1 day'
       where id = $1`,
      [listing],
    )
    await database().query(
      `update public.properties set status = 'draft', published_at = null, expires_at = null,
         confirmed_at = null where id = $1`,
      [drafted],
    )
    await database().query('delete from public.blocks where account_id = $1', [id])
  }
  await database().query(
    `insert into auth.sessions select (jsonb_populate_recordset(null::auth.sessions, $1)).*
     on conflict do nothing`,
    [sessions],
  )
}

/** How many Postgres has found in this database, once all have told what they know. */
async function deadlocks(): Promise<number> {
  // A connection tells after a second of work, or ten of rest.
  await sleep(11_000)
  const { rows: [{ deadlocks }] } = await database().query(
    `select deadlocks::int from pg_stat_database where datname = current_database()`,
  )
  return deadlocks
}

const groups = (size: number) => {
  const names = Object.keys(acts)
  return Array.from(
    { length: Math.ceil(names.length / size) },
    (_, i) => names.slice(i * size, (i + 1) * size),
  )
}

/** All of a group at once, by both, with something else in their midst. */
async function clash(
  names: string[],
  { one, other, talk }: Pair,
  more: Shot[],
  also?: () => unknown,
) {
  const shots: Shot[] = names.flatMap((name) => [
    { ...acts[name]!(one, other, talk), ...as(one) },
    { ...acts[name]!(other, one, talk), ...as(other) },
  ])
  for (const shot of more) shots.splice(Math.floor(Math.random() * shots.length), 0, shot)
  const [replies] = await Promise.all([race(shots), also?.()])
  const failed = replies.flatMap(({ status, body }, i) =>
    status >= 500
      ? [`${shots[i]!.method ?? 'POST'} ${shots[i]!.path} ${status} ${body?.error?.code}`]
      : []
  )
  expect(failed).toEqual([])
}

test('an admin’s act and what people do at that moment never wait for each other', async () => {
  const before = await deadlocks()
  const pairs = await Promise.all([pair(), pair(), pair()])
  const work = Object.values(adminActs).flatMap((does) =>
    groups(3).map((names) => ({ does, names }))
  )
  await Promise.all(pairs.map(async (people, lane) => {
    for (const { does, names } of work.filter((_, i) => i % pairs.length === lane)) {
      for (let round = 0; round < 2; round++) {
        const more = does(people.one).map((shot) => ({ ...shot, ...as(admin) }))
        await clash(names, people, more)
        await restore(people)
      }
    }
  }))
  expect(await deadlocks()).toBe(before)
})

test('jobs and what people do at that moment never wait for each other', async () => {
  const before = await deadlocks()
  const people = await pair()
  const { one, other } = people
  const due: (() => Promise<unknown>)[] = [
    () =>
      database().query(
        `update public.organisations set licence_expires_on = current_date - 2
         where identity_id = any ($1)`,
        [[one.office, other.office]],
      ),
    () =>
      database().query(
        `update public.properties set expires_at = now() where id = any ($1)`,
        [[one.listing, other.listing]],
      ),
    () =>
      database().query(
        `update public.accounts set status = 'suspended', suspended_until = now() where id = $1`,
        [one.id],
      ),
    () =>
      database().query(
        `update public.subscriptions set starts_at = now() - interval '40 days', ends_at = now()
         where identity_id = any ($1) and status = 'active'`,
        [[one.office, other.office]],
      ),
  ]
  for (const make of due) {
    for (const names of groups(5)) {
      await make()
      await clash(names, people, [], runJobs)
      await database().query(
        `update public.organisations set licence_expires_on = '2040-01-01'
         where identity_id = any ($1)`,
        [[one.office, other.office]],
      )
      await restore(people)
    }
  }
  expect(await deadlocks()).toBe(before)
})

/** What is left of somebody whose account is closed, and should not be. */
async function remains(id: string): Promise<string[]> {
  const { rows } = await database().query(
    `with mine as (select identities.id from public.identities where account_id = $1)
     select 'account ' || status as what from public.accounts where id = $1 and status <> 'deleted'
     union all select 'identity ' || type from public.identities
       where account_id = $1 and status <> 'closed'
     union all select 'page' from public.organisations join mine on mine.id = identity_id
       where active or about_ar is not null or licence_no not like 'CLOSED-%'
     union all select 'listing ' || status from public.properties
       join mine on mine.id = owner_identity_id
       where title_ar is not null or status <> 'deleted' or listed
     union all select 'favorite' from public.favorites join mine on mine.id = identity_id
     union all select 'device' from public.devices where account_id = $1
     union all select 'notification ' || kind from public.notifications where account_id = $1
     union all select 'told ' || kind from public.notifications
       join mine on mine.id = from_identity_id
     union all select 'settings' from public.account_settings where account_id = $1
     union all select 'review' from public.reviews join mine on mine.id = author_identity_id
       where comment is not null
     union all select 'report' from public.reports where account_id = $1 and note is not null
     union all select 'invoice ' || state from public.invoices
       join mine on mine.id = identity_id where state in ('open', 'failed') and purpose = 'plan'
     union all select 'picture' from public.media join mine on mine.id = identity_id
       where discarded_at is null
     union all select 'session' from auth.sessions where user_id = $1`,
    [id],
  )
  return rows.map(({ what }) => what)
}

test('what people do while their account is deleted leaves nothing behind and stops nobody', async () => {
  const before = await deadlocks()
  // Auth itself answers 500 to whom it finds and, a moment later, does not find any more.
  for (const all of groups(5)) {
    const names = all.filter((name) => name !== 'login')
    const people = await pair()
    const { one } = people
    const gone = { method: 'DELETE', path: `/admin/users/${one.id}`, body: { reason } }
    await clash(names, people, [{ ...gone, ...as(admin) }])
    expect([names, await remains(one.id)]).toEqual([names, []])
  }
  expect(await deadlocks()).toBe(before)
})

test('two who know each other are deleted at once, by an admin and by the job', async () => {
  const before = await deadlocks()
  for (let round = 0; round < 3; round++) {
    const people = await pair()
    const { one, other } = people
    await database().query(
      `update public.accounts set status = 'deletion_requested', delete_at = now()
       where id = $1`,
      [other.id],
    )
    await database().query(
      `select private.move_money(private.wallet_of($1), private.house('adjustments'), 500,
         'adjustment', 'adjustment', $2)`,
      [other.office, randomUUID()],
    )
    const gone = { method: 'DELETE', path: `/admin/users/${one.id}`, body: { reason } }
    await Promise.all([race([{ ...gone, ...as(admin) }]), runJobs()])
    await until('both are gone', async () => {
      await runJobs()
      return (await remains(other.id)).length === 0
    })
    expect([await remains(one.id), await remains(other.id)]).toEqual([[], []])
  }
  expect(await deadlocks()).toBe(before)
})

test('a picture that arrives for what was just closed is gone with its file at once', async () => {
  for (let round = 0; round < 6; round++) {
    const person = await signUp()
    const sent = Promise.all(
      [1, 2].map((shade) => uploadAvatar(person, jpeg({ width: 64, height: 64, shade }))),
    )
    await sleep(round * 8)
    const { status } = await admin.delete(`/admin/users/${person.id}`, { reason })
    expect(status).toBe(204)
    const answers = (await sent).map(({ status }) => status)
    for (const status of answers) expect(status).toBeOneOf([201, 401, 404])
    const { rows } = await database().query(
      `select objects.name, media.id, media.discarded_at from storage.objects
       left join public.media on media.bucket = bucket_id and media.name = objects.name
       where objects.name like $1 and media.discarded_at is null`,
      [`${person.identityId}/%`],
    )
    expect([answers, rows]).toEqual([answers, []])
    expect(await remains(person.id)).toEqual([])
  }
})

test('a notice that meets a lock is made again, and whoever caused it does not fail', async () => {
  const { one, other, talk } = await pair()
  const client = await database().connect()
  try {
    // Somebody who takes the same two rows the other way round; the message waits first.
    await client.query('begin')
    await client.query(
      `select from public.notifications where account_id = $1 and kind = 'message_new'
       for no key update`,
      [other.id],
    )
    const sent = one.post(`/conversations/${talk}/messages`, text('لا تضيع'))
    await sleep(400)
    await client.query('select from public.conversations where id = $1 for no key update', [talk])
    expect((await sent).status).toBe(201)
  } finally {
    await client.query('rollback')
    client.release()
  }
  await until('it is told', async () => {
    await runJobs('jobs/often')
    const { body } = await other.get('/notifications?limit=50')
    return body.items.some(({ bodyAr }: { bodyAr: string }) => bodyAr.includes('لا تضيع'))
  })
})

test('what Postgres undoes for the sake of another is tried once more as a whole', async () => {
  const { one, other } = await pair()
  const listing = await listingOf(other.office)
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('select from public.properties where id = $1 for no key update', [listing])
    const saved = one.post(`/favorites/${listing}`)
    await sleep(400)
    await client.query('select from public.accounts where id = $1 for no key update', [one.id])
    await client.query('commit')
    expect(await saved).toMatchObject({ status: 200, body: { isFavorite: true } })
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await one.get(`/properties/${listing}`)).body)
    .toMatchObject({ isFavorite: true, favoritesCount: 1 })
})

test('a deletion does not wait for whoever only refers to the account', async () => {
  const person = await signUp()
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('select from public.accounts where id = $1 for key share', [person.id])
    expect((await admin.delete(`/admin/users/${person.id}`, { reason })).status).toBe(204)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
