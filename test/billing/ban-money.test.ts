import { beforeAll, describe, expect, test } from 'vitest'
import { statusOf } from '../admin/requests.ts'
import { act } from '../admin/studio.ts'
import { byTokenAlone, signUpAdmin } from '../support/admins.ts'
import { baseUrl, database, type Person, signIn, signUp } from '../support/client.ts'
import { runJobsOf } from '../support/jobs.ts'
import { giveMoney, hasSandbox, topUp, walletOf } from '../support/money.ts'
import { refusal, unknownId } from '../support/problems.ts'
import { expectBalanced } from './wallets.ts'

const reason = 'احتيال'
let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const query = (sql: string, values: unknown[] = []) => database().query(sql, values)

const openPayout = (by: { post: Person['post'] }, person: Person) =>
  by.post(`/admin/users/${person.id}/payout`, { reason })

const set = async (person: Person, status: string) =>
  expect((await statusOf(admin, person.id, { status })).status).toBe(200)

const payoutsOf = async (
  person: Person,
): Promise<{ id: string; state: string; amount: number }[]> =>
  (await query(
    `select id, state, amount::float from public.wallet_payouts
     where account_id = $1 order by amount desc`,
    [person.id],
  )).rows

const statesOf = async (person: Person) =>
  (await payoutsOf(person)).map(({ state, amount }) => [amount, state])

const reject = (id: string) => query('select private.reject_refund($1)', [id])

const walletNow = async (person: Person) => {
  const { available } = await walletOf(await signIn(person.identifier, person.password))
  return available
}

describe.runIf(hasSandbox)('WAL-13 money of a banned account', () => {
  test('of an administrator, or of nobody, is not paid out', async () => {
    const other = await signUpAdmin()
    expect(await openPayout(admin, other)).toMatchObject(refusal(409, 'admin_target'))
    expect(await openPayout(admin, admin)).toMatchObject(refusal(409, 'admin_self'))
    expect(await openPayout(admin, { ...other, id: unknownId }))
      .toMatchObject(refusal(404, 'user_not_found'))
  })

  test('goes back to its payments, and the rest waits for 120 days after the newest', async () => {
    const person = await signUp()
    await topUp(person, 10)
    await topUp(person, 5)
    await giveMoney(person.identityId, 4.25)
    expect(await openPayout(admin, person)).toMatchObject(refusal(409, 'status_transition_invalid'))
    await set(person, 'banned')
    expect(await openPayout(byTokenAlone(admin), person))
      .toMatchObject(refusal(403, 'proof_required'))

    const { status, body } = await openPayout(admin, person)
    expect(status).toBe(200)
    const shown = body.items.map((
      { amount, state }: { amount: number; state: string },
    ) => [amount, state])
    expect(shown.toSorted()).toEqual([[10, 'at_provider'], [4.25, 'open'], [5, 'at_provider']])
    for (const { notBefore } of body.items) {
      expect(Math.round((Date.parse(notBefore) - Date.now()) / 86_400_000)).toBe(120)
    }
    expect((await openPayout(admin, person)).body.items).toHaveLength(3)

    const { id } = (await payoutsOf(person)).find(({ state }) => state === 'open')!
    const decide = () =>
      admin.post(`/admin/moderation/${id}/decide`, { decision: 'paid_out', note: 'NBK 2026-118' })
    expect(await decide()).toMatchObject(refusal(409, 'status_transition_invalid'))
    await runJobsOf({ url: baseUrl }, () =>
      query(
        `update public.refunds set created_at = now() - interval '1 hour', looked_up_at = null
         where state = 'requested' and id in (
           select id from public.wallet_payouts where account_id = $1)`,
        [person.id],
      ))
    expect(await statesOf(person)).toEqual([[10, 'refunded'], [5, 'refunded'], [4.25, 'open']])
    await query(
      `update public.wallet_payouts set not_before = now() - interval '1 second' where id = $1`,
      [id],
    )
    expect((await decide()).status).toBe(200)
    expect(await statesOf(person)).toEqual([[10, 'refunded'], [5, 'refunded'], [4.25, 'paid_out']])
    await set(person, 'active')
    expect(await walletNow(person)).toBe(0)
    await expectBalanced([person])
  })

  test('that was not paid returns when the ban is lifted, whenever its provider says no', async () => {
    const person = await signUp()
    await topUp(person, 10)
    await topUp(person, 5)
    await giveMoney(person.identityId, 1)
    await set(person, 'banned')
    await openPayout(admin, person)
    const [ten, five] = await payoutsOf(person)
    await reject(five!.id)
    expect(await statesOf(person)).toEqual([[10, 'at_provider'], [5, 'open'], [1, 'open']])
    await set(person, 'active')
    expect(await statesOf(person)).toEqual([[10, 'at_provider'], [5, 'returned'], [1, 'returned']])
    expect(await walletNow(person)).toBe(6)
    await reject(ten!.id)
    expect(await walletNow(person)).toBe(16)
    await set(person, 'banned')
    expect((await openPayout(admin, person)).body.items).toHaveLength(3)
    await expectBalanced([person])
  })

  test('is paid out by a row of admin_acts, too', async () => {
    const person = await signUp()
    await topUp(person, 10)
    await giveMoney(person.identityId, 2)
    await set(person, 'banned')
    const { result } = await act({ act: 'open_payout', target: person.id, reason })
    expect(result).toBe(
      '10.000 KWD go back to the payments that they came by, 2.000 KWD wait in admin_payouts.',
    )
    expect(await statesOf(person)).toEqual([[10, 'at_provider'], [2, 'open']])
  })
})
