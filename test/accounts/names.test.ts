import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { database, guest, newEmail, newPhone, type Reply, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { pdf } from '../support/pdf.ts'
import { uploadDocuments } from '../support/uploads.ts'

type Vectors = { refused: string[]; taken: string[] }
const vectors = JSON.parse(
  readFileSync(new URL('../vectors/names.json', import.meta.url), 'utf8'),
) as Record<'people' | 'organisations' | 'titles', Vectors>

async function outcomes(
  names: string[],
  write: (name: string) => Promise<Reply>,
) {
  const answers: Record<string, string> = {}
  for (const name of names) {
    const { status, body } = await write(name)
    answers[name] = status < 300 ? 'taken' : `${body.error.code} ${body.error.fields?.[0].path}`
  }
  return answers
}
const all = (names: string[], outcome: string) =>
  Object.fromEntries(names.map((name) => [name, outcome]))

test('INP-22 names of people: of letters, and none by which the service or a badge speaks', async () => {
  const { refused, taken } = vectors.people
  const person = await signUp()
  const write = (fullName: string) => person.patch('/auth/me', { fullName })
  expect(await outcomes(refused, write)).toEqual(
    all(refused, 'validation_failed fullName'),
  )
  expect((await person.get('/auth/me')).body.user.fullName).toBe('سالم العنزي')
  expect(await outcomes(taken, write)).toEqual(all(taken, 'taken'))
})

test('INP-22 at registration a name that nobody may have is refused before anything is sent', async () => {
  const password = randomUUID()
  for (const fullName of ['Аdmin', 'سالم ✓', '12345']) {
    for (const identifier of [newEmail(), newPhone()]) {
      expect(
        await guest.post('/auth/register', { identifier, password, fullName }),
      ).toMatchObject({
        status: 422,
        body: { error: { fields: [{ path: 'fullName', code: 'invalid' }] } },
      })
    }
  }
})

test('INP-22 names of companies and offices', async () => {
  const { refused, taken } = vectors.organisations
  const person = await signUp()
  const office = {
    type: 'office',
    nameAr: 'مكتب الديرة',
    licenceNo: randomUUID().slice(0, 18),
    licenceExpiresOn: '2040-01-01',
  }
  for (const nameAr of refused.slice(0, 2)) {
    expect(
      (await person.post('/auth/identities', { ...office, nameAr })).status,
    ).toBe(422)
  }
  const { body: { id } } = await person.post('/auth/identities', office)
  const arabic = (nameAr: string) => person.patch(`/auth/identities/${id}`, { nameAr })
  const english = (nameEn: string) => person.patch(`/auth/identities/${id}`, { nameEn })
  expect(await outcomes(refused, arabic)).toEqual(
    all(refused, 'validation_failed nameAr'),
  )
  expect(await outcomes(refused, english)).toEqual(
    all(refused, 'validation_failed nameEn'),
  )
  expect(await outcomes(taken, arabic)).toEqual(all(taken, 'taken'))
  expect(await outcomes(taken, english)).toEqual(all(taken, 'taken'))
})

test('INP-22 a title has a letter, and no heap of marks; one that stood before may stay', async () => {
  const { refused, taken } = vectors.titles
  const person = await signUp()
  const { id } = await publishListing(person)
  const write = (titleAr: string) => person.patch(`/properties/${id}`, { titleAr })
  expect(await outcomes(refused, write)).toEqual(
    all(refused, 'validation_failed titleAr'),
  )
  expect(
    (await person.post('/properties', { type: 'SALE', titleEn: '12345' })).body
      .error.fields,
  )
    .toEqual([{
      path: 'titleEn',
      code: 'invalid',
      message: expect.any(String),
    }])
  expect(await outcomes(taken, write)).toEqual(all(taken, 'taken'))
  await database().query(
    `update public.properties set title_ar = '12345' where id = $1`,
    [id],
  )
  expect(
    await person.patch(`/properties/${id}`, { titleAr: '12345', bedrooms: 3 }),
  )
    .toMatchObject({ status: 200, body: { titleAr: '12345', bedrooms: 3 } })
  expect((await write('123456')).status).toBe(422)
})

test('INP-22 an older name stays, and its row can be written', async () => {
  const person = await signUp()
  await database().query(
    'update public.individual_profiles set full_name = $2 where account_id = $1',
    [person.id, 'Admin ✓'],
  )
  expect(
    (await person.patch('/auth/me', { fullName: 'Admin ✓', language: 'en' }))
      .body.user,
  )
    .toMatchObject({ fullName: 'Admin ✓', language: 'en' })
  expect((await person.patch('/auth/me', { fullName: 'Admin ✔' })).status).toBe(
    422,
  )
})

test('INP-22 a document has a name with a letter', async () => {
  const person = await signUp()
  const { body: { id } } = await person.post('/auth/identities', {
    type: 'office',
    nameAr: 'مكتب الديرة',
    licenceNo: randomUUID().slice(0, 18),
    licenceExpiresOn: '2040-01-01',
  })
  const send = (name: string) =>
    uploadDocuments(person, id, [{
      name,
      type: 'application/pdf',
      bytes: pdf(name),
    }])
  expect(await send('2026')).toMatchObject({
    status: 422,
    body: { error: { fields: [{ path: 'files', code: 'invalid' }] } },
  })
  expect((await person.get(`/auth/identities/${id}/documents`)).body.items)
    .toEqual([])
  expect((await send('2026.pdf')).status).toBe(201)
})
