// When an email is verified for the first time, earlier listings are paused until the owner confirms them,
// and items that wait for review are removed from the queue.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { ageCodes, requestResetCode, signUpByPhone } from '../support/codes.ts'
import { insertListing, insertWaitingCompany } from '../support/fixtures.ts'
import { notificationsOf } from '../support/notifications.ts'
import { issuerUrl } from '../support/social-issuer.ts'
import { reset } from './password-requests.ts'
import { personFrom, signInAs } from './social-sign-in.ts'

const isKnownAnywhere = async ({ id }: Person) => {
  const { rowCount } = await database().query(
    'select from private.known_addresses where account_id = $1',
    [id],
  )
  return rowCount! > 0
}

const stateOf = async (person: Person, id: string) => {
  const { body: { status, pauseReason } } = await person.get(`/properties/${id}`)
  return [status, pauseReason]
}

async function proveByReset({ identifier }: Person): Promise<Person> {
  const password = randomUUID()
  expect(await reset(identifier, await requestResetCode(identifier), password))
    .toMatchObject({ status: 204 })
  return { ...await signIn(identifier, password), password }
}

const proveByGoogle = async ({ identifier }: Person) =>
  personFrom(await signInAs('google', { email: identifier }))

const ways = [
  ['a reset', proveByReset],
  ...(issuerUrl ? [['Google', proveByGoogle] as const] : []),
] as const

describe.each(ways)('an email that is proven for the first time by %s', (_way, prove) => {
  test('what was suspended meanwhile is not shown again by its restoration', async () => {
    const before = await signUp()
    const [shown, waiting] = [
      await insertListing(before.identityId),
      await insertListing(before.identityId, { status: 'pending_review' }),
    ]
    const set = (status: string) =>
      database().query(
        `update public.properties set status = coalesce($2, suspended_from) where id = any ($1)`,
        [[shown, waiting], status || null],
      )
    await set('suspended')
    const owner = await prove(before)
    await set('')
    expect(await stateOf(owner, shown)).toEqual(['paused', null])
    expect(await stateOf(owner, waiting)).toEqual(['draft', null])
  })

  test('pauses listings, empties the queue, and lists both in one notification', async () => {
    const before = await signUp()
    const active = await insertListing(before.identityId)
    const waiting = await insertListing(before.identityId, { status: 'pending_review' })
    const paused = await insertListing(before.identityId, { status: 'paused' })
    const company = await insertWaitingCompany(before.id)
    const { body: { refNo } } = await before.get(`/properties/${active}`)
    expect(await isKnownAnywhere(before)).toBe(true)

    const owner = await prove(before)
    expect(await stateOf(owner, active)).toEqual(['paused', 'unproven_past'])
    expect(await stateOf(owner, waiting)).toEqual(['draft', null])
    expect(await stateOf(owner, paused)).toEqual(['paused', null])
    expect(await guest.get(`/properties/${active}`)).toMatchObject({ status: 404 })
    const identity = async (person = owner) =>
      (await person.get('/auth/identities')).body.items.find(({ id }: { id: string }) =>
        id === company
      )
    expect(await identity()).toMatchObject({
      status: 'rejected',
      statusReason: expect.stringContaining('إثبات ملكية البريد'),
    })
    expect(await notificationsOf(owner, 'system')).toMatchObject([
      { bodyAr: expect.stringContaining(refNo) },
    ])

    expect(await owner.post(`/properties/${active}/resume`))
      .toMatchObject({ status: 200, body: { status: 'active', pauseReason: null } })
    expect(await owner.patch(`/auth/identities/${company}`, { aboutAr: 'نحن هنا' }))
      .toMatchObject({ status: 200, body: { status: 'pending_verification' } })

    // The email is already verified, so another reset pauses nothing.
    await ageCodes(before.identifier, 60)
    const again = await proveByReset(before)
    expect(await stateOf(again, active)).toEqual(['active', null])
    expect(await identity(again)).toMatchObject({ status: 'pending_verification' })
  })

  test('says nothing where nothing was published', async () => {
    const owner = await prove(await signUp())
    expect(await notificationsOf(owner, 'system')).toEqual([])
  })
})

test.runIf(issuerUrl)(
  'whose password a provider’s sign-in took away is told, whatever the settings say',
  async () => {
    const before = await signUp()
    const off = { push: true, inApp: false, sms: false, email: false }
    await before.patch('/settings', { notifications: { account: off } })
    const owner = await proveByGoogle(before)
    expect(await notificationsOf(owner, 'security_password')).toMatchObject([
      { titleEn: 'An unproven password was removed', bodyAr: expect.stringContaining('نسيت') },
    ])
    // The email is already verified, so the second sign-in removes no password and sends no notification.
    const again = await proveByGoogle(before)
    expect(await notificationsOf(again, 'security_password')).toHaveLength(1)
  },
)

test('a reset by SMS pauses nothing, and leaves no address known', async () => {
  const before = await signUpByPhone()
  const listing = await insertListing(before.identityId)
  expect(await isKnownAnywhere(before)).toBe(true)
  const password = randomUUID()
  await reset(before.identifier, await requestResetCode(before.identifier), password)
  expect(await isKnownAnywhere(before)).toBe(false)
  expect(await stateOf(await signIn(before.identifier, password), listing)).toEqual([
    'active',
    null,
  ])
})

test('others do not see why a listing is paused', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const listing = await insertListing(seller.identityId)
  await buyer.post(`/favorites/${listing}`)
  await proveByReset(seller)
  const { body: { items } } = await buyer.get('/favorites?fields=full')
  expect(JSON.stringify(items)).not.toContain('unproven_past')
})
