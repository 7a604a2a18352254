import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { runJobs } from '../support/jobs.ts'
import { waitedFor } from '../support/races.ts'
import { waitUntil } from '../support/wait.ts'

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

/** Creates a charge of ten dinars whose outcome the provider has not reported yet. */
async function charged(person: Person) {
  const ref = `chg_${randomUUID()}`
  const { rows: [{ invoice }] } = await query(
    `select private.issue_invoice($1, 'topup', now() + interval '1 day', 'شحن', 'Top-up', 10)
     as invoice`,
    [person.identityId],
  )
  await query(`update public.invoices set state = 'processing' where id = $1`, [
    invoice,
  ])
  const { rows: [{ id }] } = await query(
    `insert into public.payments (invoice_id, provider, mode, amount, return_url, state, provider_ref)
     values ($1, 'tap', 'test', 10, 'https://app.example/', 'superseded', $2) returning id`,
    [invoice, ref],
  )
  return { id, ref }
}

async function capture({ id, ref }: { id: string; ref: string }) {
  const { rows } = await query(
    `select private.settle_payment($1, jsonb_build_object('ref', $2::text, 'paymentId', $2::text))
     as outcome`,
    [id, ref],
  )
  return rows[0].outcome
}

const payoutsOf = async ({ id }: Person) =>
  (await query(
    `select wallet_payouts.id, wallet_payouts.state, wallet_payouts.amount::float,
       payments.provider_ref as charge
     from public.wallet_payouts
     left join public.refunds on refunds.id = wallet_payouts.id
     left join public.payments on payments.id = refunds.payment_id
     where account_id = $1 order by wallet_payouts.id`,
    [id],
  )).rows

/** Creates a deleted account with two payments that the provider refused to refund. */
async function owed() {
  const person = await signUp()
  for (let i = 0; i < 2; i++) await capture(await charged(person))
  await person.post('/auth/me/delete', {
    password: person.password,
    money: 'refund',
  })
  await query(
    `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
    [person.id],
  )
  await waitUntil('the deletion', async () => {
    await runJobs()
    return (await payoutsOf(person)).length === 2
  })
  for (const { id } of await payoutsOf(person)) {
    await query(`select private.refund_answered($1, null, 'failed')`, [id])
  }
  return person
}

async function paidBack(charge: string) {
  const answer = {
    provider: 'tap',
    chargeRef: charge,
    refundRef: `re_${randomUUID()}`,
    status: 'refunded',
    amount: '4.000',
    currency: 'KWD',
    reference: null,
  }
  const { rows } = await query('select private.apply_refund_answer($1) as outcome', [answer])
  return rows[0].outcome
}

test('PAY-20 what a portal pays back of two payments at once waits in no circle', async () => {
  const person = await owed()
  const payouts = await payoutsOf(person)
  expect(payouts).toMatchObject([{ state: 'open' }, { state: 'open' }])
  const holder = await database().connect()
  const reports: Promise<unknown>[] = []
  try {
    await holder.query('begin')
    await holder.query('select from public.wallet_payouts where id = $1 for no key update', [
      payouts[0].id,
    ])
    // Both reports lock all payouts of the account in the same order, so both wait for the holder.
    for (const { charge } of payouts) {
      reports.push(paidBack(charge))
      await waitedFor(holder, reports.length)
    }
  } finally {
    await holder.query('commit')
    holder.release()
  }
  expect(await Promise.all(reports)).toEqual(['refunded', 'refunded'])
  const left = (await payoutsOf(person)).map(({ state, amount }) => `${state} ${amount}`)
  expect(left.toSorted()).toEqual([
    'open 6',
    'open 6',
    'refunded 4',
    'refunded 4',
  ])
})

test('PAY-20 a late payment, of which a part went back before it was known, waits in no circle with a portal', async () => {
  const person = await owed()
  const [payout] = await payoutsOf(person)
  const late = await charged(person)
  expect(await paidBack(late.ref)).toBe('unmatched')
  const holder = await database().connect()
  const reports: Promise<unknown>[] = []
  try {
    await holder.query('begin')
    await holder.query(
      `select from public.wallets where identity_id = $1 and part = 'available' for no key update`,
      [person.identityId],
    )
    for (const report of [() => capture(late), () => paidBack(payout.charge)]) {
      reports.push(report())
      await waitedFor(holder, reports.length)
    }
  } finally {
    await holder.query('commit')
    holder.release()
  }
  expect(await Promise.all(reports)).toEqual(['paid', 'refunded'])
})
