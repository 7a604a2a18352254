import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, type Reply, signUp } from '../support/client.ts'
import {
  notificationsOf,
  notify,
  registerDevice,
  serviceMessage,
  unreadCount,
} from '../support/notifications.ts'
import { openConversation } from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { unknownId } from '../support/problems.ts'

let sara: Person

beforeEach(async () => {
  sara = await signUp('سارة المطيري')
})

test('a notification is there at once, unread, in both languages', async () => {
  expect((await sara.get('/notifications')).body).toEqual({ items: [], nextCursor: null })
  expect(await unreadCount(sara)).toBe(0)

  const entityId = randomUUID()
  const details = { number: 'INV-2026-000123', amount: 5 }
  await notify(sara, 'invoice_paid', details, { entityId })
  const [one] = await notificationsOf(sara)
  expect(one).toEqual({
    id: expect.any(String),
    identityId: sara.identityId,
    kind: 'invoice_paid',
    titleAr: 'تم الدفع بنجاح',
    bodyAr: 'استلمنا 5.000 د.ك عن الفاتورة INV-2026-000123، شكراً لك',
    titleEn: 'Payment received',
    bodyEn: 'We received 5.000 KWD for invoice INV-2026-000123, thank you',
    data: { route: 'invoice', entityId },
    createdAt: expect.any(String),
    readAt: null,
  })
  expect(await unreadCount(sara)).toBe(1)
})

test('the list is newest first in consecutive pages, also while some are deleted, or unread only', async () => {
  for (let i = 0; i < 7; i++) await notify(sara, 'system', serviceMessage(`رسالة ${i}`))
  const all = await notificationsOf(sara)
  expect(all.map(({ titleAr }) => titleAr))
    .toEqual([6, 5, 4, 3, 2, 1, 0].map((i) => `رسالة ${i}`))

  const first = (await sara.get('/notifications?limit=3')).body
  await sara.delete(`/notifications/${first.items[2].id}`)
  const second = (await sara.get(`/notifications?limit=4&cursor=${first.nextCursor}`)).body
  expect([...first.items, ...second.items]).toEqual(all)
  expect(second.nextCursor).toBe(null)

  for (const { id } of [all[0], all[3]]) await sara.post(`/notifications/${id}/read`)
  const ids = async (query: string) =>
    (await sara.get(`/notifications?${query}`)).body.items.map(({ id }: { id: string }) => id)
  expect(await ids('unread=true')).toEqual([1, 4, 5, 6].map((i) => all[i].id))
  expect(await ids('unread=false')).toEqual([0, 3].map((i) => all[i].id))
  expect(await ids('')).toEqual([0, 1, 3, 4, 5, 6].map((i) => all[i].id))

  const { nextCursor } = (await sara.get('/notifications?limit=2&unread=true')).body
  for (
    const query of [
      `cursor=${nextCursor}`, // the cursor belongs to another filter
      `unread=false&cursor=${nextCursor}`,
      'cursor=x',
      'unread=maybe',
      'unread=1',
      'limit=0',
      'kind=system',
    ]
  ) expect((await sara.get(`/notifications?${query}`)).status).toBe(422)
  const other = await signUp()
  expect((await other.get(`/notifications?unread=true&cursor=${nextCursor}`)).body)
    .toMatchObject({ error: { code: 'cursor_invalid' } })
})

test('reading one, reading all and deleting keep the badge right', async () => {
  for (let i = 0; i < 4; i++) await notify(sara, 'system', serviceMessage())
  const [one, two] = await notificationsOf(sara)
  expect(await sara.post(`/notifications/${one.id}/read`))
    .toMatchObject({ status: 200, body: { unread: 3 } })
  const readAt = (await notificationsOf(sara))[0].readAt
  expect((await sara.post(`/notifications/${one.id}/read`)).body).toEqual({ unread: 3 })
  expect((await notificationsOf(sara))[0].readAt).toBe(readAt)

  expect(await sara.delete(`/notifications/${two.id}`)).toMatchObject({ status: 204, body: null })
  expect(await unreadCount(sara)).toBe(2)
  expect((await sara.post('/notifications/read-all')).body).toEqual({ unread: 0 })
  expect((await sara.post('/notifications/read-all')).body).toEqual({ unread: 0 })
  expect((await notificationsOf(sara)).every(({ readAt }) => readAt)).toBe(true)
})

test('reading all waits for no transaction that is creating a notification', async () => {
  const listing = { entityId: randomUUID() }
  const details = { titleAr: 'شقة' }
  await notify(sara, 'lead_new', details, listing)
  await notify(sara, 'system', serviceMessage())
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(`select private.notify($1, $2, 'lead_new', $3, $4)`, [
      sara.id,
      sara.identityId,
      listing.entityId,
      details,
    ])
    // The notification that the open transaction is updating stays unread.
    expect((await sara.post('/notifications/read-all')).body).toEqual({ unread: 1 })
    await client.query('commit')
  } finally {
    client.release()
  }
  expect(await notificationsOf(sara, 'lead_new'))
    .toMatchObject([{ titleAr: 'طلبا تواصل جديدان', readAt: null }])
})

test("ISO-08 somebody else's notification looks like one that does not exist", async () => {
  const other = await signUp()
  await notify(other, 'system', serviceMessage())
  const [{ id }] = await notificationsOf(other)
  const problem = ({ status, body }: Reply) => {
    const { requestId: _, ...error } = body.error
    return { status, error }
  }
  for (
    const act of [
      (id: string) => sara.post(`/notifications/${id}/read`),
      (id: string) => sara.delete(`/notifications/${id}`),
    ]
  ) {
    const missing = problem(await act(unknownId))
    expect(missing).toMatchObject({ status: 404, error: { code: 'not_found' } })
    expect(problem(await act(id))).toEqual(missing)
    expect(problem(await act(other.identityId))).toEqual(missing)
    expect((await act(`${id}x`)).status).toBe(422)
  }
  expect(await notificationsOf(other)).toMatchObject([{ id, readAt: null }])
})

test('notifications belong to the account, whichever identity acts, and name theirs', async () => {
  const company = await insertOrganisation(sara.id)
  await notify(sara, 'system', serviceMessage('لك'), { identityId: null })
  await notify(sara, 'system', serviceMessage('للشركة'), { identityId: company })
  const all = await notificationsOf(sara)
  expect(all.map(({ identityId }) => identityId)).toEqual([company, null])
  await sara.post('/auth/identity/switch', { identityId: company })
  expect(await notificationsOf(sara)).toEqual(all)
})

test('a category switched off in the app is not listed, everything else is as before', async () => {
  await sara.patch('/settings', { notifications: { billing: { inApp: false } } })
  await notify(sara, 'invoice_paid', { number: 'INV-1', amount: 1 })
  await notify(sara, 'system', serviceMessage())
  expect(await notificationsOf(sara)).toMatchObject([{ kind: 'system' }])
  expect(await unreadCount(sara)).toBe(1)
})

test('a failing notification does not fail the action that caused it, and is an alarm', async () => {
  for (
    const [kind, details, entityId] of [
      ['gossip', {}, randomUUID()],
      ['system', {}, null], // no texts
      ['invoice_paid', { number: 'INV-1', amount: 'much' }, randomUUID()],
      ['lead_new', { titleAr: 'شقة', from: 'nobody' }, randomUUID()],
    ] as const
  ) await notify(sara, kind, details, { entityId })
  await notify({ ...sara, id: unknownId }, 'system', serviceMessage())
  expect(await notificationsOf(sara)).toEqual([])
  // Deletes these alarms, because none may be left at the end of the suite (test/whole/invariants.test.ts).
  const { rows } = await database().query(
    `delete from private.alarms
     where kind = 'notification_failed' and details ->> 'accountId' = $1
     returning subject_id`,
    [sara.id],
  )
  expect(rows.map((row) => row.subject_id).sort())
    .toEqual(['gossip P0002', 'invoice_paid 22P02', 'lead_new 22P02', 'system 23502'])

  const long = serviceMessage('طويل '.repeat(300))
  await notify(sara, 'system', long)
  expect((await notificationsOf(sara))[0].titleAr).toBe(long.titleAr.slice(0, 200))
})

test('notifications are written by the functions alone, and nobody reads those of others', async () => {
  const other = await signUp()
  await notify(other, 'system', serviceMessage())
  await notify(sara, 'system', serviceMessage())
  const inSql = (sql: string) =>
    asCaller(sara, (client) => client.query(sql).catch((error) => ({ code: error.code, rows: [] })))
  expect((await inSql('select account_id from public.notifications')).rows)
    .toEqual([{ account_id: sara.id }])
  for (
    const sql of [
      'update public.notifications set read_at = now()',
      'delete from public.notifications',
      `insert into public.notifications
         (account_id, kind, title_ar, body_ar, title_en, body_en, route)
       values (private.account_id(), 'system', 'x', 'x', 'x', 'x', 'x')`,
      `select private.notify(private.account_id(), null, 'system', null, '{}')`,
    ]
  ) expect(await inSql(sql)).toMatchObject({ code: '42501' })
})

test('a deleted account gets no notifications, and its text leaves the lists of others', async () => {
  const salem = await signUp('سالم العنزي')
  await openConversation(salem, { identityId: sara.identityId, message: 'هلا' })
  await notify(sara, 'system', serviceMessage())
  await notify(salem, 'system', serviceMessage())
  await salem.patch('/settings', { marketingConsent: true })
  await registerDevice(sara)
  await sara.patch('/settings', { notifications: { leads: { inApp: false } } })
  await notify(sara, 'lead_new', { titleAr: 'كلام سالم', way: 'call', from: salem.identityId })
  await database().query('select private.anonymise_account($1)', [salem.id])

  expect(await notificationsOf(sara)).toMatchObject([{ kind: 'system' }])
  await notify(salem, 'system', serviceMessage())
  const { rows } = await database().query(
    `select 'notification' from public.notifications where account_id = $1
     union all select 'settings' from public.account_settings where account_id = $1
     union all select 'push' from private.push_outbox
       where account_id = $2 and title || body like '%سالم%'`,
    [salem.id, sara.id],
  )
  expect(rows).toEqual([])
})

test('notifications are deleted after 180 days', async () => {
  await notify(sara, 'system', serviceMessage('قديم'))
  await notify(sara, 'system', serviceMessage('أحدث'))
  await database().query(
    `update public.notifications
     set created_at = now() - case when title_ar = 'قديم' then interval '181 days'
       else interval '179 days' end
     where account_id = $1`,
    [sara.id],
  )
  await database().query('select private.purge_notifications()')
  expect(await notificationsOf(sara)).toMatchObject([{ titleAr: 'أحدث' }])
})

test('counting the unread ones reads the index alone', async () => {
  const client = await database().connect()
  try {
    await client.query('begin')
    // Turns off all other scans, because the cheapest scan depends on the rows of other tests.
    await client.query(
      `set local enable_seqscan = off; set local enable_bitmapscan = off;
       set local enable_indexscan = off`,
    )
    const { rows } = await client.query(
      `explain (format json) select count(*) from public.notifications
       where account_id = $1 and read_at is null`,
      [sara.id],
    )
    expect(JSON.stringify(rows)).toContain('"Index Only Scan"')
    expect(JSON.stringify(rows)).toContain('notifications_unread_idx')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('a guest is asked to sign in', async () => {
  const refused = { status: 401, body: { error: { code: 'token_missing' } } }
  for (
    const reply of [
      await guest.get('/notifications'),
      await guest.get('/notifications/unread-count'),
      await guest.post('/notifications/read-all'),
      await guest.post(`/notifications/${unknownId}/read`),
      await guest.delete(`/notifications/${unknownId}`),
    ]
  ) expect(reply).toMatchObject(refused)
})
