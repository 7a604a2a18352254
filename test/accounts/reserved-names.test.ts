import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, guest, inboxOf, newEmail, newPhone, signUp } from '../support/client.ts'

const refused = (path: string) => ({
  status: 422,
  body: { error: { code: 'validation_failed', fields: [{ path, code: 'invalid' }] } },
})

const reserved = [
  'إدارة التطبيق',
  'الأداره',
  'فريق الدَّعم الفنـي',
  'تنبيه هام',
  'خدمة  العملاء',
  'سوق العقار الكويتي',
  'ADMIN',
  'Customer\u3000Support',
  'Ｋuwait Property Market',
]
const free = ['سالم العنزي', 'نظام الدعمي', 'Amin Systemov', 'مشرف الرسمي']

test.each(reserved)('INP-21 nobody is called %s', async (fullName) => {
  const password = randomUUID()
  const phone = newPhone()
  for (const identifier of [newEmail(), phone]) {
    expect(await guest.post('/auth/register', { identifier, password, fullName }))
      .toMatchObject(refused('fullName'))
    expect((await guest.post('/auth/login', { identifier, password })).status).toBe(401)
  }
  expect(await inboxOf(phone)).toEqual([])
  const person = await signUp()
  expect(await person.patch('/auth/me', { fullName })).toMatchObject(refused('fullName'))
  expect((await person.get('/auth/me')).body.user.fullName).toBe('سالم العنزي')
})

test('a name that only looks like one of those is anybody’s', async () => {
  for (const name of free) {
    const person = await signUp(name)
    expect((await person.get('/auth/me')).body.user.fullName).toBe(name)
  }
})

test('an admin verifies companies and offices: of them fewer words are kept', async () => {
  const person = await signUp()
  const ask = (nameAr: string, nameEn?: string) =>
    person.post('/auth/identities', {
      type: 'office',
      nameAr,
      nameEn,
      licenceNo: randomUUID().slice(0, 18),
      licenceExpiresOn: '2040-01-01',
    })
  expect(await ask('شركة سوق العقار')).toMatchObject(refused('nameAr'))
  expect(await ask('مكتب الديرة', 'Kuwait Property Market')).toMatchObject(refused('nameEn'))
  const { status, body } = await ask('مكتب إدارة العقارات', 'Deera Property Support')
  expect(status).toBe(201)
  expect(await person.patch(`/auth/identities/${body.id}`, { nameAr: 'تنبيه للعقار' }))
    .toMatchObject(refused('nameAr'))
})

test('a name that stood before its words were kept may stay', async () => {
  const person = await signUp()
  await database().query(
    'update public.individual_profiles set full_name = $2 where account_id = $1',
    [person.id, 'إدارة قديمة'],
  )
  expect((await person.patch('/auth/me', { fullName: 'إدارة قديمة', language: 'en' })).body.user)
    .toMatchObject({ fullName: 'إدارة قديمة', language: 'en' })
  expect((await person.patch('/auth/me', { fullName: 'إدارة جديدة' })).status).toBe(422)
})

test('which words these are is what the setting says, and the name of the service by itself', async () => {
  const client = await database().connect()
  const is = async (name: string, ofPerson: boolean) =>
    (await client.query('select private.is_reserved_name($1, $2) as it', [name, ofPerson])).rows[0]
      .it
  try {
    await client.query('begin')
    await client.query(
      `update private.settings set value = '{"everybody":["المرجع"],"people":["مندوب"]}'
       where name = 'reserved_names'`,
    )
    await client.query(
      `update private.settings set value = value || '{"nameAr":"ديرة العقار"}' where name = 'seller'`,
    )
    expect(await is('مرجع الكويت', false)).toBe(true)
    expect([await is('مندوب مبيعات', false), await is('مندوب مبيعات', true)]).toEqual([false, true])
    expect(await is('شركة ديره العقار', false)).toBe(true)
    expect(await is('إدارة', true)).toBe(false)
  } finally {
    await client.query('rollback')
    client.release()
  }
})
