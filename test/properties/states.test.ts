import pg from 'pg'
import { expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'

const states = ['draft', 'pending_review', 'active', 'rejected', 'paused', 'sold', 'rented']
  .concat('exchanged', 'expired', 'archived', 'suspended', 'deleted')

const table: Record<string, [from: string[], to: string, type?: string]> = {
  'publish': [['draft', 'rejected'], 'active'],
  'pause': [['active'], 'paused'],
  'resume': [['paused'], 'active'],
  'renew': [['active', 'expired'], 'active'],
  'archive': [
    states.filter((state) => !['archived', 'suspended', 'deleted'].includes(state)),
    'archived',
  ],
  'restore': [['archived'], 'draft'],
  'mark-sold': [['active', 'paused', 'expired'], 'sold', 'SALE'],
  'mark-rented': [['active', 'paused', 'expired'], 'rented', 'RENT'],
  'mark-exchanged': [['active', 'paused', 'expired'], 'exchanged', 'EXCHANGE'],
  'confirm-available': [['active'], 'active'],
}
const editable = ['draft', 'pending_review', 'active', 'rejected', 'paused', 'expired']

const allowed = (state: string, type: string) =>
  Object.entries(table)
    .filter(([, [from, , only]]) => from.includes(state) && (only ?? type) === type)
    .map(([act]) => act)

const unpublished = ['draft', 'pending_review', 'rejected']

async function listingIn(person: Person, status: string, type = 'SALE') {
  return await insertListing(person.identityId, {
    status,
    type,
    published_at: unpublished.includes(status) ? null : new Date(Date.now() - 86_400_000),
    expires_at: new Date(Date.now() + (status === 'expired' ? -1 : 1) * 3_600_000),
    paused_at: status === 'paused' ? new Date() : null,
    closed_at: ['sold', 'rented', 'exchanged'].includes(status) ? new Date() : null,
    description_ar: 'المطلوب بيت',
  })
}

const set = (id: string, columns: string) =>
  database().query(`update public.properties set ${columns} where id = $1`, [id])

test.each(states)(
  'from %s, every action leads where the contract says or is refused',
  async (state) => {
    const seller = await signUp()
    for (const type of ['SALE', 'RENT', 'EXCHANGE']) {
      for (const [act, [from, to, only]] of Object.entries(table)) {
        const id = await listingIn(seller, state, type)
        const reply = await seller.post(`/properties/${id}/${act}`)

        if (state === 'deleted') expect(reply.status).toBe(404)
        else if (from.includes(state) && (only ?? type) === type) {
          expect(reply, act).toMatchObject({ status: 200, body: { id, status: to, version: 2 } })
        } else {
          expect(reply, act).toMatchObject({
            status: 409,
            body: {
              error: {
                code: 'property_state_conflict',
                message: 'لا يمكن تنفيذ هذا الإجراء على الإعلان في حالته الحالية',
                from: state,
                allowed: allowed(state, type),
              },
            },
          })
          expect((await seller.get(`/properties/${id}`)).body).toMatchObject({
            status: state,
            version: 1,
          })
        }
      }
    }
  },
)

test.each(states)('a listing in %s is edited and deleted as the contract says', async (state) => {
  const seller = await signUp()
  const id = await listingIn(seller, state)
  const edited = await seller.patch(`/properties/${id}`, { bedrooms: 5 })
  if (state === 'deleted') expect(edited.status).toBe(404)
  else if (editable.includes(state)) {
    expect(edited).toMatchObject({ status: 200, body: { status: state, bedrooms: 5, version: 2 } })
  } else {
    expect(edited).toMatchObject({
      status: 409,
      body: {
        error: { code: 'property_state_conflict', from: state, allowed: allowed(state, 'SALE') },
      },
    })
  }
  expect((await seller.delete(`/properties/${id}`)).status).toBe(state === 'deleted' ? 404 : 204)
  expect((await seller.get(`/properties/${id}`)).status).toBe(404)
})

test.each(states)('strangers see a listing in %s as the contract says', async (state) => {
  const [seller, stranger] = [await signUp(), await signUp()]
  const id = await listingIn(seller, state)
  const seen = ['active', 'sold', 'rented', 'exchanged'].includes(state) ? 200 : 404
  expect((await guest.get(`/properties/${id}`)).status).toBe(seen)
  expect((await stranger.get(`/properties/${id}`)).status).toBe(seen)
  expect((await seller.get(`/properties/${id}`)).status).toBe(state === 'deleted' ? 404 : 200)
})

test('sold, rented or exchanged listings can be seen by link for 30 days', async () => {
  const seller = await signUp()
  for (const status of ['sold', 'rented', 'exchanged']) {
    const id = await listingIn(seller, status)
    await set(id, `closed_at = now() - interval '30 days' + interval '1 minute'`)
    expect((await guest.get(`/properties/${id}`)).body).toMatchObject({ status })
    await set(id, `closed_at = now() - interval '30 days'`)
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await seller.get(`/properties/${id}`)).status).toBe(200)
  }
})

const days = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000

test('publishing gives 30 days; renewing gives them again and does not move the publishing', async () => {
  const seller = await signUp()
  const first = await publishListing(seller)
  expect(days(first.publishedAt, first.expiresAt)).toBeCloseTo(30, 3)
  expect(first.confirmedAt).toBeTruthy()

  await set(first.id, `expires_at = now() - interval '1 second'`)
  await database().query('select private.expire_listings()')
  // The stack's own job may have expired the listing a moment earlier.
  await expect.poll(async () => (await guest.get(`/properties/${first.id}`)).status).toBe(404)
  expect((await seller.get(`/properties/${first.id}`)).body)
    .toMatchObject({ status: 'expired', version: 2 })

  const { body } = await seller.post(`/properties/${first.id}/renew`)
  expect(body).toMatchObject({ status: 'active', publishedAt: first.publishedAt, version: 3 })
  expect(days(new Date().toISOString(), body.expiresAt)).toBeCloseTo(30, 2)
  expect(body.confirmedAt > first.confirmedAt).toBe(true)
  expect((await guest.get(`/properties/${first.id}`)).status).toBe(200)
})

test('a listing can be renewed within 90 days of its end, not after', async () => {
  const seller = await signUp()
  const id = await listingIn(seller, 'expired')
  await set(id, `expires_at = now() - interval '90 days'`)
  expect(await seller.post(`/properties/${id}/renew`)).toMatchObject({
    status: 409,
    body: {
      error: {
        code: 'property_state_conflict',
        from: 'expired',
        allowed: ['archive', 'mark-sold'],
      },
    },
  })
  await set(id, `expires_at = now() - interval '90 days' + interval '1 minute'`)
  expect((await seller.post(`/properties/${id}/renew`)).status).toBe(200)
})

test('LIST-03 renewing in the last seven days adds to the end, once at a time', async () => {
  const seller = await signUp()
  const { id, confirmedAt } = await publishListing(seller)
  const renew = () => seller.post(`/properties/${id}/renew`)
  const early = {
    status: 409,
    body: { error: { code: 'property_state_conflict', from: 'active' } },
  }
  await set(id, `expires_at = now() + interval '7 days 1 minute'`)
  expect(await renew()).toMatchObject(early)
  await set(id, `expires_at = now() + interval '6 days'`)
  const replies = await Promise.all(Array.from({ length: 5 }, renew))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  const { body } = await seller.get(`/properties/${id}`)
  expect(days(new Date().toISOString(), body.expiresAt)).toBeCloseTo(36, 2)
  expect(body).toMatchObject({ status: 'active', version: 2 })
  expect(body.confirmedAt > confirmedAt).toBe(true)
  expect(await renew()).toMatchObject(early)
})

test('a listing with time left does not expire, nor does a paused one', async () => {
  const seller = await signUp()
  const [running, paused] = [await publishListing(seller), await publishListing(seller)]
  await seller.post(`/properties/${paused.id}/pause`)
  await set(running.id, `expires_at = now() + interval '1 minute'`)
  await set(
    paused.id,
    `paused_at = now() - interval '50 days', expires_at = now() - interval '40 days'`,
  )
  await database().query('select private.expire_listings()')

  expect((await guest.get(`/properties/${running.id}`)).status).toBe(200)
  const { body } = await seller.post(`/properties/${paused.id}/resume`)
  expect(body).toMatchObject({ status: 'active', publishedAt: paused.publishedAt })
  expect(days(new Date().toISOString(), body.expiresAt)).toBeCloseTo(10, 2)
})

test('confirming records when, and changes nothing else', async () => {
  const seller = await signUp()
  const before = await publishListing(seller)
  const { body } = await seller.post(`/properties/${before.id}/confirm-available`)
  expect(body.confirmedAt > before.confirmedAt).toBe(true)
  expect(body).toEqual({ ...before, confirmedAt: body.confirmedAt, version: 2 })
})

test('a listing that was archived and restored keeps its first publishing', async () => {
  const seller = await signUp()
  const { id, publishedAt } = await publishListing(seller)
  for (const act of ['mark-sold', 'archive']) await seller.post(`/properties/${id}/${act}`)
  expect((await seller.post(`/properties/${id}/restore`)).body)
    .toMatchObject({ status: 'draft', publishedAt, expiresAt: null })
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  expect((await seller.post(`/properties/${id}/publish`)).body)
    .toMatchObject({ status: 'active', publishedAt })
})

test('an action requested ten times at once is done once', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => seller.post(`/properties/${id}/pause`)),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  expect((await seller.get(`/properties/${id}`)).body).toMatchObject({
    status: 'paused',
    version: 2,
  })
})

test('actions accept no body and no query, and unknown ones do not exist', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  expect((await seller.post(`/properties/${id}/pause`, { status: 'sold' })).status).toBe(422)
  expect((await seller.post(`/properties/${id}/pause?force=1`)).status).toBe(422)
  expect(await seller.post(`/properties/${id}/suspend`))
    .toMatchObject({ status: 404, body: { error: { code: 'route_not_found' } } })
  expect(await seller.get(`/properties/${id}/pause`))
    .toMatchObject({ status: 405, body: { error: { code: 'method_not_allowed' } } })
  expect((await seller.get(`/properties/${id}`)).body.status).toBe('active')
})

test('an admin suspends a listing with a reason, and restores it as it was', async () => {
  const seller = await signUp()
  const { id } = await publishListing(seller)
  await seller.post(`/properties/${id}/pause`)
  await database().query(`select private.suspend_property($1, 'صور مخالفة')`, [id])
  expect((await seller.get(`/properties/${id}`)).body)
    .toMatchObject({ status: 'suspended', statusReason: 'صور مخالفة' })
  await database().query('select private.lift_suspension($1)', [id])
  expect((await seller.get(`/properties/${id}`)).body)
    .toMatchObject({ status: 'paused', statusReason: null })
})

test('LIST-02 a suspension takes no time of a listing', async () => {
  const seller = await signUp()
  const lift = (id: string) => database().query('select private.lift_suspension($1)', [id])
  const suspend = async (id: string, daysAgo: number, left: string) => {
    await database().query(`select private.suspend_property($1, 'صور مخالفة')`, [id])
    await set(
      id,
      `suspended_at = now() - interval '${daysAgo} days',
       expires_at = now() - interval '${daysAgo} days' + interval '${left}'`,
    )
  }
  const running = await publishListing(seller)
  await suspend(running.id, 20, '3 days')
  await database().query('select private.expire_listings()')
  await lift(running.id)
  const { body } = await guest.get(`/properties/${running.id}`)
  expect(days(new Date().toISOString(), body.expiresAt)).toBeCloseTo(3, 2)

  // The end of a pause adds the whole pause, including the time of the suspension.
  const paused = await publishListing(seller, { kind: 'chalet' }) // no duplicate of the suspended ones
  await seller.post(`/properties/${paused.id}/pause`)
  await suspend(paused.id, 20, '3 days')
  await set(paused.id, `paused_at = now() - interval '20 days'`)
  await lift(paused.id)
  const resumed = await seller.post(`/properties/${paused.id}/resume`)
  expect(days(new Date().toISOString(), resumed.body.expiresAt)).toBeCloseTo(3, 2)

  // A suspension does not use up the time in which an expired listing may be renewed.
  const over = await listingIn(seller, 'expired')
  await suspend(over, 100, '0 days')
  await lift(over)
  expect((await seller.post(`/properties/${over}/renew`)).status).toBe(200)
})

test('an edit that sets every column calls only the functions of what it changes', async () => {
  const seller = await signUp()
  const id = await insertListing(await insertOrganisation(seller.id))
  const client = new pg.Client({ connectionString: variable('DATABASE_URL') })
  await client.connect()
  try {
    const called = async (columns: string) => {
      await client.query('select pg_stat_force_next_flush()')
      await client.query('begin')
      await client.query(`update public.properties set ${columns} where id = $1`, [id])
      await client.query('set constraints all immediate')
      const { rows } = await client.query<{ name: string }>(
        `select proname as name from pg_proc
         join pg_trigger on tgfoid = pg_proc.oid and tgrelid = 'public.properties'::regclass
         where pg_stat_get_xact_function_calls(pg_proc.oid) > 0 and tgname !~ '^[_~]'
         group by 1 order by 1`,
      )
      await client.query('rollback')
      return rows.map(({ name }) => name)
    }
    const every = 'status = status, price = price, published_at = published_at, listed = listed, ' +
      'owner_active = owner_active, allow_call = allow_call, allow_chat = allow_chat'
    const version = ['on_listed_property', 'on_property_edited']
    expect(await called(every)).toEqual(version)
    expect(await called(`${every}, bedrooms = coalesce(bedrooms, 0) + 1`))
      .toEqual([
        ...version,
        'on_property_shown',
        'queue_duplicate_check',
        'update_search_document',
      ])
    // docs/triggers.md describes all of these except on_property_edited, which the facade does not cause.
    expect(await called(`status = 'sold'`)).toEqual([
      'audit_change',
      'count_listing',
      'enter_property_state',
      'on_listed_property',
      'on_property_edited',
      'on_property_shown',
      'queue_listing_event',
      'record_publication',
      'set_listed',
      'update_search_document',
    ])
  } finally {
    await client.end()
  }
})
