import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { actAs } from '../support/identities.ts'
import { drain, runJobs } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { fieldRefusal } from '../support/problems.ts'
import { storedFiles, uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'
import { byHand, decide } from './studio.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

let shade = 0
const picture = () => jpeg({ width: 8, height: 8, shade: shade++ })

const report = async (by: Person, targetType: string, targetId: string, more: object = {}) => {
  const { status, body } = await by.post('/reports', {
    targetType,
    targetId,
    reason: 'fraud',
    ...more,
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id as string
}

async function seen(targetId: string) {
  const { body } = await admin.get(`/admin/moderation?kind=report&targetId=${targetId}`)
  return body.items[0].report
}

const storedContent = async (id: string) =>
  (await database().query('select stored_content from public.reports where id = $1', [id])).rows[0]
    .stored_content

const decidedLongAgo = (id: string, age: string) =>
  database().query(
    'update public.reports set decided_at = now() - $2::interval where id = $1',
    [id, age],
  )

const nameOf = (url: string) => url.split('/').slice(-3).join('/')

async function pictured(person: Person) {
  const { id } = await publishListing(person, {
    titleAr: 'شاليه على البحر بسعر لقطة',
    descriptionAr: 'حوّل العربون اليوم',
    price: 1000,
  })
  const { body: { files } } = await uploadPictures(person, [picture(), picture()], {
    propertyId: id,
  })
  return { id, files }
}

async function makeHarmless(person: Person, id: string, mediaIds: string[]) {
  const fields = { titleAr: 'شاليه في الخيران', descriptionAr: null, price: 200000 }
  expect((await person.patch(`/properties/${id}`, fields)).status).toBe(200)
  for (const mediaId of mediaIds) {
    expect((await person.delete(`/properties/${id}/media/${mediaId}`)).status).toBe(204)
  }
}

test('ADM-20 a listing is made harmless after the report: then and now are seen, by route and in Studio', async () => {
  const [owner, reporter] = await Promise.all([signUp('صاحب الشاليه'), signUp()])
  const { id, files: [first, second] } = await pictured(owner)
  const reported = await report(reporter, 'property', id)
  await makeHarmless(owner, id, [first.mediaId])
  const then = {
    displayName: 'صاحب الشاليه',
    fields: {
      titleAr: 'شاليه على البحر بسعر لقطة',
      descriptionAr: 'حوّل العربون اليوم',
      price: 1000,
    },
    pictures: [{ id: first.mediaId, url: first.url }, { id: second.mediaId, url: second.url }],
  }
  const now = {
    fields: { titleAr: 'شاليه في الخيران', price: 200000 },
    pictures: [{ id: second.mediaId }],
  }
  const item = await seen(id)
  expect(item).toMatchObject({ then, now, target: { text: 'شاليه في الخيران' } })
  expect(item.now.fields).not.toHaveProperty('descriptionAr')
  const { rows } = await byHand(
    `select reported_as, now_is, has_changed, says from public.admin_reports where id = $1`,
    [reported],
  )
  expect(rows).toMatchObject([{
    reported_as: item.then,
    now_is: item.now,
    has_changed: true,
    says: 'شاليه في الخيران',
  }])

  expect((await owner.delete(`/properties/${id}`)).status).toBe(204)
  expect(await seen(id)).toMatchObject({ then, target: { status: 'deleted', accountId: owner.id } })
  expect((await decide(admin, reported, 'uphold')).status).toBe(200)
})

test('ADM-20 pictures of a report stay until 180 days after the decision, and never go while it is open', async () => {
  const [owner, reporter] = await Promise.all([signUp(), signUp()])
  const { id, files: [first, second] } = await pictured(owner)
  const reported = await report(reporter, 'property', id)
  const { body: { files: [later] } } = await uploadPictures(owner, [picture()], { propertyId: id })
  await makeHarmless(owner, id, [first.mediaId, second.mediaId, later.mediaId])
  const gone = async (url: string) => !(await storedFiles(owner.identityId)).includes(nameOf(url))
  const goes = (url: string) =>
    waitUntil('the file is removed', async () => {
      await runJobs()
      return await gone(url)
    })
  await goes(later.url)
  expect([await gone(first.url), await gone(second.url)]).toEqual([false, false])

  await decide(admin, reported, 'dismiss')
  await decidedLongAgo(reported, '179 days 23 hours')
  await drain('empty_reports')
  expect(await storedContent(reported)).toMatchObject({ fields: { price: 1000 } })
  await decidedLongAgo(reported, '180 days')
  await drain('empty_reports')
  expect(await storedContent(reported)).toBe(null)
  await goes(first.url)
  await goes(second.url)
})

test('ADM-20 an open report is never emptied, however old it is', async () => {
  const [owner, reporter] = await Promise.all([signUp(), signUp()])
  const { id } = await publishListing(owner)
  const reported = await report(reporter, 'property', id)
  await database().query(
    `update public.reports set created_at = now() - interval '3 years' where id = $1`,
    [reported],
  )
  await drain('empty_reports')
  expect(await storedContent(reported)).not.toBe(null)
})

test('ADM-20 a review is edited, then deleted, after the report', async () => {
  const [author, subject] = await Promise.all([signUp('كاتب التقييم'), signUp()])
  const { rows: [{ id }] } = await database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating, comment)
     values ($1, $2, 1, 'كلام مسيء جداً') returning id`,
    [author.identityId, subject.identityId],
  )
  await report(subject, 'review', id, { reason: 'offensive' })
  await author.patch(`/reviews/${id}`, { comment: 'شكراً لكم', rating: 5 })
  const then = { displayName: 'كاتب التقييم', fields: { rating: 1, comment: 'كلام مسيء جداً' } }
  expect(await seen(id)).toMatchObject({
    then,
    now: { fields: { rating: 5, comment: 'شكراً لكم' } },
    target: { status: 'shown' },
  })
  expect((await author.delete(`/reviews/${id}`)).status).toBe(204)
  expect(await seen(id)).toMatchObject({
    then,
    now: null,
    target: { accountId: author.id, displayName: 'كاتب التقييم', status: null, text: null },
  })
})

test('ADM-20 who poses as somebody renames itself and changes its picture and page after the report', async () => {
  const [person, reporter] = await Promise.all([signUp('بنك الكويت الوطني'), signUp()])
  const { body: avatar } = await uploadAvatar(person, picture())
  await person.patch('/auth/me', { avatarMediaId: avatar.mediaId })
  await report(reporter, 'identity', person.identityId, { reason: 'impersonation' })
  const { body: other } = await uploadAvatar(person, picture())
  await person.patch('/auth/me', { fullName: 'فهد العنزي', avatarMediaId: other.mediaId })
  expect(await seen(person.identityId)).toMatchObject({
    then: { displayName: 'بنك الكويت الوطني', pictures: [{ url: avatar.url }] },
    now: { displayName: 'فهد العنزي', pictures: [{ url: other.url }] },
  })

  const office = await insertOrganisation(person.id, 'office')
  await actAs(person, office)
  const page = { aboutAr: 'الوكيل الرسمي للحكومة', website: 'https://example.com/gov' }
  expect((await person.patch('/office/profile', page)).status).toBe(200)
  await report(reporter, 'identity', office)
  expect((await person.patch('/office/profile', { aboutAr: null })).status).toBe(200)
  const item = await seen(office)
  expect(item.then.fields).toMatchObject(page)
  expect(item.now.fields).not.toHaveProperty('aboutAr')
})

test('ADM-20 a picture of a message is reported alone, and goes with the message that is hidden', async () => {
  const { a, b, conversationId } = await startConversation()
  const { body: { files: [file] } } = await uploadPictures(a, [picture()], {
    uploadSessionId: randomUUID(),
  })
  const { body: sent } = await postMessage(a, conversationId, {
    clientMessageId: randomUUID(),
    type: 'image',
    mediaId: file.mediaId,
    body: 'تفضل',
  })
  const { body: text } = await postMessage(a, conversationId, 'بلا صورة')
  const wrong = { targetType: 'message', targetId: text.id, reason: 'offensive', part: 'picture' }
  expect(await b.post('/reports', wrong)).toMatchObject(
    fieldRefusal(422, 'validation_failed', 'part'),
  )
  const person = { ...wrong, targetType: 'identity', targetId: a.identityId }
  expect(await b.post('/reports', person)).toMatchObject(
    fieldRefusal(422, 'validation_failed', 'part'),
  )
  expect((await b.post('/reports', { ...wrong, part: 'text' })).status).toBe(422)

  const id = await report(b, 'message', sent.id, { part: 'picture' })
  expect(await seen(sent.id)).toMatchObject({
    part: 'picture',
    then: { fields: { type: 'image' }, pictures: [{ id: file.mediaId, url: sent.mediaUrl }] },
  })
  expect(JSON.stringify(await storedContent(id))).not.toContain('تفضل')
  expect((await decide(admin, id, 'uphold')).status).toBe(200)
  await waitUntil('the file is removed', async () => {
    await runJobs()
    return !(await storedFiles(a.identityId)).includes(nameOf(sent.mediaUrl))
  })
})

test('ADM-20 an edit at the moment of the report is kept whole or not at all', async () => {
  const [owner, reporter] = await Promise.all([signUp(), signUp()])
  for (let round = 0; round < 5; round++) {
    const { id } = await publishListing(owner, { titleAr: 'عنوان أول للعقار', price: 1 })
    const [made] = await Promise.all([
      report(reporter, 'property', id),
      owner.patch(`/properties/${id}`, { titleAr: 'عنوان آخر للعقار', price: 2 }),
    ])
    const { fields } = await storedContent(made)
    expect([['عنوان أول للعقار', 1], ['عنوان آخر للعقار', 2]])
      .toContainEqual([fields.titleAr, fields.price])
  }
})

test('ADM-20 the export has what was reported and not who reported it, of messages nothing', async () => {
  const { a, b, conversationId } = await startConversation()
  const { id, titleAr } = await publishListing(a)
  const { body: message } = await postMessage(a, conversationId, 'كلام يسيء')
  await report(b, 'property', id, { note: 'أعرفه من المجلس' })
  await report(b, 'message', message.id)
  await a.patch(`/properties/${id}`, { titleAr: 'عنوان جديد تماماً' })
  const { body } = await a.get('/auth/me/export')
  expect(body.reports).toEqual([])
  const { reported } = body.identities[0]
  expect(reported).toEqual([{
    targetType: 'property',
    targetId: id,
    reason: 'fraud',
    content: expect.objectContaining({ fields: expect.objectContaining({ titleAr }) }),
  }])
  expect(JSON.stringify(reported)).not.toMatch(new RegExp(`${b.id}|${b.identityId}|المجلس`))
  const { body: theirs } = await b.get('/auth/me/export')
  expect(theirs.identities[0].reported).toEqual([])
  expect(theirs.reports).toHaveLength(2)
  expect(JSON.stringify(theirs.reports)).not.toContain(titleAr)
})

test('ADM-20 what decided reports keep goes with the account, what open ones keep with the decision', async () => {
  const [owner, reporter] = await Promise.all([signUp(), signUp()])
  const [decided, open] = [await publishListing(owner), await publishListing(owner)]
  const dismissed = await report(reporter, 'property', decided.id)
  const waiting = await report(reporter, 'property', open.id)
  await decide(admin, dismissed, 'dismiss')
  expect(await storedContent(dismissed)).not.toBe(null)
  await database().query('delete from auth.users where id = $1', [owner.id])
  expect(await storedContent(dismissed)).toBe(null)
  expect(await storedContent(waiting)).toMatchObject({ fields: { titleAr: open.titleAr } })
  expect(await seen(open.id)).toMatchObject({
    then: { fields: { titleAr: open.titleAr } },
    target: { accountId: owner.id, displayName: 'حساب محذوف' },
  })
  await decide(admin, waiting, 'dismiss')
  expect(await storedContent(waiting)).toBe(null)
})

test('ADM-20 a decision and a deletion of the account at once leave nothing behind', async () => {
  for (let round = 0; round < 4; round++) {
    const [owner, reporter] = await Promise.all([signUp(), signUp()])
    const id = await report(reporter, 'identity', owner.identityId)
    await Promise.all([
      decide(admin, id, 'dismiss'),
      database().query('delete from auth.users where id = $1', [owner.id]),
    ])
    expect(await storedContent(id)).toBe(null)
  }
})
