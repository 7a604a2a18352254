import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { refusal } from '../support/problems.ts'
import { author, contact, newCompanyForEach, read, review } from './company.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})
newCompanyForEach()

const hidden = refusal(403, 'review_hidden')
async function hide(id: string) {
  const { body: report } = await (await signUp()).post('/reports', {
    targetType: 'review',
    targetId: id,
    reason: 'offensive',
  })
  const decided = await admin.post(`/admin/moderation/${report.id}/decide`, {
    decision: 'uphold',
    reason: 'كلام مسيء',
  })
  expect(decided.status).toBe(200)
}
async function written(): Promise<string> {
  await contact(author)
  return (await review(author, { rating: 1, comment: 'كلام مسيء' })).body.id
}

test('a hidden review may be edited and deleted, and there is no other for two years', async () => {
  const id = await written()
  await hide(id)
  expect(await review(author)).toMatchObject(hidden)
  expect((await author.patch(`/reviews/${id}`, { comment: 'كلام مهذب' })).status).toBe(200)
  expect((await read()).body).toMatchObject({ count: 0, items: [] })
  expect((await author.delete(`/reviews/${id}`)).status).toBe(204)
  expect(await review(author)).toMatchObject(hidden)
  expect((await read()).body).toMatchObject({ count: 0, average: null })
  await actAs(author, await insertOrganisation(author.id, 'office'))
  await contact(author)
  expect(await review(author)).toMatchObject(hidden)

  const age = (by: string) =>
    database().query(
      `update private.review_notices set hidden_at = hidden_at - $2::interval
       where author_account_id = $1`,
      [author.id, by],
    )
  await age('729 days')
  expect(await review(author)).toMatchObject(hidden)
  await age('3 days')
  expect((await review(author)).status).toBe(201)
})

test('an administrator brings it back: then it is one like any other', async () => {
  const id = await written()
  await hide(id)
  await database().query('update public.reviews set hidden_at = null where id = $1', [id])
  expect((await read()).body).toMatchObject({ count: 1 })
  expect(await review(author)).toMatchObject(refusal(409, 'review_exists'))
  await author.delete(`/reviews/${id}`)
  expect((await review(author)).status).toBe(201)
})

test('others, and the same person about others, are not concerned', async () => {
  await hide(await written())
  const other = await signUp()
  await database().query('update public.accounts set email_proven = true where id = $1', [other.id])
  await contact(other)
  expect((await review(other)).status).toBe(201)
  const elsewhere = await insertOrganisation((await signUp()).id)
  expect(await review(author, { identityId: elsewhere }))
    .toMatchObject(refusal(403, 'review_not_eligible'))
})

test('deleting, writing anew and hiding at once leave no review that is shown', async () => {
  const id = await written()
  await Promise.all([
    database().query('update public.reviews set hidden_at = now() where id = $1', [id]),
    ...Array.from({ length: 4 }, () => review(author)),
  ])
  await Promise.all([
    author.delete(`/reviews/${id}`),
    ...Array.from({ length: 4 }, () => review(author)),
  ])
  expect(await review(author)).toMatchObject(hidden)
  expect((await read()).body.count).toBe(0)
})

test('past the facade nobody reads or lifts the mark', async () => {
  const { rows } = await database().query(
    `select has_table_privilege(role, 'private.review_notices', what) as may
     from unnest('{anon,authenticated,service_role}'::text[]) as role,
       unnest('{select,insert,update,delete}'::text[]) as what
     where role <> 'service_role'`,
  )
  expect(rows.every(({ may }) => !may)).toBe(true)
})
