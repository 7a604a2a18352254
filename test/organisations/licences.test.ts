// Anyone may claim a licence, but only one organisation can hold it, and an admin decides which one.
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { edit } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { fieldRefusal, refusal } from '../support/problems.ts'

let admin: Person
let owner: Person
let licenceNo: string
beforeEach(async () => {
  admin = await signUpAdmin()
  owner = await signUp()
  licenceNo = `L-${randomUUID().slice(0, 8).toUpperCase()}`
})

const inUse = fieldRefusal(409, 'licence_in_use', 'licenceNo')

async function claim(by: Person, fields: object = {}): Promise<string> {
  const { status, body } = await by.post('/auth/identities', {
    type: 'office',
    nameAr: 'مكتب السور العقاري',
    licenceNo,
    licenceExpiresOn: '2040-01-01',
    ...fields,
  })
  expect(status).toBe(201)
  return body.id
}
const decide = (id: string, decision: string, by = admin) =>
  by.post(`/admin/moderation/${id}/decide`, { decision, reason: 'رقم الترخيص' })
const setStatus = (id: string, status: string, by = admin) =>
  by.patch(`/admin/identities/${id}/status`, { status, reason: 'رقم الترخيص' })
const setByHand = (id: string, status: string) => edit('identities', id, { status })
const statusOf = async (id: string, by: Person) =>
  (await by.get(`/auth/identities/${id}`)).body.status

test('whoever claims a licence first does not keep it from its owner', async () => {
  const taker = await signUp()
  const taken = await claim(taker, { licenceNo: licenceNo.toLowerCase() })
  const own = await claim(owner)
  const { body } = await admin.get(`/admin/moderation?licenceNo=${licenceNo}`)
  expect(body.items).toMatchObject([
    { id: taken, identity: { claims: [{ accountId: owner.id, identity: { id: own } }] } },
    { id: own, identity: { claims: [{ accountId: taker.id, identity: { id: taken } }] } },
  ])
  expect(await decide(own, 'approve')).toMatchObject({ status: 200 })
  expect(await guest.get(`/office/${own}`)).toMatchObject({ body: { licenceNo, verified: true } })
  expect(await statusOf(taken, taker)).toBe('pending_verification')
  expect((await admin.get(`/admin/moderation?licenceNo=${licenceNo}`)).body.items).toMatchObject([
    { id: taken, identity: { claims: [{ identity: { id: own, status: 'active' } }] } },
  ])
  expect(await decide(taken, 'approve')).toMatchObject(inUse)
  expect(await setStatus(taken, 'active')).toMatchObject(inUse)
  expect(await statusOf(taken, taker)).toBe('pending_verification')
  expect(await decide(taken, 'reject')).toMatchObject({ status: 200 })
  expect((await taker.get('/notifications')).body.items).toMatchObject([
    { kind: 'identity_rejected' },
  ])
  await taker.patch(`/auth/identities/${taken}`, { aboutAr: 'نبذة' })
  expect(await statusOf(taken, taker)).toBe('pending_verification')
})

test('it is held while active, suspended or expired, and free once rejected or gone', async () => {
  const held = await claim(owner)
  const other = await claim(await signUp())
  await decide(held, 'approve')
  await decide(held, 'suspend')
  expect(await decide(other, 'approve')).toMatchObject(inUse)
  expect(await decide(held, 'restore')).toMatchObject({ status: 200 })
  await setByHand(held, 'expired')
  expect(await decide(other, 'approve')).toMatchObject(inUse)
  await setByHand(held, 'rejected')
  expect(await decide(other, 'approve')).toMatchObject({ status: 200 })
  expect(await owner.patch(`/auth/identities/${held}`, { aboutAr: 'نبذة' }))
    .toMatchObject({ body: { status: 'pending_verification' } })
  expect(await decide(held, 'approve')).toMatchObject(inUse)
  await setByHand(other, 'closed')
  expect(await decide(held, 'approve')).toMatchObject({ status: 200 })
})

test('a verified page keeps its licence until another is approved', async () => {
  const [held, other] = [await claim(owner), await claim(await signUp())]
  const another = `${licenceNo}-2`
  const rival = await claim(await signUp(), { licenceNo: another })
  await decide(held, 'approve')
  await decide(rival, 'approve')
  expect(await owner.patch(`/auth/identities/${held}`, { licenceNo: another })).toMatchObject({
    status: 200,
    body: { status: 'active', licenceNo, pendingChanges: { licenceNo: another } },
  })
  const { body } = await admin.get(`/admin/moderation?kind=identity&licenceNo=${another}`)
  expect(body.items).toMatchObject([
    { id: held, identity: { claims: [{ identity: { id: rival, status: 'active' } }] } },
  ])
  expect(await decide(held, 'approve')).toMatchObject(inUse)
  expect(await decide(other, 'approve')).toMatchObject(inUse)
  await setByHand(rival, 'rejected')
  expect(await decide(held, 'approve')).toMatchObject({ status: 200 })
  expect(await guest.get(`/office/${held}`)).toMatchObject({ body: { licenceNo: another } })
  expect(await decide(other, 'approve')).toMatchObject({ status: 200 })
})

test('Studio refuses a second holder with a sentence, whatever is changed there', async () => {
  const [held, other] = [await claim(owner), await claim(await signUp())]
  await setByHand(held, 'active')
  const sentence = {
    message: expect.stringContaining('identities.status'),
    hint: 'licence_in_use',
  }
  for (const status of ['active', 'suspended', 'expired']) {
    await expect(setByHand(other, status), status).rejects.toMatchObject(sentence)
  }
  const { rows } = await database().query(
    'select claims from public.admin_identities_to_verify where id = $1',
    [other],
  )
  expect(rows).toEqual([{ claims: 'office مكتب السور العقاري (active)' }])
  const third = await claim(await signUp(), { licenceNo: `${licenceNo}-3` })
  await setByHand(third, 'active')
  const correct = (licence_no: string) =>
    edit('organisations', third, { licence_no }, 'identity_id')
  await expect(correct(licenceNo)).rejects.toMatchObject(sentence)
  await correct(`${licenceNo}-4`)
  await expect(edit('organisations', held, { holds_licence: false }, 'identity_id'))
    .rejects.toThrow(/identities.status/)
})

test('of ten claims that are approved at once one holds the licence', async () => {
  const claims = await Promise.all(
    Array.from({ length: 10 }, async () => claim(await signUp())),
  )
  const replies = await Promise.all(claims.map((id) => decide(id, 'approve')))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  expect(replies.find(({ status }) => status === 409)).toMatchObject(refusal(409, 'licence_in_use'))
})
