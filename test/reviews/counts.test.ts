import { expect, test } from 'vitest'
import { database, guest, newPhone, type Person, signUp } from '../support/client.ts'
import { bearer, race } from '../support/races.ts'
import { givePhone, proveEmail, takePhone } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { refusal } from '../support/problems.ts'
import { author, company, contact, newCompanyForEach, owner, read, review } from './company.ts'

newCompanyForEach()

async function crowd(size: number): Promise<Person[]> {
  const people: Person[] = []
  while (people.length < size) {
    // People sign up a few at a time, because hashing passwords takes time.
    const some = await Promise.all(Array.from({ length: 5 }, () => signUp()))
    await Promise.all(some.map((person) => proveEmail(person)))
    await Promise.all(some.map((person) => contact(person)))
    people.push(...some)
  }
  return people
}

async function counted() {
  const { rows } = await database().query(
    `select rating, count(*)::int as n from public.reviews
     where subject_identity_id = $1 and listed group by rating`,
    [company],
  )
  const histogram = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, 0]))
  for (const { rating, n } of rows) histogram[rating] = n
  const count = rows.reduce((sum, { n }) => sum + n, 0)
  const sum = rows.reduce((all, { rating, n }) => all + rating * n, 0)
  const average = count ? Math.round(sum / count * 100) / 100 : null
  const { items: _items, nextCursor: _next, ...said } = (await read()).body
  return { said, true: { average, count, histogram } }
}

test('fifty reviews at once, then changes and withdrawals among new ones, count exactly', async () => {
  const people = await crowd(50)
  const first = people.slice(0, 35)
  const written = await race(first.map((person, i) => ({
    path: '/reviews',
    body: { identityId: company, rating: 1 + i % 5 },
    headers: [bearer(person)],
  })))
  expect(new Set(written.map(({ status }) => status))).toEqual(new Set([201]))
  const after = await counted()
  expect(after.said).toEqual(after.true)
  expect(after.said).toEqual({
    average: 3,
    count: 35,
    histogram: { 1: 7, 2: 7, 3: 7, 4: 7, 5: 7 },
  })

  const mixed = await Promise.all([
    ...first.slice(0, 12).map((person, i) => person.delete(`/reviews/${written[i].body.id}`)),
    ...first.slice(12, 35).map((person, i) =>
      person.patch(`/reviews/${written[12 + i].body.id}`, { rating: 1 + (i * 3) % 5 })
    ),
    ...people.slice(35).map((person, i) => review(person, { rating: 1 + i % 2 * 4 })),
    ...people.slice(35).map((person) => review(person, { rating: 1 })),
  ])
  expect(mixed.filter(({ status }) => status === 409)).toHaveLength(15)
  expect(mixed.filter(({ status }) => status >= 500)).toEqual([])
  const last = await counted()
  expect(last.said).toEqual(last.true)
  expect(last.said.count).toBe(38)
  expect((await guest.get(`/company/${company}`)).body)
    .toMatchObject({ ratingAvg: last.said.average, ratingCount: 38 })

  const found: string[] = []
  for (let cursor = '';;) {
    const { body } = await read(company, `&limit=7${cursor}`)
    expect(body.count).toBe(38)
    found.push(...body.items.map(({ id }: { id: string }) => id))
    if (!body.nextCursor) break
    cursor = `&cursor=${body.nextCursor}`
  }
  expect(found).toHaveLength(38)
  expect(new Set(found).size).toBe(38)
  const { body } = await read(company, '&limit=7')
  expect(await read(owner.identityId, `&cursor=${body.nextCursor}`))
    .toMatchObject(refusal(422, 'cursor_invalid'))
})

test("a suspended author's reviews are not shown, a deleted one leaves the rating only", async () => {
  await contact(author)
  await review(author, { rating: 2, comment: 'تجربة هند' })
  const account = (status: string) =>
    database().query('update public.accounts set status = $2 where id = $1', [author.id, status])
  const identity = (status: string) =>
    database().query('update public.identities set status = $2 where id = $1', [
      author.identityId,
      status,
    ])
  const shown = async () => (await read()).body
  for (const status of ['suspended', 'banned']) {
    await account(status)
    expect(await shown()).toMatchObject({ items: [], count: 0, average: null })
    await account('active')
    expect(await shown()).toMatchObject({ items: [{ rating: 2 }], count: 1, average: 2 })
  }
  await identity('suspended')
  expect(await shown()).toMatchObject({ items: [], count: 0 })
  await identity('active')
  await database().query('select private.anonymise_account($1)', [author.id])
  expect(await shown()).toMatchObject({
    items: [{ rating: 2, comment: null, author: { displayName: 'حساب محذوف', avatarUrl: null } }],
    count: 1,
    average: 2,
  })
})

test('ISO-15 one phone that proves six accounts in turn counts as one', async () => {
  const phone = newPhone()
  const shown = async () => {
    const { body: { items, count, average } } = await read()
    const { body: { ratingAvg, ratingCount } } = await guest.get(`/company/${company}`)
    expect([items.length, count, average]).toEqual([ratingCount, ratingCount, ratingAvg])
    return ratingCount
  }
  const people: Person[] = []
  for (const _ of Array(6)) {
    const person = await signUp()
    await database().query('update auth.users set email = null where id = $1', [person.id])
    await givePhone(person, phone)
    await contact(person)
    expect(await review(person, { rating: 1 })).toMatchObject({ status: 201 })
    expect(await shown()).toBe(1)
    await takePhone(person)
    expect(await shown()).toBe(0)
    people.push(person)
  }
  await givePhone(people[0]!, phone)
  await givePhone(people[1]!)
  expect(await shown()).toBe(2)
  // A rating that counted until its author's account was deleted still counts afterwards.
  for (const { id } of people.slice(1, 3)) {
    await database().query('select private.anonymise_account($1)', [id])
  }
  expect(await shown()).toBe(2)
})

test('a banned author who is deleted stays hidden', async () => {
  await contact(author)
  await review(author, { rating: 1 })
  await database().query(`update public.accounts set status = 'banned' where id = $1`, [author.id])
  await database().query('select private.anonymise_account($1)', [author.id])
  expect((await read()).body).toMatchObject({ items: [], count: 0 })
})

test('a review hidden by an admin is neither shown nor counted, and stays hidden', async () => {
  await contact(author)
  const { body } = await review(author, { rating: 1, comment: 'كلام مسيء' })
  const hide = (at: string | null) =>
    database().query('update public.reviews set hidden_at = $2 where id = $1', [body.id, at])
  await hide('2026-11-01')
  expect((await read()).body).toMatchObject({ items: [], count: 0, average: null })
  expect(await author.patch(`/reviews/${body.id}`, { rating: 5 })).toMatchObject({ status: 200 })
  expect(await review(author)).toMatchObject(refusal(403, 'review_hidden'))
  await actAs(owner, company)
  expect(await owner.post(`/reviews/${body.id}/reply`, { body: 'رد' }))
    .toMatchObject(refusal(404, 'not_found'))
  expect((await read()).body.count).toBe(0)
  await hide(null)
  expect((await read()).body).toMatchObject({ count: 1, average: 5 })
})
