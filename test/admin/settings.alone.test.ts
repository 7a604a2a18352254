// The settings apply to everybody, so these tests run alone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPlan } from '../billing/purchases.ts'
import { auditOf, byTokenAlone, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { fieldRefusal, refusal, unknownId } from '../support/problems.ts'
import { edit } from './studio.ts'

let admin: Person
let other: Person
let before: string

const conflict = refusal(409, 'version_conflict')

const settings = async () => (await admin.get('/admin/settings')).body.items
const settingOf = async (name: string) =>
  (await settings()).find((one: { name: string }) => one.name === name)
const set = (name: string, version: number, value: unknown, by = admin) =>
  by.patch('/admin/settings', { name, version, value: JSON.stringify(value) })

const planOf = async (id: string) =>
  (await admin.get('/admin/plans')).body.items.find((one: { id: string }) => one.id === id)

beforeAll(async () => {
  ;[admin, other] = await Promise.all([signUpAdmin(), signUpAdmin()])
  before = (await settingOf('seller')).value
})

afterAll(() =>
  database().query(`update private.settings set value = $1 where name = 'seller'`, [before])
)

describe('ADM-29 two change one setting', () => {
  const seller = (nameAr: string) => ({ ...JSON.parse(before), nameAr })

  test('what was changed since a form was shown is not overwritten', async () => {
    const shown = await settingOf('seller')
    expect(shown).toEqual({
      name: 'seller',
      value: expect.any(String),
      note: expect.any(String),
      version: expect.any(Number),
    })
    const saved = await set('seller', shown.version, seller('سوق الديرة'))
    expect(saved.status).toBe(200)
    expect(JSON.parse(saved.body.value)).toEqual(seller('سوق الديرة'))
    expect(await set('seller', shown.version, seller('سوق آخر'), other)).toMatchObject(conflict)
    const now = await settingOf('seller')
    expect([now.version, JSON.parse(now.value).nameAr]).toEqual([saved.body.version, 'سوق الديرة'])

    await edit(
      'private.settings',
      'seller',
      { value: JSON.stringify(seller('من الاستوديو')) },
      'name',
    )
    expect(await set('seller', now.version, seller('سوق آخر'))).toMatchObject(conflict)
    const { version } = await settingOf('seller')
    const answers = await Promise.all([
      set('seller', version, seller('الأول')),
      set('seller', version, seller('الثاني'), other),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])

    const { body } = await admin.get(
      `/admin/audit?actorId=${admin.id}&action=setting.changed&sort=oldest`,
    )
    expect(body.items[0]).toMatchObject({
      targetType: 'setting',
      before: { name: 'seller', value: JSON.parse(before) },
      after: { name: 'seller', value: seller('سوق الديرة') },
    })
  })

  test('a value that could not be used, and what the functions write, stay', async () => {
    const { version, value } = await settingOf('review_listings')
    const invalid = fieldRefusal(422, 'validation_failed', 'value')
    expect(await set('review_listings', version, 'yes')).toMatchObject(invalid)
    const broken = { name: 'review_listings', version, value: '{' }
    expect(await admin.patch('/admin/settings', broken)).toMatchObject(invalid)
    expect((await settingOf('review_listings')).value).toBe(value)
    const names = (await settings()).map(({ name }: { name: string }) => name)
    expect(names).toEqual(names.toSorted())
    for (const name of ['files_url', 'share_url', 'codes_are_sent', 'nothing']) {
      expect(names).not.toContain(name)
      expect(await set(name, 1, 'x')).toMatchObject(refusal(404, 'not_found'))
    }
  })

  test('nobody else does, nor does a token alone, past the facade neither', async () => {
    const person = await signUp()
    const planId = await newPlan()
    const bodies = {
      '/admin/settings': { name: 'seller', version: 1, value: '1' },
      [`/admin/plans/${planId}`]: { version: 1 },
    }
    for (const [path, body] of Object.entries(bodies)) {
      expect(await byTokenAlone(admin).patch(path, body)).toMatchObject(
        refusal(403, 'proof_required'),
      )
      expect(await person.patch(path, body)).toMatchObject(refusal(403, 'admin_only'))
    }
    for (const list of ['plans', 'settings']) {
      expect((await byTokenAlone(admin).get(`/admin/${list}`)).status).toBe(200)
      expect(await person.get(`/admin/${list}`)).toMatchObject(refusal(403, 'admin_only'))
      const { status, text } = await callDataApi(person, `list_admin_${list}`)
      expect([status, text]).toEqual([403, expect.stringContaining('admin_only')])
    }
    for (const name of ['change_plan', 'change_setting']) {
      expect((await callDataApi(admin, name, { version: 1 })).status).toBe(404)
    }
  })
})

describe('ADM-29 two change one plan', () => {
  test('one is saved, with its effects and in the trail', async () => {
    const id = await newPlan({ price: 10 })
    const shown = await planOf(id)
    expect(shown).toMatchObject({ price: 10, activeListings: 7, onSale: true })
    const change = (version: number, body: object, by = admin) =>
      by.patch(`/admin/plans/${id}`, { version, ...body })
    const saved = await change(shown.version, { price: 7.5, nameAr: 'باقة الديرة' })
    expect(saved.body).toEqual({
      ...shown,
      price: 7.5,
      nameAr: 'باقة الديرة',
      version: expect.any(Number),
    })
    expect(await change(shown.version, { price: 9 }, other)).toMatchObject(conflict)
    expect(await planOf(id)).toEqual(saved.body)
    expect(await auditOf(admin, id)).toMatchObject([{
      action: 'plan.changed',
      actor: { id: admin.id },
      before: { price: 10, name_ar: 'باقة تجريبية' },
      after: { price: 7.5, name_ar: 'باقة الديرة' },
    }])

    const version = saved.body.version
    const answers = await Promise.all([
      change(version, { onSale: false }),
      change(version, { activeListings: 9 }, other),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const now = await planOf(id)
    if (now.onSale) await change(now.version, { onSale: false })
    const onSale = (await admin.get('/plans')).body.items.map((one: { id: string }) => one.id)
    expect(onSale).not.toContain(id)
    const { version: last } = await planOf(id)
    await edit('plans', id, { active_listings: 11 })
    expect(await change(last, { price: 1 })).toMatchObject(conflict)
    const { version: of } = await planOf(id)
    expect((await change(of, {})).body.version).toBe(of)
  })

  test('what a plan cannot be is refused by the name of its field', async () => {
    const id = await newPlan()
    const { version } = await planOf(id)
    for (
      const [name, value] of [
        ['price', -1],
        ['price', 1.0005],
        ['intervalDays', 0],
        ['photosPerListing', 41],
        ['nameAr', ' '],
        ['nameEn', 'a\u0007b'],
      ] as const
    ) {
      expect(await admin.patch(`/admin/plans/${id}`, { version, [name]: value }), name)
        .toMatchObject(fieldRefusal(422, 'validation_failed', name))
    }
    expect((await planOf(id)).version).toBe(version)
    expect(await admin.patch(`/admin/plans/${unknownId}`, { version }))
      .toMatchObject(refusal(404, 'plan_not_found'))
    expect((await guest.get('/admin/plans')).status).toBe(401)
  })
})
