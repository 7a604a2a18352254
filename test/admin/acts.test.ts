// An act that is performed by inserting a row into admin_acts has the same effects and audit trail as the
// route, except that the trail names the row instead of a signed-in admin.
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { insertListing, insertWaitingCompany } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { walletOf } from '../support/money.ts'
import { notificationsOf } from '../support/notifications.ts'
import { buy, currentPlan, newPlan, personWithMoney, refund } from '../billing/purchases.ts'
import { act, decide, leaveChanges, whoActs, why } from './studio.ts'

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

// Fields that differ between any two records of the same kind.
const own =
  /^(id|refNo|number|createdAt|publishedAt|confirmedAt|expiresAt|updatedAt|email|identityId|accountId|licenceNo|slug|slugUrl|lastSignInAt|settledAt|paidAt|entityId|year|serial|dueAt|issuedAt|propertyId|invoiceId|version|receipt.*|data)$/

// deno-lint-ignore no-explicit-any
function shape(value: any): any {
  if (Array.isArray(value)) return value.map(shape)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !own.test(name)).map(([name, one]) => [
      name,
      shape(one),
    ]),
  )
}

async function trailOf(id: string) {
  return (await auditOf(admin, id)).map(({ action, targetType, reason, before, after }) => {
    const { act: _act, licenceNo: _licenceNo, ...rest } = after ?? {}
    return { action, targetType, reason, before, after: rest }
  })
}

async function expectRecorded(id: string, row: { id: string }) {
  expect((await auditOf(admin, id))[0]).toMatchObject({
    actor: null,
    said: { id: (await whoActs()).id, fullName: 'مشرف الاستوديو' },
    actorRole: 'postgres',
    after: { act: row.id },
  })
}

const kindsOf = async (person: Person) =>
  (await notificationsOf(person)).map(({ kind, bodyAr }) => [kind, bodyAr])

describe('of an account', () => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  test.each([
    ['suspend_account', { status: 'suspended', until }],
    ['suspend_account', { status: 'suspended' }],
    ['ban_account', { status: 'banned' }],
    ['activate_account', { status: 'active' }],
  ])('%s is PATCH /admin/users/:id/status %j', async (name, { status, until }: {
    status: string
    until?: string
  }) => {
    const [byRoute, byRow] = await Promise.all([signUp(), signUp()])
    if (status === 'active') {
      for (const { id } of [byRoute, byRow]) {
        await admin.patch(`/admin/users/${id}/status`, { status: 'banned', reason: why })
      }
    }
    const sent = { reason: why, ...(until && { until }) }
    await admin.patch(`/admin/users/${byRoute.id}/status`, { status, ...sent })
    const row = await act({ act: name, target: byRow.identifier.toUpperCase(), ...sent })
    expect(row).toMatchObject({
      act: name,
      target: byRow.id,
      state: 'done',
      account_id: byRow.id,
      done_at: expect.any(Date),
      result: expect.stringMatching(`^The account is ${status}`),
    })
    const seen = async ({ id }: Person) => (await admin.get(`/admin/users/${id}`)).body
    const [one, other] = [await seen(byRoute), await seen(byRow)]
    expect(shape(other.user)).toEqual(shape(one.user))
    expect(other).toMatchObject({ user: { status }, sessions: 0 })
    expect(await trailOf(byRow.id)).toEqual(await trailOf(byRoute.id))
    await expectRecorded(byRow.id, row)
    const [first, second] = await Promise.all(
      [byRoute, byRow].map(({ identifier, password }) =>
        guest.post('/auth/login', { identifier, password })
      ),
    )
    expect([second.status, second.body.error?.code]).toEqual([first.status, first.body.error?.code])
  })

  test('delete_account is DELETE /admin/users/:id, and says that it cannot be undone', async () => {
    const [byRoute, byRow] = await Promise.all([signUp(), signUp()])
    await admin.delete(`/admin/users/${byRoute.id}`, { reason: why })
    const earlier = await act({
      act: 'ban_account',
      target: byRow.id,
      reason: why,
      note: 'هاتفه 50000000',
    })
    expect(earlier.note).toBe('هاتفه 50000000')
    const row = await act({ act: 'delete_account', target: byRow.id, reason: why })
    expect(row).toMatchObject({
      state: 'done',
      result: expect.stringContaining('cannot be undone'),
    })
    const deleted = async ({ id }: Person) => (await admin.get(`/admin/users/${id}`)).body.user
    expect(shape(await deleted(byRow))).toEqual(shape(await deleted(byRoute)))
    expect((await trailOf(byRow.id))[0]).toEqual({
      ...(await trailOf(byRoute.id))[0],
      before: { status: 'banned' },
    })
    await expectRecorded(byRow.id, row)
    expect(await countSessions(byRow.id)).toBe(0)
    const { rows } = await database().query(
      'select act, note, reason from public.admin_acts where account_id = $1 order by created_at',
      [byRow.id],
    )
    expect(rows).toEqual([
      { act: 'ban_account', note: null, reason: why },
      { act: 'delete_account', note: null, reason: why },
    ])
    await expect(act({ act: 'activate_account', target: byRow.id, reason: why })).rejects
      .toThrow('does not come back')
  })
})

describe('of a listing', () => {
  const waiting = (seller: Person) =>
    insertListing(seller.identityId, {
      status: 'pending_review',
      published_at: null,
      expires_at: null,
    })
  const published = async (seller: Person) => (await publishListing(seller)).id
  const changed = async (seller: Person) => {
    const id = await published(seller)
    await leaveChanges(id)
    return id
  }
  const suspended = async (seller: Person) => {
    const id = await published(seller)
    await decide(admin, id, 'suspend')
    return id
  }

  test.each([
    ['approve', waiting],
    ['reject', waiting],
    ['approve_changes', changed],
    ['reject_changes', changed],
    ['suspend', published],
    ['restore', suspended],
  ])('%s is the decision of POST /admin/moderation/:id/decide', async (name, make) => {
    const [one, two] = await Promise.all([signUp(), signUp()])
    const [byRoute, byRow] = [await make(one), await make(two)]
    expect((await decide(admin, byRoute, name.split('_')[0]!)).status).toBe(200)
    const { rows: [{ version, ref_no }] } = await database().query(
      'select version, ref_no from public.admin_properties where id = $1',
      [byRow],
    )
    const row = await act({
      act: name,
      target: ref_no,
      reason: why,
      ...(name.startsWith('approve') && { version }),
    })
    expect(row).toMatchObject({ target: byRow, state: 'done', account_id: two.id })
    expect(row.result).toContain(ref_no)
    const [first, second] = [
      (await one.get(`/properties/${byRoute}`)).body,
      (await two.get(`/properties/${byRow}`)).body,
    ]
    expect(shape(second)).toEqual(shape(first))
    expect((await guest.get(`/properties/${byRow}`)).status)
      .toBe((await guest.get(`/properties/${byRoute}`)).status)
    expect(await kindsOf(two)).toEqual(await kindsOf(one))
    expect(await trailOf(byRow)).toEqual(await trailOf(byRoute))
    await expectRecorded(byRow, row)
  })

  test('what was changed since it was seen is not approved unseen', async () => {
    const seller = await signUp()
    const id = await waiting(seller)
    const { rows: [{ version }] } = await database().query(
      'select version from public.admin_listings_to_review where id = $1',
      [id],
    )
    await seller.patch(`/properties/${id}`, { price: 99_000 })
    await expect(act({ act: 'approve', target: id, version })).rejects.toThrow('look at it again')
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  })

  test('of listing and changes the act that fits is named', async () => {
    const seller = await signUp()
    const [waits, changes, neither] = [
      await waiting(seller),
      await changed(seller),
      await published(seller),
    ]
    const reject = (target: string, name = 'reject') => act({ act: name, target, reason: why })
    await expect(reject(waits, 'reject_changes')).rejects.toThrow('the act is reject.')
    await expect(reject(changes)).rejects.toThrow('the act is reject_changes.')
    await expect(reject(neither)).rejects.toThrow('Neither it, which is active, nor a change')
    await expect(act({ act: 'restore', target: neither })).rejects
      .toThrow('The listing is active: what can be done is suspend.')
  })
})

describe('of an identity', () => {
  const licenceOf = async (id: string) =>
    (await database().query(
      'select licence_no from public.organisations where identity_id = $1',
      [id],
    )).rows[0].licence_no

  test.each([
    [['verify_identity'], ['approve']],
    [['reject_identity'], ['reject']],
    [['verify_identity', 'suspend_identity'], ['approve', 'suspend']],
    [['verify_identity', 'suspend_identity', 'restore_identity'], [
      'approve',
      'suspend',
      'restore',
    ]],
  ])('%j by its licence is what the routes do', async (acts, decisions) => {
    const [one, two] = await Promise.all([signUp(), signUp()])
    const [byRoute, byRow] = [
      await insertWaitingCompany(one.id),
      await insertWaitingCompany(two.id),
    ]
    for (const decision of decisions) {
      expect((await decide(admin, byRoute, decision)).status).toBe(200)
    }
    let row
    for (const name of acts) {
      row = await act({ act: name, target: (await licenceOf(byRow)).toLowerCase(), reason: why })
    }
    expect(row).toMatchObject({ target: byRow, account_id: two.id })
    expect(shape((await two.get(`/auth/identities/${byRow}`)).body))
      .toEqual(shape((await one.get(`/auth/identities/${byRoute}`)).body))
    expect(await kindsOf(two)).toEqual(await kindsOf(one))
    expect(await trailOf(byRow)).toEqual(await trailOf(byRoute))
    await expectRecorded(byRow, row)
  })

  test('a licence that two claim is refused with both ids, and an id decides', async () => {
    const [one, two] = [
      await insertWaitingCompany((await signUp()).id),
      await insertWaitingCompany((await signUp()).id),
    ]
    const licence = await licenceOf(one)
    await database().query(
      'update public.organisations set licence_no = $2 where identity_id = $1',
      [two, licence],
    )
    const refused = act({ act: 'verify_identity', target: licence })
    await expect(refused).rejects.toThrow(one)
    await expect(refused).rejects.toThrow(two)
    await act({ act: 'verify_identity', target: one })
    await expect(act({ act: 'verify_identity', target: two })).rejects
      .toThrow('Another company or office holds this licence')
  })
})

test('uphold and dismiss answer all reports of the same, as the route does', async () => {
  const [seller, one, two] = await Promise.all([signUp(), signUp(), signUp()])
  // The second listing is of another kind; otherwise it would count as a repeat of the suspended one.
  const more = { kind: 'chalet' }
  const listings = [(await publishListing(seller)).id, (await publishListing(seller, more)).id]
  const report = async (by: Person, targetId: string): Promise<string> =>
    (await by.post('/reports', { targetType: 'property', targetId, reason: 'fraud' })).body.id
  const ids = [await report(one, listings[0]!), await report(two, listings[0]!)]
  const row = await act({ act: 'uphold', target: ids[0], reason: why })
  expect(row).toMatchObject({ account_id: seller.id, result: expect.stringContaining('upheld') })
  expect((await seller.get(`/properties/${listings[0]}`)).body)
    .toMatchObject({ status: 'suspended', statusReason: why })
  await expectRecorded(ids[0]!, row)
  await expectRecorded(listings[0]!, row)
  await expect(act({ act: 'dismiss', target: ids[1] })).rejects.toThrow('The report is upheld')
  const other = await report(one, listings[1]!)
  await act({ act: 'dismiss', target: other })
  expect((await guest.get(`/properties/${listings[1]}`)).status).toBe(200)
})

test('refund to the wallet is POST /admin/invoices/:id/refund', async () => {
  const [one, two, plan] = await Promise.all([personWithMoney(), personWithMoney(), newPlan()])
  const [byRoute, byRow] = [await buy(one, plan), await buy(two, plan)]
  for (const amount of [4, undefined]) {
    expect((await refund(admin, byRoute, { ...(amount && { amount }), reason: why })).status)
      .toBe(200)
    const row = await act({
      act: 'refund',
      target: ` ${byRow.number.toLowerCase()} `,
      to: 'Wallet',
      reason: why,
      ...(amount && { amount }),
    })
    expect(row).toMatchObject({ target: byRow.id, state: 'done', account_id: two.id })
    expect(row.result).toBe(`${amount ?? 6}.000 KWD to the wallet. This cannot be undone.`)
    await expectRecorded(byRow.id, row)
  }
  const seen = async (person: Person, id: string) => [
    shape((await person.get(`/invoices/${id}`)).body),
    await walletOf(person),
    (await currentPlan(person))[1],
    (await kindsOf(person)).map(([kind]) => kind),
  ]
  expect(await seen(two, byRow.id)).toEqual(await seen(one, byRoute.id))
  expect(await trailOf(byRow.id)).toEqual(await trailOf(byRoute.id))
})

test('somebody who was let in again signs in as before', async () => {
  const person = await signUp()
  await act({ act: 'ban_account', target: person.id, reason: why })
  await act({ act: 'activate_account', target: person.id, reason: why })
  expect((await signIn(person.identifier, person.password)).id).toBe(person.id)
  // The second ban is not refused as a double click, because there was another act between the two.
  await act({ act: 'ban_account', target: person.id, reason: why })
  expect((await person.get('/auth/me')).body.error.code).toBe('account_banned')
})

test('every act has a row that says what it needs, and each is tried here', async () => {
  const { rows } = await database().query(
    'select act, needs, undone_by, required, optional from public.admin_act_kinds order by act',
  )
  expect(rows.map((kind) => kind.act)).toEqual([
    'activate_account',
    'approve',
    'approve_changes',
    'ban_account',
    'delete_account',
    'dismiss',
    'dismiss_duplicate', // duplicates.test.ts
    'hide_message', // test/chat/hidden-messages.test.ts
    'open_payout', // test/billing/ban-money.test.ts
    'pay_out', // test/privacy/deletion-money.test.ts
    'refund',
    'reject',
    'reject_changes',
    'reject_identity',
    'remove_passkeys', // passkeys.test.ts
    'restore',
    'restore_identity',
    'restore_message',
    'set_identifier', // identifier.test.ts
    'suspend',
    'suspend_account',
    'suspend_duplicate', // duplicates.test.ts
    'suspend_identity',
    'uphold',
    'verify_identity',
    'write_off', // test/privacy/deletion-money.test.ts
  ])
  const { rows: columns } = await database().query(
    `select attname as name from pg_attribute
     where attrelid = 'public.admin_acts'::regclass and attnum > 0`,
  )
  const names = columns.map(({ name }) => name)
  for (const kind of rows) {
    expect(names, kind.act).toEqual(expect.arrayContaining([...kind.required, ...kind.optional]))
    await expect(act({ act: kind.act })).rejects.toThrow(`${kind.act} needs ${kind.needs}.`)
    for (const name of kind.undone_by.match(/\b(restore|suspend|ban|activate|hide)_\w+/g) ?? []) {
      expect(rows.map((one) => one.act), kind.act).toContain(name)
    }
  }
})
