import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { byHand } from './studio.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const waiting = async (accountId: string) =>
  (await admin.get(`/admin/moderation?accountId=${accountId}`)).body

test('ADM-25 a change of a page is there before and after, with what was noted about it', async () => {
  const owner = await signUp()
  const office = await insertOrganisation(owner.id, 'office')
  await owner.patch(`/auth/identities/${office}`, { nameAr: 'دار الفنطاس العقارية' })
  for (const text of ['اتصلنا به', 'وعد بإرسال الرخصة']) {
    await admin.post('/admin/notes', { targetType: 'identity', targetId: office, text })
  }
  await admin.post('/admin/notes', { targetType: 'account', targetId: owner.id, text: 'أخرى' })
  const { items: [item] } = await waiting(owner.id)
  expect(item).toMatchObject({
    id: office,
    kind: 'identity',
    changes: { nameAr: 'دار الفنطاس العقارية' },
    before: { nameAr: 'شركة الديرة العقارية' },
    pictures: null,
    notes: [{ text: 'وعد بإرسال الرخصة', by: { id: admin.id } }, { text: 'اتصلنا به' }],
  })
  expect(item.notes).toHaveLength(2)
})

test('ADM-25 usual reasons are rows, and what an administrator adds is there at once', async () => {
  const { reasons } = await waiting(admin.id)
  for (const kind of ['listing', 'changes', 'identity', 'report', 'duplicate_suspected']) {
    const usual = reasons.filter(({ kinds }: { kinds: string[] }) => kinds.includes(kind))
    expect(usual.length, kind).toBeGreaterThan(1)
  }
  expect(reasons[0]).toEqual({
    code: 'pictures',
    textAr: 'الصور غير واضحة أو لا تخص العقار',
    textEn: 'The pictures are unclear, or not of the property',
    kinds: ['listing', 'changes'],
  })
  const code = `planted-${randomUUID()}`
  try {
    await byHand(
      `insert into public.vocabularies (vocabulary, code, text_ar, text_en, note, position)
       values ('decision_reason', $1, 'إعلان وسيط بلا رخصة', 'A broker without a licence', 'report,listing، other ، identity', 99)`,
      [code],
    )
    expect((await waiting(admin.id)).reasons.at(-1)).toEqual({
      code,
      textAr: 'إعلان وسيط بلا رخصة',
      textEn: 'A broker without a licence',
      kinds: ['report', 'listing', 'identity'],
    })
  } finally {
    await database().query('delete from public.vocabularies where code = $1', [code])
  }
})
