import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { toggleFavorite } from '../favorites/reads.ts'
import { notificationsOf, waitForNotification } from '../support/notifications.ts'
import { bulk } from '../support/nightly.ts'
import { waitUntil } from '../support/wait.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'

let seller: Person
let buyer: Person

beforeEach(async () => {
  seller = await signUpByPhone()
  buyer = await signUp()
})

const sql = (text: string, values: unknown[]) => database().query(text, values)

const setStatus = (id: string, status: string, reason: string | null = null) =>
  sql('update public.properties set status = $2, status_reason = $3 where id = $1', [
    id,
    status,
    reason,
  ])

const pendingEvents = async (id: string) => {
  const { rows } = await sql(
    'select kind from private.notification_events where property_id = $1 and notified_at is null',
    [id],
  )
  return rows.map(({ kind }) => kind)
}

test('a contact request notifies the owner of a lead, once a day for each kind', async () => {
  const { id, titleAr } = await publishListing(seller)
  await buyer.post(`/properties/${id}/contact`, { kind: 'call' })
  await buyer.post(`/properties/${id}/contact`, { kind: 'call' })
  expect(await notificationsOf(seller, 'lead_new')).toMatchObject([{
    identityId: seller.identityId,
    bodyAr: `أحد المهتمين طلب رقم هاتفك بخصوص «${titleAr}»`,
    data: { route: 'leads', entityId: id },
  }])
  await buyer.post(`/properties/${id}/contact`, { kind: 'whatsapp' })
  expect(await notificationsOf(seller)).toMatchObject([
    { titleAr: 'طلبا تواصل جديدان', bodyAr: `على إعلانك «${titleAr}»` },
  ])
  expect(await notificationsOf(buyer)).toEqual([])
})

test('a lower price notifies everybody who saved the listing, and nobody else', async () => {
  const { id, titleAr } = await publishListing(seller, { type: 'RENT', price: 650 })
  const stranger = await signUp()
  const company = await insertOrganisation(buyer.id)
  await toggleFavorite(buyer, id)
  await buyer.post('/auth/identity/switch', { identityId: company })
  await toggleFavorite(buyer, id)

  await seller.patch(`/properties/${id}`, { price: 600 })
  const one = await waitForNotification(buyer, 'favorite_price_drop')
  expect(one).toMatchObject({
    bodyAr: `انخفض سعر «${titleAr}» من 650 د.ك / شهرياً إلى 600 د.ك / شهرياً`,
    data: { route: 'property', entityId: id },
  })
  await waitUntil(
    'both identities are notified',
    async () => (await notificationsOf(buyer, 'favorite_price_drop')).length === 2,
  )
  expect(new Set((await notificationsOf(buyer)).map(({ identityId }) => identityId)))
    .toEqual(new Set([buyer.identityId, company]))
  expect(await notificationsOf(stranger)).toEqual([])

  // A price rise notifies nobody.
  await seller.patch(`/properties/${id}`, { price: 700 })
  await waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)
  expect((await notificationsOf(buyer)).map(({ bodyAr }) => bodyAr)).toEqual([
    one.bodyAr,
    one.bodyAr,
  ])
})

test.each([false, true])(
  'several price drops before all are notified are one, from the first price to the last; some were: %s',
  async (begun) => {
    const { id } = await publishListing(seller, { price: 1000 })
    await toggleFavorite(buyer, id)
    const client = await database().connect()
    try {
      await client.query('begin')
      for (const price of [900, 800.5, 700]) {
        await client.query('update public.properties set price = $2 where id = $1', [id, price])
      }
      if (begun) {
        await client.query(
          `update private.notification_events set last_identity_id = gen_random_uuid()
           where id = (select min(id) from private.notification_events where property_id = $1)`,
          [id],
        )
      }
      await client.query('commit')
    } finally {
      client.release()
    }
    expect(await waitForNotification(buyer, 'favorite_price_drop'))
      .toMatchObject({ bodyAr: expect.stringContaining('من 1,000 د.ك إلى 700 د.ك') })
    await waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)
    expect(await notificationsOf(buyer)).toHaveLength(1)
  },
)

test.each([
  ['mark-sold', 'تم بيع «'],
  ['pause', 'أوقف المعلن عرض «'],
  ['archive', 'انتهى عرض «'],
  ['delete', 'أحد العقارات التي حفظتها لم يعد معروضاً'],
  ['suspend', 'أحد العقارات التي حفظتها لم يعد معروضاً'],
])(
  'after %s those who saved the listing are notified that it is unavailable',
  async (act, begins) => {
    const { id, titleAr } = await publishListing(seller)
    await toggleFavorite(buyer, id)
    if (act === 'delete') await seller.delete(`/properties/${id}`)
    else if (act === 'suspend') await sql('select private.suspend_property($1, $2)', [id, 'مخالف'])
    else await seller.post(`/properties/${id}/${act}`)
    const { bodyAr, bodyEn } = await waitForNotification(buyer, 'favorite_unavailable')
    expect(bodyAr.startsWith(begins)).toBe(true)
    // The text reveals neither a suspension and its reason nor a deletion.
    expect(bodyAr.includes(titleAr)).toBe(begins.endsWith('«'))
    expect(bodyAr + bodyEn).not.toContain('مخالف')
  },
)

test('a listing paused and resumed before anybody was notified notifies nobody', async () => {
  const { id } = await publishListing(seller)
  await toggleFavorite(buyer, id)
  const client = await database().connect()
  try {
    await client.query('begin')
    for (const status of ['paused', 'active']) {
      await client.query('update public.properties set status = $2 where id = $1', [id, status])
    }
    await client.query('commit')
  } finally {
    client.release()
  }
  await waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)
  expect(await notificationsOf(buyer)).toEqual([])
})

test('thousands who saved a listing delay neither its owner nor others, and are all notified', async () => {
  const { id } = await publishListing(seller, { price: 1000 })
  const { id: other } = await publishListing(seller, { price: 1000 })
  await toggleFavorite(buyer, other)
  // Accounts with a hundred identities each are inserted by SQL, in one transaction per account, because
  // other transactions would have to wait for a longer one.
  const accounts = Array.from({ length: bulk(100, 20) }, () => randomUUID())
  for (const account of accounts) {
    await sql('insert into auth.users (id, email) values ($1, $2)', [
      account,
      `saver-${account}@example.com`,
    ])
    await sql(
      `with savers as (
         insert into public.identities (account_id, type, status, display_name)
         select $2, 'company', 'active', 'شركة الديرة' from generate_series(1, 100)
         returning id
       )
       insert into public.favorites (identity_id, property_id) select savers.id, $1 from savers`,
      [id, account],
    )
  }
  expect((await seller.patch(`/properties/${id}`, { price: 900 })).status).toBe(200)
  // The owner gets the response before the buyers are notified, and notifications about
  // other listings are not delayed.
  await seller.patch(`/properties/${other}`, { price: 900 })
  const one = await waitForNotification(buyer, 'favorite_price_drop')
  await waitUntil('all have been notified', async () => (await pendingEvents(id)).length === 0)
  const { rows } = await sql(
    `select count(*)::integer as notified, count(distinct identity_id)::integer as identities,
       max(xmin::text::bigint) > (
         select xmin::text::bigint from public.notifications where id = $2
       ) as later
     from public.notifications where entity_id = $1`,
    [id, one.id],
  )
  const all = 100 * accounts.length
  expect(rows).toEqual([{ notified: all, identities: all, later: true }])
  for (const account of accounts) {
    await sql(`delete from public.identities where type = 'company' and account_id = $1`, [account])
    await sql('delete from auth.users where id = $1', [account])
  }
})

test('two concurrent runs of the job notify everybody once', async () => {
  const { id } = await publishListing(seller, { price: 1000 })
  await toggleFavorite(buyer, id)
  await seller.patch(`/properties/${id}`, { price: 900 })
  await Promise.all(Array.from({ length: 6 }, () => runJobs('jobs/often')))
  await waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)
  expect(await notificationsOf(buyer)).toHaveLength(1)
  expect((await notificationsOf(buyer))[0].titleAr).toBe('انخفض سعر عقار في مفضلتك')
})

test('LIST-03 an owner is warned once, when renewing begins, and told of the end', async () => {
  const soon = await insertListing(seller.identityId, {
    expires_at: new Date(Date.now() + 550_000_000),
  })
  const later = await insertListing(seller.identityId, {
    expires_at: new Date(Date.now() + 650_000_000),
  })
  await Promise.all([runJobs(), runJobs()])
  await runJobs()
  expect(await notificationsOf(seller)).toMatchObject([{
    kind: 'listing_expiring',
    bodyAr: 'ينتهي عرض «فيلا للبيع في السالمية» خلال 7 أيام، ويمكنك تجديده من الآن',
    data: { route: 'my_property', entityId: soon },
  }])
  const [first] = await notificationsOf(seller)
  await seller.post(`/notifications/${first.id}/read`)
  expect((await seller.post(`/properties/${later}/renew`)).status).toBe(409)
  expect((await seller.post(`/properties/${soon}/renew`)).status).toBe(200)
  await runJobs()
  expect(await notificationsOf(seller)).toHaveLength(1)
  await sql(`update public.properties set expires_at = now() + '20 hours' where id = $1`, [soon])
  await runJobs()
  expect((await notificationsOf(seller)).map(({ bodyAr }) => bodyAr)).toEqual([
    'ينتهي عرض «فيلا للبيع في السالمية» خلال يوم، ويمكنك تجديده من الآن',
    first.bodyAr,
  ])
  await sql(`update public.properties set expires_at = now() where id = $1`, [soon])
  await runJobs()
  expect(await notificationsOf(seller, 'listing_expired')).toMatchObject([{
    bodyAr: 'انتهى عرض «فيلا للبيع في السالمية»، ويمكنك تجديده خلال 90 يوماً',
    data: { route: 'my_property', entityId: soon },
  }])
})

test('LIST-04 who was told that a listing was sold is told that it is back', async () => {
  const { id, titleAr } = await publishListing(seller)
  await toggleFavorite(buyer, id)
  const act = async (...names: string[]) => {
    for (const name of names) {
      expect((await seller.post(`/properties/${id}/${name}`)).status).toBe(200)
    }
  }
  const texts = async () => (await notificationsOf(buyer)).map(({ bodyAr }) => bodyAr)
  const waitUntilTold = () =>
    waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)

  await act('pause')
  await waitUntilTold()
  await act('mark-sold')
  await waitUntilTold()
  expect(await texts()).toEqual([`تم بيع «${titleAr}»`])
  // An event prevents another notification of the same kind about the listing for a day,
  // so this deletes the events.
  await sql('delete from private.notification_events where property_id = $1', [id])
  await act('archive', 'restore', 'publish')
  await waitUntilTold()
  expect(await texts()).toEqual([`أُعيد عرض «${titleAr}»`])

  // The end of a pause notifies nobody, because the listing was not sold.
  await act('pause')
  await waitUntilTold()
  await act('resume')
  await waitUntilTold()
  expect(await texts()).toEqual([`أوقف المعلن عرض «${titleAr}» مؤقتاً`])
})

test('LIST-04 what was sold and is back before anybody was told is told to nobody', async () => {
  const { id } = await publishListing(seller)
  await toggleFavorite(buyer, id)
  const client = await database().connect()
  try {
    await client.query('begin')
    for (const status of ['sold', 'archived', 'draft', 'active']) {
      await client.query('update public.properties set status = $2 where id = $1', [id, status])
    }
    await client.query('commit')
  } finally {
    client.release()
  }
  await waitUntil('nothing waits', async () => (await pendingEvents(id)).length === 0)
  expect(await notificationsOf(buyer)).toEqual([])
})

test("an admin's decision on a listing notifies its owner", async () => {
  const { id } = await createDraft(seller, {
    kind: 'villa',
    titleAr: 'فيلا للبيع في السالمية',
    price: 185000,
    areaId: 'salmiya',
    landAreaM2: 500,
  })
  const decide = (approved: boolean, reason: string | null = null) =>
    sql('select private.decide_property($1, $2, $3)', [id, approved, reason])
  await setStatus(id, 'pending_review')
  await decide(false, 'الصور غير واضحة')
  expect(await notificationsOf(seller)).toMatchObject([{
    kind: 'listing_rejected',
    bodyAr: '«فيلا للبيع في السالمية»: الصور غير واضحة. يمكنك تعديله وإرساله من جديد',
  }])
  await setStatus(id, 'pending_review')
  await decide(true)
  expect((await notificationsOf(seller))[0]).toMatchObject({
    kind: 'listing_approved',
    identityId: seller.identityId,
    data: { entityId: id },
  })
  await sql(`update public.properties set pending_changes = '{"price":190000}' where id = $1`, [id])
  await decide(true)
  expect((await notificationsOf(seller))[0]).toMatchObject({
    kind: 'listing_approved',
    titleAr: 'تم اعتماد تعديلاتك',
  })
  expect(await notificationsOf(seller)).toHaveLength(3)

  const { id: other } = await publishListing(seller) // published without a decision: no notification
  expect((await notificationsOf(seller)).map(({ data }) => data.entityId)).not.toContain(other)
})

test("an admin's decision on an identity notifies its account", async () => {
  const company = await insertOrganisation(seller.id)
  const set = (status: string, reason: string | null = null) =>
    sql('update public.identities set status = $2, status_reason = $3 where id = $1', [
      company,
      status,
      reason,
    ])
  await set('pending_verification')
  await set('rejected', 'الترخيص غير واضح')
  await set('pending_verification')
  await set('active')
  await set('suspended', 'بلاغات متكررة')
  await set('active')
  expect(await notificationsOf(seller)).toMatchObject([
    { kind: 'identity_restored', identityId: seller.identityId, data: { entityId: company } },
    {
      kind: 'identity_suspended',
      identityId: seller.identityId,
      bodyAr: expect.stringContaining('بلاغات متكررة'),
      data: { entityId: company },
    },
    { kind: 'identity_verified', identityId: company, data: { entityId: company } },
    { kind: 'identity_rejected', bodyAr: expect.stringContaining('الترخيص غير واضح') },
  ])
})
