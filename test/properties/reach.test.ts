// HARM-08: a pin must lie within the chosen area if the extent of the area is known.
import { expect, test } from 'vitest'
import { database, guest, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { completeFields, createDraft, publishListing } from '../support/listings.ts'
import { callDataApi } from '../support/data-api.ts'

const inSalmiya = { lat: 29.34, lng: 48.07, precision: 'exact' }
const inJahra = { lat: 29.34, lng: 47.66, precision: 'exact' }
const outside = (areaId: string) => ({
  status: 422,
  body: {
    error: {
      code: 'location_outside_area',
      areaId,
      fields: [{ path: 'location', code: 'location_outside_area' }],
    },
  },
})

test('HARM-08 a pin outside is refused when its owner sets pin or area, at every door', async () => {
  const person = await signUp()
  const create = (fields: object) =>
    person.post('/properties', { ...completeFields.SALE, ...fields })
  expect(await create({ location: inJahra })).toMatchObject(outside('salmiya'))
  expect(await create({ location: inJahra, publish: true })).toMatchObject(outside('salmiya'))
  const { id } = await publishListing(person, { location: inSalmiya })
  const change = (fields: object) => person.patch(`/properties/${id}`, fields)
  expect(await change({ location: inJahra })).toMatchObject(outside('salmiya'))
  expect(await change({ areaId: 'jahra' })).toMatchObject(outside('jahra'))
  expect((await change({ areaId: 'jahra', location: inJahra })).status).toBe(200)
  const { status, text } = await callDataApi(person, 'update_property', {
    property_id: id,
    fields: { areaId: 'salmiya' },
  })
  expect([status, JSON.parse(text).message]).toEqual([422, 'location_outside_area'])
  expect((await change({ location: null, areaId: 'salmiya' })).status).toBe(200)
})

test('HARM-08 nothing else is held up: other fields, publishing, renewing, resuming, restoring', async () => {
  const person = await signUp()
  const id = await insertListing(person.identityId, {
    area_id: 'salmiya',
    governorate_id: 'hawalli',
    lat: inJahra.lat,
    lng: inJahra.lng,
    location_precision: 'exact',
  })
  const act = async (action: string) => {
    const { status, body } = await person.post(`/properties/${id}/${action}`)
    expect([action, status]).toEqual([action, 200])
    return body
  }
  expect(
    (await person.patch(`/properties/${id}`, {
      price: 1000,
      areaId: 'salmiya',
      location: inJahra,
    })).status,
  ).toBe(200)
  for (const action of ['pause', 'resume', 'archive', 'restore', 'publish']) await act(action)
  await database().query(`update public.properties set status = 'expired' where id = $1`, [id])
  await act('renew')
})

test('HARM-08 where the centroid is approximate nothing is asked, and none is ever given a reach', async () => {
  const person = await signUp()
  await createDraft(person, { areaId: 'daiya', location: inJahra })
  await expect(database().query(`update public.areas set reach_km = 3 where id = 'daiya'`))
    .rejects.toThrow('areas_reach_is_from_a_known_centroid')
  const { rows } = await database().query(
    `select count(*) filter (where reach_km is null)::int as without, count(*)::int as all
     from public.areas where not approximate`,
  )
  expect(rows).toEqual([{ without: 0, all: 27 }])
  expect((await guest.get('/meta/areas')).status).toBe(200)
})
