// The statistics count everybody's actions, so this test runs alone.
import { beforeAll, expect, test } from 'vitest'
import { buy, newPlan, personWithMoney, refund } from '../billing/purchases.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { sendMessageAs, startConversation } from '../support/conversations.ts'
import { insertListing } from '../support/fixtures.ts'
import { hasSandbox, topUp } from '../support/money.ts'
import { refusal, statusAndCode } from '../support/problems.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const figures = async (days: number) => (await admin.get(`/admin/stats?days=${days}`)).body.byDay

type Figures = { [name: string]: number | Figures }

/** Returns the increase of each figure between two readings, but the median of the second one unchanged. */
const added = (before: Figures, after: Figures): Figures =>
  Object.fromEntries(
    Object.entries(after).filter(([name]) => name !== 'day').map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null
        ? added(before[name] as Figures, value)
        : name === 'medianHours'
        ? value
        : Number((value - (before[name] as number)).toFixed(3)),
    ]),
  )

test('ADM-27 what happened counts on its day in Kuwait', async () => {
  const { rows: [{ midnight, day, eve }] } = await query(
    `select midnight at time zone 'Asia/Kuwait' as midnight, midnight::date::text as day,
       (midnight - interval '1 day')::date::text as eve
     from (select date_trunc('day', now() at time zone 'Asia/Kuwait') - interval '40 days' as midnight)`,
  )
  const early = new Date(midnight.getTime() + 1_800_000)
  const late = new Date(midnight.getTime() - 1_800_000)
  const of = async (one: string) =>
    (await figures(90)).find(({ day }: { day: string }) => day === one)
  const before = { [eve]: await of(eve), [day]: await of(day) }

  const [owner, reader] = await Promise.all([signUp(), signUp()])
  const came = (person: Person, at: Date) =>
    query('update public.accounts set created_at = $2 where id = $1', [person.id, at])
  await came(owner, late)
  await came(reader, early)
  const publish = (type: string, at: Date) =>
    insertListing(owner.identityId, { type, published_at: at })
  const sale = await publish('SALE', late)
  const rent = await publish('RENT', early)
  await publish('EXCHANGE', early)
  const { a, conversationId } = await startConversation()
  await sendMessageAs(a, conversationId)
  await query('update public.messages set created_at = $2 where conversation_id = $1', [
    conversationId,
    early,
  ])
  await query(
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind, created_at, day)
     values ($1, $2, $3, 'call', $4, $5)`,
    [sale, owner.identityId, reader.identityId, late, eve],
  )
  for (const [type, hours] of [['SALE', 1], ['RENT', 3], ['EXCHANGE', 10]] as const) {
    const { body } = await reader.post('/reports', {
      targetType: 'property',
      targetId: type === 'RENT' ? rent : await publish(type, new Date()),
      reason: 'spam',
    })
    await admin.post(`/admin/moderation/${body.id}/decide`, { decision: 'dismiss' })
    await query(
      `update public.reports
       set decided_at = $2::timestamptz, created_at = $2::timestamptz - make_interval(hours => $3)
       where id = $1`,
      [body.id, early, hours],
    )
  }
  const buyer = await personWithMoney(20)
  const invoice = await buy(buyer, await newPlan({ price: 10 }))
  expect((await refund(admin, invoice, { amount: 4.25 })).status).toBe(200)
  await query('update public.refunds set settled_at = $2 where invoice_id = $1', [
    invoice.id,
    early,
  ])
  if (hasSandbox) {
    const { id } = await topUp(buyer, 7.5)
    await query('update public.payments set captured_at = $2 where invoice_id = $1', [id, late])
  }

  const none = { number: 0, amount: 0 }
  expect(added(before[eve], await of(eve))).toEqual({
    accounts: 1,
    listings: { SALE: 1, RENT: 0, EXCHANGE: 0 },
    messages: 0,
    leads: 1,
    payments: hasSandbox ? { number: 1, amount: 7.5 } : none,
    refunds: none,
    reports: { made: 3, decided: 0, medianHours: null },
  })
  expect(added(before[day], await of(day))).toEqual({
    accounts: 1,
    listings: { SALE: 0, RENT: 1, EXCHANGE: 1 },
    messages: 1,
    leads: 0,
    payments: none,
    refunds: { number: 1, amount: 4.25 },
    reports: { made: 0, decided: 3, medianHours: 3 },
  })
})

test('ADM-27 every day is there, within bounds, for administrators alone', async () => {
  const days = (await figures(90)).map(({ day }: { day: string }) => Date.parse(day))
  expect(days).toEqual(Array.from({ length: 90 }, (_, nth) => days[0] + nth * 86_400_000))
  expect(await figures(1)).toHaveLength(1)
  expect((await admin.get('/admin/stats')).body.byDay).toEqual([])
  for (const wrong of ['0', '91', '1.5', 'x']) {
    expect(statusAndCode(await admin.get(`/admin/stats?days=${wrong}`)))
      .toEqual([422, 'validation_failed'])
  }
  expect(await (await signUp()).get('/admin/stats?days=1')).toMatchObject(
    refusal(403, 'admin_only'),
  )
  expect((await callDataApi(admin, 'get_admin_stats', { days: 91 })).status).toBe(422)
})

test('ADM-27 the figures of a few days are found by an index, however many there are of before', async () => {
  const client = await database().connect()
  try {
    await client.query('begin; set local enable_seqscan = off')
    for (
      const time of [
        'accounts.created_at',
        'properties.published_at',
        'messages.created_at',
        'leads.created_at',
        'payments.captured_at',
        'refunds.settled_at',
        'reports.created_at',
        'reports.decided_at',
      ]
    ) {
      const { rows } = await client.query(
        `explain select ${time} from public.${time.split('.')[0]} where ${time} >= now()`,
      )
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan, time).not.toContain('Seq Scan')
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
})
