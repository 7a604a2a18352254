/** The ledger: what it holds, also against its own database's roles. */
import { randomInt, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type pg from 'pg'
import { database, type Person, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  findPlan,
  hasSandbox,
  topUp,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { race, type RawRequest } from '../support/races.ts'
import { makeAdmin } from '../support/admins.ts'

const give = async (
  person: Person,
  amount: number | string,
  db: Pick<pg.Pool, 'query'> = database(),
) =>
  await db.query('select private.adjust_wallet($1, $2, $3)', [
    person.identityId,
    amount,
    randomUUID(),
  ])

/** A plan that only this test knows, at a price of its own. */
async function planFor(price: number | string): Promise<string> {
  const { rows: [{ id }] } = await database().query(
    `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
       active_listings, listing_days, photos_per_listing, position)
     values ($1, 'باقة قصيرة', 'Short', 'individual', $2, 30, 7, 30, 10, 999) returning id`,
    [`t_${randomUUID().slice(0, 8)}`, price],
  )
  return id
}

const subscribe = (person: Person, planId: string, payWith = 'wallet'): RawRequest => ({
  path: '/plans/subscribe',
  body: { planId, payWith },
  headers: [['authorization', `Bearer ${person.accessToken}`]],
})

/** Whether every balance of these people is the sum of its entries, and every transfer is even. */
async function expectEven(people: Person[]) {
  const { rows } = await database().query(
    `select wallets.id from public.wallets
     left join public.wallet_entries on wallet_entries.wallet_id = wallets.id
     where wallets.identity_id = any ($1)
     group by wallets.id, wallets.balance
     having wallets.balance <> coalesce(sum(amount), 0) or wallets.balance < 0`,
    [people.map(({ identityId }) => identityId)],
  )
  expect(rows).toEqual([])
}

test('a wallet that was never used is empty', async () => {
  const person = await signUp()
  expect((await person.get('/wallet')).body).toEqual({ available: 0, held: 0, currency: 'KWD' })
  expect((await person.get('/wallet/transactions')).body).toEqual({ items: [], nextCursor: null })
})

test.each([0, 0.999, 1000.001, -1, 1.0005, 1e6])('INP-04 nobody tops up by %s', async (amount) => {
  const person = await signUp()
  expect(await person.post('/wallet/topup', { amount }))
    .toMatchObject({ status: 422, body: { error: { code: 'amount_out_of_range' } } })
})

test.each(['1', '1.0', '1000', '1000.000', '1.001', '999.999', '12.345'])(
  'INP-06 a top-up of %s is exactly that',
  async (amount) => {
    const person = await signUp()
    const invoice = await topUpInvoice(person, amount)
    const { rows } = await database().query(
      'select total::text, number from public.invoices where id = $1',
      [invoice.id],
    )
    expect(Number(rows[0].total)).toBe(Number(amount))
    expect(invoice.number).toMatch(/^INV-\d{4}-\d{6,}$/)
    expect(invoice).toMatchObject({ state: 'open', total: Number(amount), payments: [] })
  },
)

test('INP-04 what is no number is refused', async () => {
  const person = await signUp()
  for (const amount of ['"10"', 'null', '[]', '1e400', '10.00000000000000001']) {
    expect((await person.post('/wallet/topup', `{"amount":${amount}}`)).status).toBe(422)
  }
})

describe('WAL-02 spending it twice', () => {
  test('a hundred purchases of all that there is: one', async () => {
    const person = await signUp()
    await give(person, 10)
    // Each buys a plan of its own, so that only the money stands between them.
    const plans = await Promise.all(Array.from({ length: 100 }, () => planFor(10)))
    const replies = await race(plans.map((id) => subscribe(person, id)))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of replies.filter(({ status }) => status !== 201)) {
      expect([status, body.error.code]).toEqual([402, 'wallet_insufficient'])
    }
    expect(await walletOf(person)).toMatchObject({ available: 0 })
    const small = await planFor('0.300')
    const after = await race(Array.from({ length: 100 }, () => subscribe(person, small)))
    expect(after.every(({ status }) => status === 402)).toBe(true)
    await expectEven([person])
    // What was refused left nothing behind.
    expect((await person.get('/invoices?limit=50')).body.items).toHaveLength(1)
  })

  test('two clicks on one plan: one', async () => {
    const person = await signUp()
    await give(person, 50)
    const plan = await planFor(5)
    const replies = await race(Array.from({ length: 20 }, () => subscribe(person, plan)))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of replies.filter(({ status }) => status !== 201)) {
      expect([status, body.error.code]).toEqual([409, 'already_subscribed'])
    }
    expect(await walletOf(person)).toMatchObject({ available: 45 })
  })

  test('two clicks on an invoice for a plan: the same invoice', async () => {
    const person = await signUp()
    const plan = await planFor(5)
    const replies = await race(
      Array.from({ length: 20 }, () => subscribe(person, plan, 'invoice')),
    )
    expect(new Set(replies.map(({ body }) => body.invoice.id)).size).toBe(1)
    expect((await person.get('/invoices')).body.items).toHaveLength(1)
  })

  test.runIf(hasSandbox)('topping up and spending at once end even', async () => {
    const person = await signUp()
    await give(person, 3)
    const plans = await Promise.all(Array.from({ length: 6 }, () => planFor(2)))
    const [spent] = await Promise.all([
      race(plans.map((id) => subscribe(person, id))),
      ...Array.from({ length: 4 }, () => topUp(person, 1)),
    ])
    const bought = spent!.filter(({ status }) => status === 201).length
    expect(await walletOf(person)).toMatchObject({ available: 7 - 2 * bought })
    await expectEven([person])
  })
})

test('WAL-03 a thousandth ten thousand times is exactly 10.000', async () => {
  const person = await signUp()
  const { rows: [{ id }] } = await database().query(
    'select private.wallet_of($1) as id',
    [person.identityId],
  )
  const move = async (from: string, to: string) => {
    for (let moved = 0; moved < 5000; moved += 250) {
      await database().query(
        `select count(private.move_money(${from}, ${to}, 0.001, 'adjustment', 'adjustment',
           gen_random_uuid())) from generate_series(1, 250)`,
        [id],
      )
    }
  }
  const adjustments = `private.system_account('adjustments')`
  for (const expected of [5, 10]) {
    await move(adjustments, '$1')
    expect((await walletOf(person)).available).toBe(expected)
  }
  const exact = async () =>
    (await database().query('select balance::text from public.wallets where id = $1', [id])).rows[0]
      .balance
  expect(await exact()).toBe('10.000')
  await move('$1', adjustments)
  await move('$1', adjustments)
  expect(await exact()).toBe('0.000')
  await expect(move('$1', adjustments)).rejects.toMatchObject({ message: 'wallet_insufficient' })
})

describe('WAL-04 the ledger cannot be rewritten', () => {
  const roles = ['anon', 'authenticated', 'service_role', 'postgres']
  const attempts: [string, string][] = [
    ['change an entry', 'update public.wallet_entries set amount = amount * 2'],
    ['delete an entry', 'delete from public.wallet_entries'],
    ['empty the entries', 'truncate public.wallet_entries'],
    [
      'empty everything',
      'truncate public.wallet_entries, public.wallet_transfers, public.wallets cascade',
    ],
    ['change a transfer', `update public.wallet_transfers set kind = 'topup'`],
    ['delete a transfer', 'delete from public.wallet_transfers'],
    ['change a balance', 'update public.wallets set balance = balance + 1000'],
    ['give a wallet away', 'update public.wallets set identity_id = gen_random_uuid()'],
    ['delete a wallet', 'delete from public.wallets'],
    ['delete an invoice', 'delete from public.invoices'],
    ['change a total', 'update public.invoices set total = total + 1'],
    ['change a number', 'update public.invoices set serial = serial + 1000000'],
    ['change a line', 'update public.invoice_lines set amount = 1'],
    ['rewrite what happened', `update public.invoice_events set to_state = 'paid'`],
    ['forget what was told', 'delete from public.payment_events'],
    [
      'insert one side only',
      `insert into public.wallet_entries (transfer_id, wallet_id, amount)
      select transfer_id, wallet_id, 5 from public.wallet_entries limit 1`,
    ],
    [
      'insert sides that differ',
      `insert into public.wallet_entries (transfer_id, wallet_id, amount)
      select transfer_id, wallet_id, unnest(array[5, -4]) from (
        select transfer_id, wallet_id from public.wallet_entries limit 1) as one`,
    ],
    [
      'insert nothing',
      `insert into public.wallet_entries (transfer_id, wallet_id, amount)
      select transfer_id, wallet_id, 'NaN' from public.wallet_entries limit 1`,
    ],
  ]

  test.each(roles.flatMap((role) => attempts.map(([name, sql]) => [role, name, sql])))(
    '%s cannot %s',
    async (role, _name, sql) => {
      const person = await signUp()
      await give(person, 5)
      await topUpInvoice(person)
      const client = await database().connect()
      try {
        await client.query('begin')
        await client.query(`set local role ${role}`)
        await expect(client.query(sql!)).rejects.toMatchObject({ code: /^(42501|23514|PT4\d\d)$/ })
      } finally {
        await client.query('rollback')
        client.release()
      }
    },
  )

  test('below zero is a constraint, not a habit', async () => {
    const person = await signUp()
    await give(person, 1)
    await expect(
      database().query(
        `with transfer as (
         insert into public.wallet_transfers (kind, source_kind, source_id)
         values ('adjustment', 'adjustment', gen_random_uuid()) returning id
       ) select id from transfer`,
      ),
    ).resolves.toBeDefined()
    const { rows: [{ id }] } = await database().query(
      `insert into public.wallet_transfers (kind, source_kind, source_id)
       values ('adjustment', 'adjustment', gen_random_uuid()) returning id`,
    )
    await expect(
      database().query(
        `insert into public.wallet_entries (transfer_id, wallet_id, amount)
       values ($1, private.wallet_of($2), -1.001), ($1, private.system_account('adjustments'), 1.001)`,
        [id, person.identityId],
      ),
    ).rejects.toMatchObject({ constraint: 'wallets_never_below_zero' })
  })

  test('one source moves money once', async () => {
    const person = await signUp()
    const decision = randomUUID()
    const once = () =>
      database().query('select private.adjust_wallet($1, 5, $2)', [person.identityId, decision])
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, once))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(5)
  })
})

test('the ledger is listed newest first, page by page, and to its owner only', async () => {
  const [person, other] = await Promise.all([signUp(), signUp()])
  for (const amount of [5, -1, -0.5, 2.25]) await give(person, amount)
  await give(other, 1)
  const first = (await person.get('/wallet/transactions?limit=3')).body
  expect(first.items.map(({ amount }: { amount: number }) => amount)).toEqual([2.25, -0.5, -1])
  expect(first.items.map((one: { balanceAfter: number }) => one.balanceAfter))
    .toEqual([5.75, 3.5, 4])
  const rest = (await person.get(`/wallet/transactions?limit=3&cursor=${first.nextCursor}`)).body
  expect(rest).toMatchObject({ items: [{ amount: 5, kind: 'adjustment' }], nextCursor: null })
  expect((await other.get(`/wallet/transactions?cursor=${first.nextCursor}`)).status).toBe(422)
})

describe.runIf(hasSandbox)('WAL-05 refunds', () => {
  async function world() {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    return { admin, person }
  }
  const refund = (who: Person, id: string, body: Record<string, unknown>) =>
    who.post(`/admin/invoices/${id}/refund`, { reason: 'طلب العميل', ...body })

  test('a plan from the wallet is refunded in parts, and ends when all of it is back', async () => {
    const { admin, person } = await world()
    await give(person, 10)
    const plan = await planFor(10)
    const [bought] = await race([subscribe(person, plan)])
    const { id } = bought!.body.invoice
    expect((await person.get('/plans/current')).body.plan.id).toBe(plan)

    expect((await refund(person, id, { to: 'wallet' })).status).toBe(403)
    expect(await refund(admin, id, { to: 'wallet', amount: 10.001 }))
      .toMatchObject({ status: 422, body: { error: { code: 'amount_out_of_range' } } })
    // What came from the wallet has no other source.
    expect((await refund(admin, id, { to: 'source' })).status).toBe(422)
    const part = await refund(admin, id, { to: 'wallet', amount: 4 })
    expect(part).toMatchObject({
      status: 200,
      body: { refund: { state: 'settled', amount: 4 }, invoice: { state: 'partially_refunded' } },
    })
    expect((await person.get('/plans/current')).body.plan.id).toBe(plan)
    const rest = await refund(admin, id, { to: 'wallet' })
    expect(rest.body).toMatchObject({ refund: { amount: 6 }, invoice: { state: 'refunded' } })
    expect(await walletOf(person)).toMatchObject({ available: 10 })
    expect((await person.get('/plans/current')).body.plan.code).toBe('free')
    expect(await refund(admin, id, { to: 'wallet' }))
      .toMatchObject({ status: 409, body: { error: { code: 'status_transition_invalid' } } })
    const notes = (await person.get('/notifications')).body.items
    expect(notes.filter(({ kind }: { kind: string }) => kind === 'refund')).toHaveLength(2)
    const { rows } = await database().query(
      `select action from public.audit where target_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ action: 'invoice.refund' }, { action: 'invoice.refund' }])
  })

  test('fifty full refunds at once are one; of three times 4.000 of 10.000 two', async () => {
    const { admin, person } = await world()
    await give(person, 20)
    const headers: [string, string][] = [['authorization', `Bearer ${admin.accessToken}`]]
    const shot = (id: string, body: object): RawRequest => ({
      path: `/admin/invoices/${id}/refund`,
      body: { to: 'wallet', reason: 'مكرر', ...body },
      headers,
    })
    const [one, two] = await race(
      await Promise.all([planFor(10), planFor(10)]).then((ids) =>
        ids.map((id) => subscribe(person, id))
      ),
    )
    const full = await race(Array.from({ length: 50 }, () => shot(one!.body.invoice.id, {})))
    expect(full.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status } of full) expect([200, 409]).toContain(status)
    const parts = await race(
      Array.from({ length: 3 }, () => shot(two!.body.invoice.id, { amount: 4 })),
    )
    expect(parts.map(({ status }) => status).sort()).toEqual([200, 200, 422])
    expect(await walletOf(person)).toMatchObject({ available: 18 })
    await expectEven([person])
  })

  test('a top-up goes back to its source, and not to the wallet where it is', async () => {
    const { admin, person } = await world()
    const invoice = await topUp(person, 10)
    expect((await refund(admin, invoice.id, { to: 'wallet' })).status).toBe(422)
    const given = await refund(admin, invoice.id, { to: 'source', amount: 4 })
    expect(given.body).toMatchObject({
      refund: { state: 'settled', to: 'source' },
      invoice: { state: 'partially_refunded', refunded: 4 },
    })
    expect(await walletOf(person)).toEqual({ available: 6, held: 0, currency: 'KWD' })
    // What is spent cannot go back.
    const [bought] = await race([subscribe(person, await planFor(5))])
    expect(bought!.status).toBe(201)
    expect(await refund(admin, invoice.id, { to: 'source' }))
      .toMatchObject({ status: 402, body: { error: { code: 'wallet_insufficient' } } })
    expect(await walletOf(person)).toEqual({ available: 1, held: 0, currency: 'KWD' })
    await expectEven([person])
  })

  test('what is not paid, or not there, is not refunded', async () => {
    const { admin, person } = await world()
    const invoice = await topUpInvoice(person)
    expect((await refund(admin, invoice.id, { to: 'source' })).status).toBe(409)
    expect((await refund(admin, randomUUID(), { to: 'wallet' })).status).toBe(404)
    for (const bad of [{ to: 'bank' }, { to: 'wallet', amount: 0 }, { to: 'wallet', amount: -1 }]) {
      expect((await refund(admin, invoice.id, bad)).status).toBe(422)
    }
    expect((await admin.post(`/admin/invoices/${invoice.id}/refund`, { to: 'wallet' })).status)
      .toBe(422)
  })

  test('an admin sees what providers told', async () => {
    const { admin, person } = await world()
    await topUp(person, 1)
    expect((await person.get('/admin/payments/events')).status).toBe(403)
    const { body } = await admin.get('/admin/payments/events?outcome=paid&limit=5')
    expect(body.items.length).toBeGreaterThan(0)
    for (const { outcome } of body.items) expect(outcome).toBe('paid')
    expect((await admin.get('/admin/payments/events?outcome=odd')).status).toBe(422)
  })
})

// One step of a life each: what it did, or the state that it was refused with.
const liveInSql = `
create temporary table life (key integer primary key, invoice_id uuid not null);
create function pg_temp.step(step jsonb) returns text language plpgsql as $$
declare
  made uuid;
  payment uuid;
begin
  case step ->> 'kind'
    when 'top up' then
      made := private.issue_invoice((step ->> 'who')::uuid, 'topup', now() + interval '1 day', 'شحن',
        'Top-up', (step ->> 'amount')::numeric);
      insert into public.payments
        (invoice_id, provider, mode, amount, return_url, state, provider_ref)
      values (made, 'sandbox', 'test', (step ->> 'amount')::numeric, '', 'open', made)
      returning id into payment;
      perform private.receive_payment('sandbox', payment || ' ' || event, 'payment', null, null,
        jsonb_build_object('ref', made, 'reference', payment, 'status', step ->> 'status',
          'amount', step ->> 'amount', 'currency', step ->> 'currency', 'mode', 'test',
          'paymentId', payment))
      from jsonb_array_elements_text(step -> 'events') as event;
    when 'buy' then
      select private.issue_plan_invoice((step ->> 'who')::uuid, plans, now() + interval '1 day')
      into made from public.plans where id = (step ->> 'plan')::uuid;
      perform private.pay_from_wallet(made);
    when 'refund' then
      insert into public.refunds (invoice_id, destination, amount, reason, admin_id)
      select invoices.id, 'wallet', (step ->> 'amount')::numeric, 'why', gen_random_uuid()
      from public.invoices join life on life.invoice_id = invoices.id
      where life.key = (step ->> 'of')::integer
        and (step ->> 'amount')::numeric <= private.refund_room(invoices)
      returning id into payment;
      if payment is null then
        return 'PT422';
      end if;
      perform private.book_refund(payment);
    when 'correct' then
      perform private.adjust_wallet(
        (step ->> 'who')::uuid, (step ->> 'amount')::numeric, gen_random_uuid());
  end case;
  if made is not null then
    insert into life values ((step ->> 'key')::integer, made);
  end if;
  return 'done';
exception
  when others then return sqlstate;
end
$$`

test('WAL-01 a random life of a ledger is as its model says', async () => {
  const people = await Promise.all(Array.from({ length: 20 }, () => signUp()))
  const prices = [1, 2.5, 4.125, 0.3]
  const plans = await Promise.all(prices.map(planFor))
  const seed = randomInt(2 ** 31)
  console.log(`seed ${seed}`)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return Math.floor(state / 0x7fffffff * below)
  }
  const fils = (amount: number) => Math.round(amount * 1000)
  const kwd = (amount: number) => (amount / 1000).toFixed(3)
  // The model: what everybody has, and what of each purchase can still be given back.
  const balance = people.map(() => 0)
  const bought: { who: number; key: number; left: number }[] = []
  type Step = Record<string, unknown> & { expected: string }

  const kinds: ((who: number, key: number) => Step)[] = [
    (who, key) => {
      const amount = 1000 + random(20_000)
      const status = random(8) ? 'paid' : 'failed'
      const currency = random(12) ? 'KWD' : 'USD'
      if (status === 'paid' && currency === 'KWD') balance[who]! += amount
      // Told once to three times: the same event, or another about the same.
      const events = Array.from({ length: 1 + random(3) }, () => random(2))
      return {
        kind: 'top up',
        key,
        amount: kwd(amount),
        status,
        currency,
        events,
        expected: 'done',
      }
    },
    (who, key) => {
      const at = random(plans.length)
      const price = fils(prices[at]!)
      if (balance[who]! < price) return { kind: 'buy', key, plan: plans[at], expected: 'PT402' }
      balance[who]! -= price
      bought.push({ who, key, left: price })
      return { kind: 'buy', key, plan: plans[at], expected: 'done' }
    },
    (who, key) => {
      const amount = 1 + random(3000)
      const one = bought[random(bought.length)]
      if (!one) return { kind: 'correct', key, who, amount: '0.001', expected: 'done', plus: 1 }
      const fits = amount <= one.left
      if (fits) {
        one.left -= amount
        balance[one.who]! += amount
      }
      return { kind: 'refund', of: one.key, amount: kwd(amount), expected: fits ? 'done' : 'PT422' }
    },
    (who) => {
      const amount = random(4000) - 2000 || 1
      const possible = balance[who]! + amount >= 0
      if (possible) balance[who]! += amount
      return { kind: 'correct', amount: kwd(amount), expected: possible ? 'done' : 'PT402' }
    },
  ]

  const client = await database().connect()
  const compare = async () => {
    const { rows } = await client.query(
      `select identity_id, balance, (
         select coalesce(sum(amount), 0) from public.wallet_entries where wallet_id = wallets.id
       ) as summed from public.wallets where identity_id = any ($1) and part = 'available'`,
      [people.map(({ identityId }) => identityId)],
    )
    for (const row of rows) {
      const who = people.findIndex(({ identityId }) => identityId === row.identity_id)
      expect(fils(Number(row.balance)), `balance of ${who}`).toBe(balance[who])
      expect(Number(row.summed)).toBe(Number(row.balance))
    }
  }
  try {
    await client.query(liveInSql)
    for (let key = 0; key < 10_000;) {
      const steps = Array.from({ length: 100 }, () => {
        const who = random(people.length)
        const step = kinds[random(kinds.length)]!(who, key++)
        if (step.plus) balance[who]! += 1
        return { ...step, who: people[who]!.identityId }
      })
      const { rows } = await client.query(
        `select pg_temp.step(step) as outcome
         from jsonb_array_elements($1) with ordinality as steps (step, place) order by place`,
        [JSON.stringify(steps)],
      )
      expect(rows.map(({ outcome }) => outcome)).toEqual(steps.map(({ expected }) => expected))
      await compare()
    }
  } finally {
    client.release(true)
  }
  await expectEven(people)
  for (const [who, person] of people.slice(0, 3).entries()) {
    expect(fils((await walletOf(person)).available)).toBe(balance[who])
  }
})

test('the catalogue of plans is what the tests of money stand on', async () => {
  const person = await signUp()
  expect(await findPlan(person, 'plus')).toMatchObject({ price: 5, activeListings: 10 })
  expect(await alarmsAbout('nothing')).toEqual([])
})
