import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { asCaller, database, guest, type Person, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'
import { bearer, race } from '../support/races.ts'
import { insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { problemOf, refusal } from '../support/problems.ts'
import {
  author,
  company,
  contact,
  listing,
  newCompanyForEach,
  owner,
  read,
  review,
} from './company.ts'

newCompanyForEach()

const age = (id: string, hours: number) =>
  database().query(
    `update public.reviews set created_at = created_at - make_interval(hours => $2),
       replied_at = replied_at - make_interval(hours => $2) where id = $1`,
    [id, hours],
  )

test('a review and a reply whose answers were lost are sent again with their key', async () => {
  await contact(author)
  const twice = async (person: Person, path: string, body: object, status: number) => {
    const key = ['Idempotency-Key', randomUUID()] as [string, string]
    const shot = { path, body, headers: [bearer(person), key] }
    const [one, two] = await race([shot, shot])
    expect([one!.status, two!.status, two!.body]).toEqual([status, status, one!.body])
    const other = await race([{
      ...shot,
      body: { ...body, ...(status === 201 ? { rating: 1 } : { body: 'غيره' }) },
    }])
    expect(other[0]).toMatchObject(refusal(422, 'idempotency_mismatch'))
    return one!.body
  }
  const given = { identityId: company, rating: 4, comment: 'تعامل راقٍ' }
  const written = await twice(author, '/reviews', given, 201)
  expect(await review(author)).toMatchObject(refusal(409, 'review_exists'))
  await actAs(owner, company)
  await twice(owner, `/reviews/${written.id}/reply`, { body: 'شكراً' }, 200)
  expect((await read()).body).toMatchObject({ count: 1, items: [{ rating: 4, reply: 'شكراً' }] })
})

test('ISO-15 a review needs a real contact first', async () => {
  expect(await review(author)).toMatchObject({
    status: 403,
    body: {
      error: {
        code: 'review_not_eligible',
        message: 'يمكنك التقييم بعد التواصل مع المعلن فقط',
      },
    },
  })
  await contact(author)
  const written = await review(author, { comment: '  تعامل راقٍ\nوسريع ', propertyId: listing })
  expect(written).toMatchObject({
    status: 201,
    body: {
      identityId: company,
      propertyId: listing,
      author: { identityId: author.identityId, type: 'individual', displayName: 'هند المطيري' },
      rating: 4,
      comment: 'تعامل راقٍ\nوسريع',
      reply: null,
      editedAt: null,
      isMine: true,
    },
  })
  expect((await read()).body).toEqual({
    items: [{ ...written.body, isMine: false }],
    nextCursor: null,
    average: 4,
    count: 1,
    histogram: { 1: 0, 2: 0, 3: 0, 4: 1, 5: 0 },
  })
  expect((await author.get(`/reviews?identityId=${company}`)).body.items[0].isMine).toBe(true)
  expect((await guest.get(`/company/${company}`)).body).toMatchObject({
    ratingAvg: 4,
    ratingCount: 1,
    reviews: { average: 4, count: 1 },
  })
  const other = await insertOrganisation(author.id, 'office')
  await actAs(author, other)
  expect(await review(author)).toMatchObject(refusal(403, 'review_not_eligible'))
})

test('ISO-15 a conversation is a contact once both have written in it', async () => {
  await actAs(owner, company)
  const { body: { id } } = await author.post('/conversations', { identityId: company })
  const write = (person: Person) =>
    person.post(`/conversations/${id}/messages`, {
      clientMessageId: randomUUID(),
      type: 'text',
      body: 'مرحبا',
    })
  expect(await review(author)).toMatchObject(refusal(403, 'review_not_eligible'))
  expect(await write(author)).toMatchObject({ status: 201 })
  expect(await review(author)).toMatchObject(refusal(403, 'review_not_eligible'))
  expect(await write(owner)).toMatchObject({ status: 201 })
  expect(await review(author)).toMatchObject({ status: 201 })
  await proveEmail(owner)
  expect(await review(owner, { identityId: author.identityId })).toMatchObject({ status: 201 })
})

test('ISO-15 nobody reviews themselves or an unknown identity', async () => {
  const own = await insertOrganisation(author.id, 'office')
  await database().query(`update public.identities set status = 'suspended' where id = $1`, [own])
  for (const identityId of [author.identityId, own]) {
    expect(await review(author, { identityId })).toMatchObject({
      status: 422,
      body: { error: { code: 'review_self', fields: [{ path: 'identityId' }] } },
    })
  }
  await contact(author)
  const none = problemOf(await review(author, { identityId: randomUUID() }))
  expect(none).toMatchObject({ status: 404, error: { code: 'identity_not_found' } })
  for (const status of ['suspended', 'expired', 'pending_verification', 'rejected']) {
    await database().query('update public.identities set status = $2 where id = $1', [
      company,
      status,
    ])
    expect(problemOf(await review(author))).toEqual(none)
    expect(await read()).toMatchObject(refusal(404, 'identity_not_found'))
  }
  await database().query(`update public.identities set status = 'active' where id = $1`, [company])
  expect(await review(author, { propertyId: randomUUID() }))
    .toMatchObject(refusal(404, 'property_not_found'))
  const elsewhere = await insertListing(owner.identityId)
  expect(await review(author, { propertyId: elsewhere }))
    .toMatchObject(refusal(404, 'property_not_found'))
  const hidden = await insertListing(company, { owner_type: 'company', status: 'paused' })
  expect(await review(author, { propertyId: hidden }))
    .toMatchObject(refusal(404, 'property_not_found'))
  expect(await review(author)).toMatchObject({ status: 201 })
})

test('ISO-15 an invalid review is refused', async () => {
  await contact(author)
  for (const rating of [0, 6, 4.5, '5', null, true, [5], -1, 1e9]) {
    expect(await review(author, { rating }), String(rating)).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'rating' }] } },
    })
  }
  expect(await author.post('/reviews', `{"identityId":"${company}","rating":NaN}`))
    .toMatchObject(refusal(400, 'body_not_json'))
  for (const comment of ['ت'.repeat(1001), 5, 'a\u0007b', {}]) {
    expect(await review(author, { comment })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'comment' }] } },
    })
  }
  for (const unknown of ['authorIdentityId', 'status', 'createdAt', 'reply', 'hiddenAt']) {
    expect(await review(author, { [unknown]: 'x' })).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: unknown, code: 'unknown' }] } },
    })
  }
  expect(await review(author, { comment: ` ${'ت'.repeat(1000)} ` })).toMatchObject({ status: 201 })
  expect(await author.get('/reviews')).toMatchObject({ status: 422 })
  expect(await author.get('/reviews?identityId=x')).toMatchObject({ status: 422 })
  expect(await guest.post('/reviews', { identityId: company, rating: 5 }))
    .toMatchObject(refusal(401, 'token_missing'))
})

test('ISO-15 twenty reviews of one author at once are one', async () => {
  await contact(author)
  const headers: [string, string][] = [['Authorization', `Bearer ${author.accessToken}`]]
  const replies = await race(Array.from({ length: 20 }, (_, i) => ({
    path: '/reviews',
    body: { identityId: company, rating: 1 + i % 5 },
    headers,
  })))
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
  expect(replies.find(({ status }) => status === 409))
    .toMatchObject(refusal(409, 'review_exists'))
  const { rows } = await database().query(
    'select count(*)::int as n from public.reviews where subject_identity_id = $1',
    [company],
  )
  expect(rows[0].n).toBe(1)
  expect((await read()).body.count).toBe(1)
})

test('ISO-15 only its author changes a review', async () => {
  await contact(author)
  const { body } = await review(author, { comment: 'جيد' })
  await actAs(owner, company)
  const stranger = await signUp()
  for (const person of [owner, stranger]) {
    const none = problemOf(await person.delete(`/reviews/${randomUUID()}`))
    expect(none).toMatchObject({ status: 404, error: { code: 'not_found' } })
    expect(problemOf(await person.delete(`/reviews/${body.id}`))).toEqual(none)
    expect(problemOf(await person.patch(`/reviews/${body.id}`, { rating: 1 }))).toEqual(none)
  }
  for (const person of [author, stranger]) {
    expect(await person.post(`/reviews/${body.id}/reply`, { body: 'شكراً' }))
      .toMatchObject(refusal(404, 'not_found'))
  }
  await actAs(author, await insertOrganisation(author.id, 'office'))
  expect(await author.delete(`/reviews/${body.id}`)).toMatchObject(refusal(404, 'not_found'))
  expect((await read()).body.items).toMatchObject([{ rating: 4, comment: 'جيد', reply: null }])
})

test('a review can be changed for 48 hours and withdrawn at any time', async () => {
  await contact(author)
  const { body } = await review(author, { comment: 'جيد' })
  const patch = (fields: unknown) => author.patch(`/reviews/${body.id}`, fields)
  expect(await patch({ rating: 2 })).toMatchObject({
    status: 200,
    body: { rating: 2, comment: 'جيد', editedAt: expect.any(String) },
  })
  expect((await read()).body).toMatchObject({ average: 2, histogram: { 2: 1, 4: 0 } })
  expect(await patch({ comment: null })).toMatchObject({ body: { rating: 2, comment: null } })
  expect(await patch({ rating: null })).toMatchObject({ body: { rating: 2 } })
  for (const wrong of [{ rating: 6 }, { comment: 5 }, { identityId: company }]) {
    expect(await patch(wrong), JSON.stringify(wrong)).toMatchObject({ status: 422 })
  }
  await age(body.id, 47)
  expect(await patch({ rating: 3 })).toMatchObject({ status: 200 })
  await age(body.id, 2)
  expect(await patch({ rating: 1 })).toMatchObject(refusal(409, 'review_edit_closed'))
  expect((await read()).body).toMatchObject({ average: 3, count: 1 })
  expect(await author.delete(`/reviews/${body.id}`)).toMatchObject({ status: 204 })
  expect(await author.delete(`/reviews/${body.id}`)).toMatchObject(refusal(404, 'not_found'))
  expect((await read()).body).toEqual({
    items: [],
    nextCursor: null,
    average: null,
    count: 0,
    histogram: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 },
  })
  expect((await guest.get(`/company/${company}`)).body)
    .toMatchObject({ ratingAvg: null, ratingCount: 0 })
  expect(await review(author)).toMatchObject({ status: 201 })
})

test('the subject replies once, and has 48 hours to edit the reply', async () => {
  await contact(author)
  const { body } = await review(author)
  await actAs(owner, company)
  const reply = (text: unknown) => owner.post(`/reviews/${body.id}/reply`, { body: text })
  for (const wrong of ['', '  ', 'ش'.repeat(1001), null, 5]) {
    expect(await reply(wrong)).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'body' }] } },
    })
  }
  const first = await reply('شكراً لك')
  expect(first).toMatchObject({ status: 200, body: { reply: 'شكراً لك', rating: 4 } })
  const second = await reply('شكراً جزيلاً')
  expect(second.body).toEqual({ ...first.body, reply: 'شكراً جزيلاً' })
  expect((await read()).body.items).toMatchObject([{ reply: 'شكراً جزيلاً' }])
  await age(body.id, 49)
  expect(await reply('غير ذلك')).toMatchObject(refusal(409, 'review_edit_closed'))
})

test('a review notifies its subject', async () => {
  await contact(author)
  const { body } = await review(author)
  const { items } = (await owner.get('/notifications')).body
  expect(items.filter(({ kind }: { kind: string }) => kind === 'review_new')).toMatchObject([
    { identityId: company, data: { entityId: body.id }, readAt: null },
  ])
})

test('individuals are reviewed as well', async () => {
  const { id } = await publishListing(owner)
  await contact(author, id)
  expect(await review(author, { identityId: owner.identityId, rating: 5 }))
    .toMatchObject({ status: 201, body: { identityId: owner.identityId } })
  expect((await read(owner.identityId)).body).toMatchObject({ average: 5, count: 1 })
})

test('past the facade the rules are the same', async () => {
  await contact(author)
  const call = (sql: string, values: unknown[] = []) =>
    asCaller(author, (client) => client.query(sql, values))
  for (const rating of [0, 6, null]) {
    await expect(call('select api.create_review($1, $2)', [company, rating]))
      .rejects.toMatchObject({ code: 'PT422' })
  }
  await expect(call('select api.create_review($1, 5, $2)', [company, 'x'.repeat(1001)]))
    .rejects.toMatchObject({ code: 'PT422' })
  await expect(call('select api.create_review(null, 5)')).rejects.toMatchObject({ code: 'PT404' })
  const { body } = await review(author)
  for (
    const fields of ['null', '[]', '{"rating":"5x"}', '{"rating":9}', '{"comment":5}', '{"id":1}']
  ) {
    await expect(call('select api.update_review($1, $2)', [body.id, fields]), fields)
      .rejects.toMatchObject({ code: 'PT422' })
  }
  for (
    const sql of [
      'update public.reviews set rating = 5',
      'delete from public.reviews',
      'select * from private.review_totals',
      `insert into public.reviews (author_identity_id, subject_identity_id, rating)
       values (private.identity_id(), private.identity_id(), 5)`,
    ]
  ) {
    await expect(call(sql), sql).rejects.toMatchObject({ code: '42501' })
  }
})

test('ISO-15 accounts that proved neither phone nor email do not review, whatever contact they had', async () => {
  const strangers = await Promise.all(Array.from({ length: 6 }, () => signUp()))
  for (const person of strangers) {
    await contact(person)
    const { body: { id } } = await person.post('/conversations', {
      identityId: company,
      message: 'مرحبا',
    })
    await actAs(owner, company)
    await owner.post(`/conversations/${id}/messages`, {
      clientMessageId: randomUUID(),
      type: 'text',
      body: 'أهلاً',
    })
    expect(await review(person, { rating: 1 })).toMatchObject(refusal(403, 'account_unproven'))
    await expect(
      asCaller(person, (client) => client.query('select api.create_review($1, 1)', [company])),
    ).rejects
      .toMatchObject({ code: 'PT403', message: 'account_unproven' })
  }
  expect((await read()).body.count).toBe(0)
  expect(await review(await signUp())).toMatchObject(refusal(403, 'account_unproven'))
  await proveEmail(strangers[0]!)
  expect(await review(strangers[0]!)).toMatchObject({ status: 201 })
})

test('ISO-15 an account has one review of a subject, whichever identity it acts as', async () => {
  await contact(author)
  expect(await review(author)).toMatchObject({ status: 201 })
  const other = await insertOrganisation(author.id, 'office')
  await actAs(author, other)
  await contact(author)
  expect(await review(author)).toMatchObject(refusal(409, 'review_exists'))
  expect((await read()).body.count).toBe(1)
  // After the review is withdrawn, the author's other identity may write one, and nobody can tell that both
  // identities belong to one person.
  await actAs(author, author.identityId)
  const { body } = await author.get(`/reviews?identityId=${company}`)
  await author.delete(`/reviews/${body.items[0].id}`)
  await actAs(author, other)
  expect(await review(author)).toMatchObject({ status: 201 })
  await actAs(owner, company)
  const seen = (column: string) =>
    asCaller(owner, (client) => client.query(`select ${column} from public.reviews`))
  expect((await seen('author_identity_id')).rows).toEqual([{ author_identity_id: other }])
  await expect(seen('author_account_id')).rejects.toMatchObject({ code: '42501' })
})

test('ISO-15 there is one review for each account and subject', async () => {
  const { rows } = await database().query(
    `select identities.account_id, subject_identity_id from public.reviews
     join public.identities on identities.id = author_identity_id
     group by 1, 2 having count(*) > 1`,
  )
  expect(rows).toEqual([])
})
