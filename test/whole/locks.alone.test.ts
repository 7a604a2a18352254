// Admins and jobs act on people while these people send requests. There must be no deadlocks
// (sql/03_accounts/2_rules_locks.sql), and nothing may remain of a closed account.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { adminActions, adminActs, deletion, reason, type Side } from './racing-actions.ts'
import { act } from '../admin/studio.ts'
import { auditOf, makeAdmin } from '../support/admins.ts'
import {
  groupsFor,
  groupsOfActions,
  raceGroup,
  restore,
  sentBy,
  twoAcquaintances,
} from './lock-races.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { requestResetCode } from '../support/codes.ts'
import { textMessage } from '../support/conversations.ts'
import { bulk } from '../support/nightly.ts'
import { pdf } from '../support/pdf.ts'
import { jpeg } from '../support/pictures.ts'
import { deadlocks, race, untilLocked } from '../support/races.ts'
import { storedFiles, uploadAvatar, uploadDocuments } from '../support/uploads.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { insertListing, insertWaitingCompany } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'

let admin: Person
let known: number

beforeAll(async () => {
  admin = await makeAdmin(await signUp('مشرفة السوق'))
  known = await deadlocks()
})

async function expectNoDeadlock() {
  const before = known
  known = await deadlocks()
  expect(known).toBe(before)
}

async function inPairs<Work>(
  work: Work[],
  does: (people: Awaited<ReturnType<typeof twoAcquaintances>>, work: Work) => Promise<unknown>,
) {
  const pairs = await Promise.all([twoAcquaintances(), twoAcquaintances(), twoAcquaintances()])
  await Promise.all(pairs.map(async (people, worker) => {
    for (const one of work.filter((_, i) => i % pairs.length === worker)) {
      await does(people, one)
      await restore(people)
    }
  }))
}

test('an admin’s action and concurrent requests of people never deadlock', async () => {
  const work = Object.entries(adminActions).flatMap(([title, does], nth) =>
    groupsFor(nth, title).map((names) => ({ does, names }))
  )
  await inPairs(
    work,
    (people, { does, names }) =>
      raceGroup(names, people, does(people.one).map((shot) => sentBy(admin, shot))),
  )
  await expectNoDeadlock()
})

test('an admin’s act by a row and concurrent requests of people never deadlock', async () => {
  const work = Object.entries(adminActs).flatMap(([title, rows], nth) =>
    groupsFor(nth, title + ' by a row').map((names) => ({ rows, names }))
  )
  let done = 0
  await inPairs(work, async (people, { rows, names }) => {
    const also = async () => {
      const results = await Promise.allSettled(rows(people.one).map(act))
      for (const result of results) {
        if (result.status === 'fulfilled') done++
        // An act may be refused because of the account's state, but another act must never cause a rollback.
        else {expect(result.reason).toMatchObject({
            code: expect.stringMatching(/^(23514|PT4\d\d)$/),
          })}
      }
    }
    await raceGroup(names, people, [], { also })
  })
  expect(done).toBeGreaterThan(work.length)
  await expectNoDeadlock()
})

test('jobs and concurrent requests of people never deadlock', async () => {
  const due: ((people: { one: Side; other: Side }) => Promise<unknown>)[] = [
    ({ one, other }) =>
      database().query(
        `update public.organisations set licence_expires_on = current_date - 2
         where identity_id = any ($1)`,
        [[one.office, other.office]],
      ),
    ({ one, other }) =>
      database().query(
        `update public.properties set expires_at = now() where id = any ($1)`,
        [[one.listing, other.listing]],
      ),
    ({ one }) =>
      database().query(
        `update public.accounts set status = 'suspended', suspended_until = now() where id = $1`,
        [one.id],
      ),
    ({ one }) =>
      database().query(`update public.accounts set status = 'banned' where id = $1`, [one.id]),
    ({ one, other }) =>
      database().query(
        `update public.subscriptions set starts_at = now() - interval '40 days', ends_at = now()
         where identity_id = any ($1) and status = 'active'`,
        [[one.office, other.office]],
      ),
  ]
  const work = due.flatMap((make, nth) =>
    groupsFor(nth, String(nth)).map((names) => ({ make, names }))
  )
  await inPairs(work, async (people, { make, names }) => {
    await raceGroup(names, people, [], { make: () => make(people), also: runJobs })
    await database().query(
      `update public.organisations set licence_expires_on = '2040-01-01'
       where identity_id = any ($1)`,
      [[people.one.office, people.other.office]],
    )
  })
  await expectNoDeadlock()
})

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
     union all select 'notification ' || kind from public.notifications
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

test('requests of an account being deleted leave nothing behind and block nobody', async () => {
  for (const names of groupsOfActions(bulk(5, 10))) {
    const people = await twoAcquaintances()
    const { one } = people
    await raceGroup(names, people, [sentBy(admin, deletion(one))])
    expect([names, await remains(one.id)]).toEqual([names, []])
  }
  await expectNoDeadlock()
})

test('two acquaintances can be deleted at once, one by an admin and one by himself', async () => {
  for (let round = 0; round < bulk(10, 5); round++) {
    const { one, other } = await twoAcquaintances()
    const replies = await race([
      sentBy(one, {
        path: '/auth/me/delete',
        body: { password: one.password, money: 'refund' },
      }),
      sentBy(admin, deletion(other)),
    ])
    expect(replies.map(({ status }) => status)).toEqual([202, 204])
    expect(await remains(other.id)).toEqual([])
  }
  await expectNoDeadlock()
})

test('whoever disappears while the password is checked is told to sign in', async () => {
  for (let round = 0; round < bulk(10, 5); round++) {
    const person = await signUp()
    const { identifier, password } = person
    const code = await requestResetCode(identifier)
    const [newPassword, another] = [randomUUID(), randomUUID()]
    const replies = await race([
      { path: '/auth/login', body: { identifier, password } },
      sentBy(person, { path: '/auth/me/delete', body: { password } }),
      sentBy(person, {
        path: '/auth/password/change',
        body: { currentPassword: password, newPassword },
      }),
      sentBy(person, { path: '/auth/logout', body: {} }),
      {
        path: '/auth/password/reset',
        body: { identifier, code, newPassword: another, confirmPassword: another },
      },
      sentBy(admin, deletion(person)),
    ])
    for (const { status, body } of replies) {
      expect([200, 202, 204, 401, 422], JSON.stringify(body)).toContain(status)
    }
    expect(await remains(person.id)).toEqual([])
  }
})

test('two acquaintances can be deleted at once, by an admin and by the job', async () => {
  for (let round = 0; round < 3; round++) {
    const people = await twoAcquaintances()
    const { one, other } = people
    await database().query(
      `update public.accounts
       set delete_at = now(), money_at_deletion = 'refund'
       where id = $1`,
      [other.id],
    )
    await Promise.all([race([sentBy(admin, deletion(one))]), runJobs()])
    await waitUntil('both are gone', async () => {
      await runJobs()
      return (await remains(other.id)).length === 0
    })
    expect([await remains(one.id), await remains(other.id)]).toEqual([[], []])
  }
  await expectNoDeadlock()
})

test('a picture that arrives for a listing just closed is removed with its file at once', async () => {
  for (let round = 0; round < bulk(6, 3); round++) {
    const person = await signUp()
    const sent = Promise.all(
      [1, 2].map((shade) => uploadAvatar(person, jpeg({ width: 64, height: 64, shade }))),
    )
    await pause(round * 8, 'any moment is right')
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

test('of documents that arrive while their account closes none is left', async () => {
  for (let round = 0; round < bulk(6, 3); round++) {
    const person = await signUp()
    const company = await insertWaitingCompany(person.id)
    const sent = Promise.all([1, 2].map((at) => uploadDocuments(person, company, [pdf(`${at}`)])))
    await pause(round * 8, 'any moment is right')
    expect((await admin.delete(`/admin/users/${person.id}`, { reason })).status).toBe(204)
    const answers = (await sent).map(({ status }) => status)
    for (const status of answers) expect(status).toBeOneOf([201, 401, 404])
    const { rows } = await database().query(
      'select from public.documents where account_id = $1 and discarded_at is null',
      [person.id],
    )
    expect([answers, rows]).toEqual([answers, []])
    await database().query('update private.uploads set due_at = now() where account_id = $1', [
      person.id,
    ])
    await runJobs()
    expect(await storedFiles(company)).toEqual([])
  }
})

test('of documents that arrive while their company is decided none is decided unseen', async () => {
  const decided: number[] = []
  // The delay grows until each of the two, the upload and the decision, has been first at least once.
  for (let round = 0; round < 12 || new Set(decided).size < 2 && round < 100; round++) {
    const person = await signUp()
    const company = await insertWaitingCompany(person.id)
    const sent = uploadDocuments(person, company, [pdf()])
    await pause(round * 3, 'any moment is right')
    const { status, body } = await admin.post(`/admin/moderation/${company}/decide`, {
      decision: 'approve',
    })
    decided.push(status)
    const { documentId } = (await sent).body.files[0]
    if (status !== 200) {
      expect([status, body.error.documentIds]).toEqual([409, [documentId]])
      continue
    }
    const [entry] = await auditOf(admin, company)
    expect(entry.after).toMatchObject({ status: 'active' })
  }
  expect(decided).toEqual(expect.arrayContaining([200, 409]))
})

/** Head start in ms, so that the request detects the deadlock first and is the one rolled back. */
const aheadOfUs = 500

test('a notification that meets a lock is retried, and its cause does not fail', async () => {
  const { one, other, talk } = await twoAcquaintances()
  const client = await database().connect()
  try {
    // Another transaction takes the same two rows in the reverse order. The message waits first.
    await client.query('begin')
    await client.query(
      `select from public.notifications where account_id = $1 and kind = 'message_new'
       for no key update`,
      [other.id],
    )
    const sent = one.post(`/conversations/${talk}/messages`, textMessage('لا تضيع'))
    await untilLocked('send_message')
    await pause(aheadOfUs, 'time is the subject')
    await client.query('select from public.conversations where id = $1 for no key update', [talk])
    expect((await sent).status).toBe(201)
  } finally {
    await client.query('rollback')
    client.release()
  }
  await waitUntil('the notification is there', async () => {
    await runJobs('jobs/often')
    const { body } = await other.get('/notifications?limit=50')
    return body.items.some(({ bodyAr }: { bodyAr: string }) => bodyAr.includes('لا تضيع'))
  })
})

test('a deadlock victim is retried as a whole', async () => {
  const { one, other } = await twoAcquaintances()
  const listing = await insertListing(other.office)
  // Saves and removes a favorite once, which creates the listing's counter row.
  for (let turn = 0; turn < 2; turn++) await one.post(`/favorites/${listing}`)
  const before = await deadlocks()
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(
      'select from private.property_counters where property_id = $1 for no key update',
      [listing],
    )
    const saved = one.post(`/favorites/${listing}`)
    await untilLocked('toggle_favorite')
    await pause(aheadOfUs, 'time is the subject')
    await client.query('select from public.accounts where id = $1 for no key update', [one.id])
    await client.query('commit')
    expect(await saved).toMatchObject({ status: 200, body: { isFavorite: true } })
    known = await deadlocks()
    expect(known).toBe(before + 1)
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await one.get(`/properties/${listing}`)).body)
    .toMatchObject({ isFavorite: true, favoritesCount: 1 })
})

test('a deletion does not wait for rows that only refer to the account', async () => {
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
