import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { byTokenAlone, signUpAdmin } from '../support/admins.ts'
import { caller, database, newPhone, type Person, signUp } from '../support/client.ts'
import { topUp } from '../support/money.ts'
import { notificationsOf, waitForNotification } from '../support/notifications.ts'
import { refusal } from '../support/problems.ts'
import { defaultRates, enforceRates } from '../support/rates.ts'
import { buy, newPlan, personWithMoney, refund } from '../billing/purchases.ts'

const reason = 'إعلانات مخالفة'
const noProof = refusal(403, 'proof_required')
let lift: () => Promise<void>

beforeAll(async () => {
  lift = await enforceRates(variable('DATABASE_URL')!, {
    admin_deletions: 2,
    admin_identifiers: 2,
    admin_locks: 3,
    admin_refunds: 8,
  })
})
afterAll(() => lift())

async function proven(admin: Person) {
  const { body } = await byTokenAlone(admin).post('/auth/sudo', {
    currentPassword: admin.password,
  })
  return caller(admin.accessToken, { 'x-proof': body.proof })
}

const alarmsOf = async ({ id }: Person): Promise<string[]> => {
  const { rows } = await database().query(
    `select subject_id from private.alarms
     where kind = 'admin_ceiling' and starts_with(subject_id, $1) order by id`,
    [id],
  )
  // The subject of an alarm consists of the admin's id, the rule, the level and the audit entry's id.
  return rows.map(({ subject_id }) => subject_id.split(' ').slice(1, 3).join(' '))
}
const age = async ({ id }: Person, hours: number) => {
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('alter table public.audit disable trigger audit_is_only_added_to')
    await client.query(
      'update public.audit set at = at - make_interval(hours => $2) where actor_id = $1',
      [id, hours],
    )
    await client.query('alter table public.audit enable trigger audit_is_only_added_to')
    await client.query('commit')
  } finally {
    client.release()
  }
}

test('the figures are those of the contract', () => {
  expect(defaultRates(/^admin_/)).toEqual({
    admin_deletions: 20,
    admin_identifiers: 20,
    admin_locks: 50,
    admin_refunds: 500,
  })
})

describe('ADM-16 past a ceiling each further so many need a new proof', () => {
  test('suspensions and bans: a token alone ends there, and lifting does not count', async () => {
    const [admin, other] = [await signUpAdmin(), await signUpAdmin('مشرف آخر')]
    const token = byTokenAlone(admin)
    const people = await Promise.all(Array.from({ length: 8 }, () => signUp()))
    const set = (by: Pick<Person, 'patch'>, nth: number, status = 'suspended') =>
      by.patch(`/admin/users/${people[nth]!.id}/status`, { status, reason })
    const done = { status: 200 }
    expect(await set(token, 0)).toMatchObject(done)
    for (let i = 0; i < 4; i++) expect(await set(token, 0, 'active')).toMatchObject(done)
    expect(await set(token, 1)).toMatchObject(done)
    expect(await alarmsOf(admin)).toEqual([])
    const early = await proven(admin)
    expect(await set(early, 2, 'banned')).toMatchObject(done)
    expect(await alarmsOf(admin)).toEqual(['admin_locks 1'])
    // Neither the token alone nor the earlier proof (x-proof) is enough now. Lifting a
    // suspension is not limited.
    expect(await set(token, 3)).toMatchObject(noProof)
    expect(await set(early, 3)).toMatchObject(noProof)
    expect(await set(early, 3, 'banned')).toMatchObject(noProof)
    expect(await set(token, 0, 'active')).toMatchObject(done)
    const later = await proven(admin)
    for (const nth of [3, 4, 5]) expect(await set(later, nth)).toMatchObject(done)
    expect(await alarmsOf(admin)).toEqual(['admin_locks 1', 'admin_locks 2'])
    expect(await set(later, 6)).toMatchObject(noProof)
    expect(await set(await proven(admin), 6)).toMatchObject(done)
    expect(await waitForNotification(other, 'admin_event')).toMatchObject({
      titleEn: 'One administrator has done much',
    })
    expect(await set(byTokenAlone(other), 7)).toMatchObject(done)
    await age(admin, 25)
    expect(await set(token, 7)).toMatchObject(done)
    // After a day the count starts again, and reaching the same limit raises another alarm.
    await expect.poll(async () => (await notificationsOf(other, 'admin_event')).length).toBe(2)
    expect(await set(token, 0)).toMatchObject(done)
    expect(await alarmsOf(admin)).toEqual(['admin_locks 1', 'admin_locks 2'])
    expect(await set(token, 1, 'active')).toMatchObject(done)
    expect(await set(token, 1)).toMatchObject(done)
    expect(await alarmsOf(admin)).toEqual(['admin_locks 1', 'admin_locks 2', 'admin_locks 1'])
    await expect.poll(async () => (await notificationsOf(other, 'admin_event')).length).toBe(3)
  })

  test('deletions and identifiers', async () => {
    const admin = await signUpAdmin()
    const people = await Promise.all(Array.from({ length: 4 }, () => signUp()))
    const first = await proven(admin)
    const remove = (by: Pick<Person, 'delete'>, nth: number) =>
      by.delete(`/admin/users/${people[nth]!.id}`, { reason })
    const identify = (by: Pick<Person, 'patch'>, nth: number) =>
      by.patch(`/admin/users/${people[nth]!.id}/identifier`, { phone: newPhone(), reason })
    for (const nth of [0, 1]) {
      expect(await identify(first, nth)).toMatchObject({ status: 200 })
      expect(await remove(first, nth)).toMatchObject({ status: 204 })
      expect(await remove(first, nth)).toMatchObject({ status: 204 })
    }
    expect(await identify(first, 2)).toMatchObject(noProof)
    expect(await remove(first, 2)).toMatchObject(noProof)
    expect((await alarmsOf(admin)).toSorted())
      .toEqual(['admin_deletions 1', 'admin_identifiers 1'])
    const second = await proven(admin)
    expect(await identify(second, 2)).toMatchObject({ status: 200 })
    expect(await remove(second, 2)).toMatchObject({ status: 204 })
  })

  test('refunds count in dinars, to a wallet as well', async () => {
    const admin = await signUpAdmin()
    const token = byTokenAlone(admin)
    const [person, plan] = [await personWithMoney(), await newPlan()]
    const invoice = await buy(person, plan)
    const back = (by: Pick<Person, 'post'>, amount: number) =>
      refund(by as Person, invoice, { amount })
    expect(await back(token, 4)).toMatchObject({ status: 200 })
    expect(await back(token, 3.5)).toMatchObject({ status: 200 })
    expect(await back(token, 0.501)).toMatchObject(noProof)
    expect(await alarmsOf(admin)).toEqual([])
    expect(await back(token, 0.5)).toMatchObject({ status: 200 })
    expect(await alarmsOf(admin)).toEqual(['admin_refunds 1'])
    const paid = await topUp(await signUp(), 12)
    const source = (by: Pick<Person, 'post'>, amount: number) =>
      refund(by as Person, paid, { to: 'source', amount })
    expect(await source(token, 1)).toMatchObject(noProof)
    const later = await proven(admin)
    expect(await source(later, 1)).toMatchObject({ status: 200 })
    expect(await source(later, 10)).toMatchObject({ status: 403 })
    expect(await source(later, 7)).toMatchObject({ status: 200 })
  })

  test('of two at once the second counts the first', async () => {
    const admin = await signUpAdmin()
    const people = await Promise.all(Array.from({ length: 8 }, () => signUp()))
    const token = byTokenAlone(admin)
    const answers = await Promise.all(
      people.map(({ id }) =>
        token.patch(`/admin/users/${id}/status`, { status: 'suspended', reason })
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(5)
  })
})
