import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { actAs, actingOf, company, setStatus } from '../support/identities.ts'
import { fieldRefusal, problemOf, refusal } from '../support/problems.ts'

let person: Person
beforeEach(async () => {
  person = await signUp('سالم العنزي')
})

const missing = refusal(404, 'identity_not_found')
const switchTo = (identityId: unknown, who = person) => actAs(who, identityId)

test('a company or office is requested, and visible to its owner in any state', async () => {
  const requested = {
    ...company(),
    nameAr: '  شركة   الديرة ',
    nameEn: 'Al Deera',
    licenceNo: 'ab-١٢٣/' + randomUUID().slice(0, 6),
    phone: '+96522334455',
    email: 'info@example.com',
    website: 'https://example.com',
    governorateId: 'hawalli',
    aboutAr: 'نبذة\nفي سطرين',
  }
  const { status, body } = await person.post('/auth/identities', requested)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    type: 'company',
    status: 'pending_verification',
    displayName: 'شركة الديرة',
    nameAr: 'شركة الديرة',
    licenceNo: requested.licenceNo.replace('١٢٣', '123').toUpperCase(),
    licenceExpiresOn: '2040-01-01',
    verified: false,
    governorateId: 'hawalli',
    areaId: null,
    aboutAr: 'نبذة\nفي سطرين',
  })
  for (const state of ['pending_verification', 'suspended', 'rejected', 'active']) {
    await setStatus(body.id, state)
    expect((await person.get(`/auth/identities/${body.id}`)).body)
      .toEqual({ ...body, status: state, verified: state === 'active' })
  }
  expect((await person.get('/auth/identities')).body).toMatchObject({
    items: [{ id: person.identityId, type: 'individual' }, { id: body.id, type: 'company' }],
    nextCursor: null,
  })
  const other = await signUp()
  const hidden = await other.get(`/auth/identities/${body.id}`)
  expect(hidden).toMatchObject(missing)
  expect(problemOf(await other.get(`/auth/identities/${randomUUID()}`)))
    .toEqual(problemOf(hidden))
  expect(await other.patch(`/auth/identities/${body.id}`, { aboutAr: 'لي' })).toMatchObject(missing)
  expect(await person.get('/auth/identities/me')).toMatchObject(
    fieldRefusal(422, 'validation_failed', 'identityId'),
  )
})

test('company fields are validated at each limit', async () => {
  const add = (more: object) => person.post('/auth/identities', { ...company(), ...more })
  const yesterday = new Date(Date.now() - 86_400_000 + 3 * 3_600_000).toISOString().slice(0, 10)
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10)
  for (
    const [more, code, path] of [
      [{ type: 'individual' }, 'validation_failed', 'type'],
      [{ nameAr: 'ش' }, 'validation_failed', 'nameAr'],
      [{ nameAr: 'ش'.repeat(121) }, 'validation_failed', 'nameAr'],
      [{ nameAr: 'شركة\u3164الديرة' }, 'validation_failed', 'nameAr'],
      [{ nameEn: 'x' }, 'validation_failed', 'nameEn'],
      [{ licenceNo: '12' }, 'validation_failed', 'licenceNo'],
      [{ licenceNo: '1'.repeat(41) }, 'validation_failed', 'licenceNo'],
      [{ licenceNo: 'ترخيص-١٢' }, 'validation_failed', 'licenceNo'],
      [{ licenceExpiresOn: '2040-02-30' }, 'validation_failed', 'licenceExpiresOn'],
      [{ licenceExpiresOn: yesterday }, 'licence_expired', 'licenceExpiresOn'],
      [{ phone: '5123456' }, 'validation_failed', 'phone'],
      [{ whatsapp: '998877665' }, 'validation_failed', 'whatsapp'],
      [{ email: 'info@' }, 'validation_failed', 'email'],
      [{ website: 'http://example.com' }, 'validation_failed', 'website'],
      [{ website: 'https://example.com@evil.example' }, 'validation_failed', 'website'],
      [{ website: 'https://user:secret@example.com/' }, 'validation_failed', 'website'],
      [{ website: 'https://example.com/\u202Emoc.live' }, 'validation_failed', 'website'],
      [{ website: 'https://exam\u200Bple.com' }, 'validation_failed', 'website'],
      [{ governorateId: 'hawalli', areaId: 'sharq' }, 'area_invalid', 'areaId'],
      [{ governorateId: 'nowhere' }, 'area_invalid', 'areaId'],
      [{ areaId: 'sharq' }, 'area_invalid', 'areaId'],
      [{ verified: true }, 'validation_failed', 'verified'],
      [{ status: 'active' }, 'validation_failed', 'status'],
      [{ accountId: randomUUID() }, 'validation_failed', 'accountId'],
    ] as const
  ) {
    expect(await add(more), JSON.stringify(more)).toMatchObject(fieldRefusal(422, code, path))
  }
  for (
    const more of [
      { nameAr: 'شر', nameEn: 'xy' },
      { nameAr: 'ش'.repeat(120) },
      { nameAr: ` ${'ش'.repeat(120)} `, phone: ' +٩٦٥٢٢٣٣٤٤٥٥', email: ' info@example.com ' },
      {
        phone: '\u202D+965 2233-4455\u202C',
        whatsapp: '00965 (9988) 7766',
        email: '\u2068a@b.kw\u2069',
      },
      { licenceNo: randomUUID().slice(0, 3).toUpperCase() },
      { licenceNo: `${randomUUID()}-ABC`.toUpperCase() },
      { licenceExpiresOn: today },
      { website: 'https://example.com/@office' },
      { type: 'office', governorateId: 'capital', areaId: 'sharq' },
    ]
  ) {
    expect(await add(more), JSON.stringify(more)).toMatchObject({ status: 201 })
  }
})

test('what the facade refuses of a company or of oneself, SQL refuses too', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const refused = (call: string, values: unknown[]) =>
    expect(asCaller(person, (client) => client.query(`select api.${call}`, values)), String(values))
      .rejects.toMatchObject({ code: 'PT422', message: 'validation_failed' })
  for (
    const fields of [
      'null',
      '"text"',
      '{"verified":true}',
      '{"nameAr":5}',
      '{"email":"info@"}',
      '{"licenceExpiresOn":"infinity"}',
      '{"licenceExpiresOn":"2040-02-30"}',
    ]
  ) {
    await refused('update_identity($1, $2)', [office, fields])
    await refused("add_identity('company', $1)", [fields])
  }
  for (
    const fields of ['null', '[]', '{"status":"active"}', '{"fullName":5}', '{"language":"fr"}']
  ) {
    await refused('update_me($1)', [fields])
  }
})

test('a change of name or licence waits, other changes do not', async () => {
  const office = await insertOrganisation(person.id, 'office')
  const patch = (changes: object) => person.patch(`/auth/identities/${office}`, changes)
  await switchTo(office)
  expect(await patch({ aboutAr: 'مكتب عقاري', phone: '+96522334455' }))
    .toMatchObject({
      status: 200,
      body: { status: 'active', verified: true, aboutAr: 'مكتب عقاري' },
    })
  expect(await patch({ phone: null })).toMatchObject({ status: 200, body: { phone: null } })
  expect(await patch({})).toMatchObject({ status: 200, body: { status: 'active' } })
  expect(await actingOf(person.id)).toBe(office)
  expect(await patch({ type: 'company' })).toMatchObject({ status: 422 })

  expect(await patch({ nameAr: 'مكتب آخر' })).toMatchObject({
    status: 200,
    body: { status: 'active', verified: true, pendingChanges: { nameAr: 'مكتب آخر' } },
  })
  expect(await actingOf(person.id)).toBe(office)
  await setStatus(office, 'suspended')
  expect(await patch({ aboutAr: 'x' })).toMatchObject(refusal(409, 'status_transition_invalid'))
  expect(await person.patch(`/auth/identities/${person.identityId}`, { nameAr: 'سالم' }))
    .toMatchObject(missing)
})
