import { randomInt, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { giveMoney, hasSandbox, topUp, topUpInvoice, walletOf } from '../support/money.ts'
import { bulk } from '../support/nightly.ts'
import { expectBalanced, planFor, subscribe } from './wallets.ts'
import { race } from '../support/races.ts'

describe('WAL-02 spending it twice', () => {
  test('of a hundred purchases with the whole balance one succeeds', async () => {
    const person = await signUp()
    await giveMoney(person.identityId, 10)
    // Each purchase is of a different plan, so that they compete only for the money.
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
    await expectBalanced([person])
    expect((await person.get('/invoices?limit=50')).body.items).toHaveLength(1)
  })

  test('two clicks on a plan buy it once', async () => {
    const person = await signUp()
    await giveMoney(person.identityId, 50)
    const plan = await planFor(5)
    const replies = await race(Array.from({ length: 20 }, () => subscribe(person, plan)))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1)
    for (const { status, body } of replies.filter(({ status }) => status !== 201)) {
      expect([status, body.error.code]).toEqual([409, 'already_subscribed'])
    }
    expect(await walletOf(person)).toMatchObject({ available: 45 })
  })

  test('two clicks on a plan by invoice give the same invoice', async () => {
    const person = await signUp()
    const plan = await planFor(5)
    const replies = await race(
      Array.from({ length: 20 }, () => subscribe(person, plan, 'invoice')),
    )
    expect(new Set(replies.map(({ body }) => body.invoice.id)).size).toBe(1)
    expect((await person.get('/invoices')).body.items).toHaveLength(1)
  })

  test.runIf(hasSandbox)('topping up and spending at once balance out', async () => {
    const person = await signUp()
    await giveMoney(person.identityId, 3)
    const plans = await Promise.all(Array.from({ length: 6 }, () => planFor(2)))
    const [spent] = await Promise.all([
      race(plans.map((id) => subscribe(person, id))),
      ...Array.from({ length: 4 }, () => topUp(person, 1)),
    ])
    const bought = spent!.filter(({ status }) => status === 201).length
    expect(await walletOf(person)).toMatchObject({ available: 7 - 2 * bought })
    await expectBalanced([person])
  })
})

// test/whole/truncate.alone.test.ts tests TRUNCATE.
describe('WAL-04 the ledger cannot be rewritten', () => {
  const roles = ['anon', 'authenticated', 'service_role', 'postgres']
  const attempts: [string, string][] = [
    ['change an entry', 'update public.wallet_entries set amount = amount * 2'],
    ['delete an entry', 'delete from public.wallet_entries'],
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
    ['delete a recorded event', 'delete from public.payment_events'],
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
      await giveMoney(person.identityId, 5)
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

  test('a constraint keeps balances from going below zero', async () => {
    const person = await signUp()
    await giveMoney(person.identityId, 1)
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
    const once = () => giveMoney(person.identityId, 5, decision)
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, once))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(5)
  })
})

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
      perform private.move_money(
        case when amount < 0 then own else other end, case when amount < 0 then other else own end,
        abs(amount), 'adjustment', 'adjustment', gen_random_uuid())
      from private.wallet_of((step ->> 'who')::uuid) as own,
        private.system_account('adjustments') as other,
        cast(step ->> 'amount' as numeric) as amount;
  end case;
  if made is not null then
    insert into life values ((step ->> 'key')::integer, made);
  end if;
  return 'done';
exception
  when others then return sqlstate;
end
$$`

test('WAL-01 a random history of a ledger matches its model', async () => {
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
  // The model keeps each balance, and for each purchase the amount that can still be refunded.
  const balance = people.map(() => 0)
  const bought: { who: number; key: number; left: number }[] = []
  type Step = Record<string, unknown> & { expected: string }

  const kinds: ((who: number, key: number) => Step)[] = [
    (who, key) => {
      const amount = 1000 + random(20_000)
      const status = random(8) ? 'paid' : 'failed'
      const currency = random(12) ? 'KWD' : 'USD'
      if (status === 'paid' && currency === 'KWD') balance[who]! += amount
      // One to three events report the payment: the same event again, or another one about the same charge.
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
      const at = who % plans.length // one plan per person, because changes are limited
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
    for (let key = 0; key < bulk(10_000, 800);) {
      const steps = Array.from({ length: 100 }, () => {
        const who = random(people.length)
        const step = kinds[random(kinds.length)]!(who, key++)
        if (step.plus) balance[who]! += 1
        return { ...step, who: people[who]!.identityId }
      })
      const { rows } = await client.query(
        `select pg_temp.step(step) as outcome
         from jsonb_array_elements($1) with ordinality as steps (step, ordinal) order by ordinal`,
        [JSON.stringify(steps)],
      )
      expect(rows.map(({ outcome }) => outcome)).toEqual(steps.map(({ expected }) => expected))
      await compare()
    }
  } finally {
    client.release(true)
  }
  await expectBalanced(people)
  for (const [who, person] of people.slice(0, 3).entries()) {
    expect(fils((await walletOf(person)).available)).toBe(balance[who])
  }
})
