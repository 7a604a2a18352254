// FAV-07: when a push about a listing is sent, the service checks again whether its text is still true.
import { expect } from 'vitest'
import { toggleFavorite } from '../../favorites/reads.ts'
import { database, type Person, signUp } from '../../support/client.ts'
import { testLocally } from '../../support/facade.ts'
import { insertListing } from '../../support/fixtures.ts'
import { drain } from '../../support/jobs.ts'
import { publishListing } from '../../support/listings.ts'
import { kuwaitTimeIn, notificationsOf, registerDevice } from '../../support/notifications.ts'
import { agePushes, fcm, sara, sendPushes, waitingPushes } from './process.ts'

type Change = (id: string, owner: Person) => Promise<unknown>

const done = ({ status, body }: { status: number; body: unknown }) =>
  expect(status, JSON.stringify(body)).toBeLessThan(300)
const post = (act: string): Change => async (id, owner) =>
  done(await owner.post(`/properties/${id}/${act}`))
const price = (to: number): Change => async (id, owner) =>
  done(await owner.patch(`/properties/${id}`, { price: to }))
const suspend: Change = (id) =>
  database().query(`update public.properties set status = 'suspended' where id = $1`, [id])
const suspendOwner: Change = (_id, { id }) =>
  database().query(`update public.accounts set status = 'suspended' where id = $1`, [id])
const nothing: Change = () => Promise.resolve()

/**
 * Runs `told` and then `changed` in quiet hours. Returns how many pushes of the kind are sent afterwards.
 */
async function pushedAfter(kind: string, told: () => Promise<unknown>, changed: () => unknown) {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) } })
  const waiting = async () =>
    (await waitingPushes(sara)).filter(({ data }) => data.kind === kind).length
  await told()
  expect(await notificationsOf(sara, kind)).toHaveLength(1)
  expect(await waiting()).toBe(1)
  await changed()
  await agePushes(sara, 20_000)
  await sendPushes()
  expect(await waiting()).toBe(0)
  return fcm.sentTo(pushToken).filter(({ data }) => data.kind === kind).length
}

async function pushedToSaver(kind: string, told: Change, changed: Change) {
  const owner = await signUp()
  const { id } = await publishListing(owner, { price: 200_000 })
  await toggleFavorite(sara, id)
  return await pushedAfter(kind, async () => {
    await told(id, owner)
    await drain('fan_out_listing_events')
  }, () => changed(id, owner))
}

testLocally.each<[string, Change, number]>([
  ['that still holds is pushed', nothing, 1],
  ['after which it fell a little more is pushed', price(149_000), 1],
  ['of what is dearer again is not pushed', price(160_000), 0],
  ['of what was sold is not pushed', post('mark-sold'), 0],
  ['of what was suspended is not pushed', suspend, 0],
  ['of whose owner was suspended is not pushed', suspendOwner, 0],
])('FAV-07 after quiet hours a lower price %s', async (_, changed, times) => {
  expect(await pushedToSaver('favorite_price_drop', price(150_000), changed)).toBe(times)
})

testLocally.each<[string, Change, number]>([
  ['is still so is pushed', nothing, 1],
  ['is offered again is not pushed', post('resume'), 0],
  ['was suspended is not pushed', suspend, 0],
  ['has lost its owner is not pushed', suspendOwner, 0],
])('FAV-07 after quiet hours the end of what %s', async (_, changed, times) => {
  expect(await pushedToSaver('favorite_unavailable', post('pause'), changed)).toBe(times)
})

testLocally.each<[string, string, number, Change, number]>([
  ['is near is pushed', 'listing_expiring', 2, nothing, 1],
  ['is near and then put off is not pushed', 'listing_expiring', 2, post('renew'), 0],
  ['has come is pushed', 'listing_expired', -1, nothing, 1],
  ['has come and was taken back is not pushed', 'listing_expired', -1, post('renew'), 0],
])(
  'FAV-07 after quiet hours the end of her own listing that %s',
  async (_, kind, days, changed, times) => {
    let id = ''
    const pushed = await pushedAfter(kind, async () => {
      const expiresAt = new Date(Date.now() + days * 86_400_000)
      id = await insertListing(sara.identityId, { expires_at: expiresAt })
      await drain(kind === 'listing_expired' ? 'expire_listings' : 'warn_expiring_listings')
    }, () => changed(id, sara))
    expect(pushed).toBe(times)
  },
)
