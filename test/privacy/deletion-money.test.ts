import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { act } from '../admin/studio.ts'
import { agePlans, buy, newPlan } from '../billing/purchases.ts'
import { signUpAdmin } from '../support/admins.ts'
import { baseUrl, database, newPhone, type Person, signIn, signUp } from '../support/client.ts'
import { givePhone, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { drain, runJobs, runJobsOf } from '../support/jobs.ts'
import {
  alarmsAbout,
  createCharge,
  giveMoney,
  hasSandbox,
  submitSandboxPage,
} from '../support/money.ts'
import { topUp, topUpInvoice, walletOf } from '../support/money.ts'
import { waitUntil } from '../support/wait.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const ask = (person: Person, money?: string) =>
  person.post('/auth/me/delete', { password: person.password, ...(money && { money }) })

const makeDue = ({ id }: Person) =>
  query(
    `update public.accounts set delete_at = now() - interval '1 second'
     where id = $1 and delete_at is not null`,
    [id],
  )

const stateOf = async ({ id }: Person) =>
  (await query('select status from public.accounts where id = $1', [id])).rows[0].status

async function deleted(person: Person) {
  await makeDue(person)
  await runJobs()
  // Jobs run by another test may be deleting the account at the same time.
  await waitUntil('the deletion', async () => await stateOf(person) === 'deleted')
}

type Payout = {
  id: string
  amount: string
  state: string
  name: string | null
  phone: string | null
  email: string | null
}

const payoutsOf = async ({ id }: Person): Promise<Payout[]> =>
  (await query(
    `select id, amount, state, name, phone, email from public.wallet_payouts
     where account_id = $1 order by state, amount desc`,
    [id],
  )).rows

const amountsOf = async (person: Person) =>
  (await payoutsOf(person)).map(({ state, amount }) => [state, Number(amount)])

async function whereMoneyIs({ id }: Person) {
  const { rows: [found] } = await query(
    `select
       (select coalesce(sum(balance), 0) from public.wallets
        where identity_id in (select id from public.identities where account_id = $1)) as wallets,
       (select coalesce(sum(entries.amount), 0)
        from public.wallet_entries as entries
        join public.wallet_transfers as transfers on transfers.id = entries.transfer_id
        where entries.wallet_id = private.system_account('payouts') and (
          transfers.source_id in (select id from public.wallet_payouts where account_id = $1)
          or transfers.id in (
            select transfer_id from public.wallet_entries
            join public.wallets on wallets.id = wallet_id
            join public.identities on identities.id = identity_id where account_id = $1
          ))) as payouts`,
    [id],
  )
  return { wallets: Number(found.wallets), payouts: Number(found.payouts) }
}

const askProvider = (person: Person) =>
  runJobsOf({ url: baseUrl }, () =>
    query(
      `update public.refunds set created_at = now() - interval '1 hour', looked_up_at = null
       where state = 'requested' and id in (
         select id from public.wallet_payouts where account_id = $1)`,
      [person.id],
    ))

const refused = (available: number) => ({
  status: 409,
  body: { error: { code: 'account_has_obligations', obligations: ['money'], available } },
})

const decide = (id: string, body: object) => admin.post(`/admin/moderation/${id}/decide`, body)

test('money in a wallet needs a word on what becomes of it, and 20.000 may be given up', async () => {
  const person = await signUp()
  await giveMoney(person.identityId, 20.001)
  expect(await ask(person)).toMatchObject(refused(20.001))
  expect(await ask(person, 'give_up')).toMatchObject(refused(20.001))
  expect(await ask(person, 'keep')).toMatchObject({ status: 422 })
  const company = await insertOrganisation(person.id)
  await giveMoney(person.identityId, -0.001)
  await giveMoney(company, 0.5)
  expect(await ask(person, 'give_up')).toMatchObject(refused(20.5))
  expect((await ask(person, 'refund')).status).toBe(202)
})

test('nothing moves before the 14 days are over: signing in gives everything back', async () => {
  const person = await signUp()
  await giveMoney(person.identityId, 17.5)
  await buy(person, await newPlan())
  await giveMoney(person.identityId, 10)
  expect((await ask(person, 'give_up')).status).toBe(202)
  await agePlans(person, 29) // not earlier, because any test's jobs would have renewed the plan
  await runJobs()
  expect(await payoutsOf(person)).toEqual([])
  const again = await signIn(person.identifier, person.password)
  expect(await walletOf(again)).toMatchObject({ available: 17.5, held: 0 })
  // The choice about the money made in the withdrawn request no longer counts.
  expect((await ask({ ...again, password: person.password })).status).toBe(409)
})

test.runIf(hasSandbox)(
  'it goes back to its payments, the newest first, and an admin pays out the rest',
  async () => {
    const person = await signUp('نورة الصالح')
    await proveEmail(person)
    const [older, newer] = [await topUp(person, 10), await topUp(person, 5)]
    await giveMoney(person.identityId, -3)
    expect((await ask(person, 'refund')).status).toBe(202)
    await giveMoney(person.identityId, 4.25)
    await deleted(person)
    await expect(signIn(person.identifier, person.password)).rejects.toThrow()

    // Of 16.250, 5 are refunded to the newer payment and 10 to the older; the rest came from no payment.
    expect(await amountsOf(person)).toEqual([['at_provider', 10], ['at_provider', 5], [
      'open',
      1.25,
    ]])
    expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 16.25 })
    await askProvider(person)
    await waitUntil(
      'both refunds',
      async () =>
        (await payoutsOf(person)).filter(({ state }) => state === 'refunded').length === 2,
    )
    const { rows: refunded } = await query(
      `select amount, state, (select count(*) from private.sandbox_refunds
       where reference = refunds.id::text) as requests
     from public.refunds where invoice_id = any ($1) order by amount`,
      [[older.id, newer.id]],
    )
    expect(refunded).toMatchObject([
      { amount: '5', state: 'settled', requests: '1' },
      { amount: '10', state: 'settled', requests: '1' },
    ])
    expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 1.25 })

    const [rest] = (await payoutsOf(person)).filter(({ state }) => state === 'open')
    const listed = await admin.get(`/admin/moderation?kind=wallet_payout&accountId=${person.id}`)
    expect(listed.body.items).toMatchObject([{
      id: rest!.id,
      kind: 'wallet_payout',
      decisions: ['paid_out', 'written_off'],
      payout: {
        accountId: person.id,
        amount: 1.25,
        name: 'نورة الصالح',
        phone: null,
        email: person.identifier,
      },
    }])
    expect(await decide(rest!.id, { decision: 'paid_out' })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'note' }] } },
    })
    expect((await decide(rest!.id, { decision: 'written_off' })).status).toBe(422)
    expect((await decide(rest!.id, { decision: 'approve' })).status).toBe(409)
    const replies = await Promise.all(
      Array.from(
        { length: 8 },
        () => decide(rest!.id, { decision: 'paid_out', note: 'NBK 2026-118' }),
      ),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)])
    expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 0 })
    for (const payout of await payoutsOf(person)) {
      expect([payout.name, payout.phone, payout.email]).toEqual([null, null, null])
    }
    const { body: { items: [entry] } } = await admin.get(`/admin/audit?targetId=${rest!.id}`)
    expect(entry).toMatchObject({ action: 'payout.paid_out', reason: 'NBK 2026-118' })
  },
)

test('what is given up stays here, and what is above 20.000 by then does not', async () => {
  const person = await signUp('بدر الهاجري')
  const phone = newPhone()
  await givePhone(person, phone)
  const company = await insertOrganisation(person.id)
  await giveMoney(person.identityId, 12)
  expect((await ask(person, 'give_up')).status).toBe(202)
  await giveMoney(company, 11)
  await deleted(person)
  const [{ id, ...rest }, ...more] = await payoutsOf(person) as [Payout]
  expect(more).toEqual([])
  expect(rest).toMatchObject({ amount: '3.000', state: 'open', name: 'بدر الهاجري' })
  expect(rest.phone).toContain(phone.slice(-8))
  expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 3 })
  const { rows: [{ forfeited }] } = await query(
    `select -sum(amount) as forfeited from public.wallet_entries
     join public.wallet_transfers on wallet_transfers.id = transfer_id
     join public.wallets on wallets.id = wallet_id
     join public.identities on identities.id = identity_id
     where wallet_transfers.kind = 'forfeit' and account_id = $1`,
    [person.id],
  )
  expect(Number(forfeited)).toBe(20)

  await expect(act({ act: 'pay_out', target: id })).rejects.toThrow('note is missing')
  await expect(act({ act: 'write_off', target: id })).rejects.toThrow('reason is missing')
  const { result } = await act({ act: 'write_off', target: id, reason: 'لم يرد' })
  expect(result).toBe('The money is written off. This cannot be undone.')
  expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 0 })
})

test.runIf(hasSandbox)(
  'a refund that the provider refuses waits for an admin, with whose it is',
  async () => {
    const person = await signUp('سالم العنزي')
    await proveEmail(person)
    await topUp(person, 6)
    await ask(person, 'refund')
    await deleted(person)
    const [payout] = await payoutsOf(person) as [Payout]
    expect(payout).toMatchObject({ state: 'at_provider', name: 'سالم العنزي' })
    await query(`select private.refund_answered($1, null, 'failed')`, [payout.id])
    expect(await alarmsAbout(payout.id)).toEqual(['refund_rejected'])
    expect(await payoutsOf(person)).toMatchObject([{ ...payout, state: 'open' }])
    expect(await whereMoneyIs(person)).toEqual({ wallets: 0, payouts: 6 })
    expect(await decide(payout.id, { decision: 'written_off', reason: 'لم يرد' }))
      .toMatchObject({ status: 200, body: { kind: 'wallet_payout', status: 'written_off' } })
  },
)

test.runIf(hasSandbox)(
  'a payment on its way comes first, and two of everything at once make one',
  async () => {
    const person = await signUp()
    const { id } = await topUp(person, 8)
    const refund = randomUUID()
    await query(`select private.make_refund(null, $1, $2, 1, 'source', 'why', null, true)`, [
      refund,
      id,
    ])
    expect(await ask(person, 'refund')).toMatchObject(refused(7))
    await query(`select private.refund_answered($1, null, 'failed')`, [refund])
    const { ref } = await createCharge(person, await topUpInvoice(person, 4))
    expect((await ask(person, 'refund')).status).toBe(409)
    await submitSandboxPage(ref, 'fail', 'once')
    const answers = await Promise.all([ask(person, 'refund'), ask(person, 'refund')])
    expect(answers.map(({ status }) => status)).toContain(202)
    await makeDue(person)
    const jobs = Array.from(
      { length: 4 },
      () => query('select private.delete_due_account($1) as gone', [person.id]),
    )
    // The failed charge is paid after all, while the jobs run.
    const [, ...done] = await Promise.all([submitSandboxPage(ref, 'pay', 'once'), ...jobs])
    expect(
      done.filter(({ rows }) => rows[0].gone).length,
    ).toBeLessThanOrEqual(1)
    await deleted(person)

    const owed = await payoutsOf(person)
    const { wallets, payouts } = await whereMoneyIs(person)
    expect(payouts).toBe(owed.reduce((sum, { amount }) => sum + Number(amount), 0))
    // The payment arrived before the account was closed, or else it is in the closed wallet, with an alarm.
    expect([[12, 0], [8, 4]]).toContainEqual([payouts, wallets])
    await Promise.all([askProvider(person), runJobs()])
    await waitUntil(
      'the refunds',
      async () => (await payoutsOf(person)).every(({ state }) => state === 'refunded'),
    )
    const { rows: [{ sent }] } = await query(
      `select count(*) as sent from private.sandbox_refunds where reference = any ($1)`,
      [owed.map(({ id }) => id)],
    )
    expect(Number(sent)).toBe(owed.length)
    expect(await whereMoneyIs(person)).toEqual({ wallets, payouts: 0 })
  },
)

test('whose it was is known for 180 days, and then it is still owed', async () => {
  const person = await signUp('هدى المطيري')
  await giveMoney(person.identityId, 2)
  await ask(person, 'refund')
  await deleted(person)
  const [{ id, name }] = await payoutsOf(person) as [Payout]
  expect(name).toBe('هدى المطيري')
  const age = (days: number) =>
    query(
      `update public.wallet_payouts set created_at = now() - make_interval(days => $2) where id = $1`,
      [id, days],
    )
  await age(179)
  await drain('forget_payouts')
  expect(await payoutsOf(person)).toMatchObject([{ name }])
  await age(181)
  await drain('forget_payouts')
  expect(await payoutsOf(person)).toMatchObject([{ state: 'open', name: null, email: null }])
  expect(await alarmsAbout(id)).toEqual(['payout_undecided'])
  expect((await decide(id, { decision: 'written_off', reason: 'لم يرد' })).status).toBe(200)
})
