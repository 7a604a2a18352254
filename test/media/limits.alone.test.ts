// The review setting, rate limits and the free plan apply to all accounts, so these tests run alone.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { conversationBetween, postMessage } from '../support/conversations.ts'
import { runJobs } from '../support/jobs.ts'
import { createDraft, publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { enforceRates } from '../support/rates.ts'
import { formOf, postForm, storedFiles, uploadAvatar, uploadPictures } from '../support/uploads.ts'

const picture = (shade: number) => jpeg({ width: 400, height: 300, shade })

describe('under review', () => {
  const review = (on: boolean) =>
    database().query(`update private.settings set value = $1 where name = 'review_listings'`, [
      String(on),
    ])

  // deno-lint-ignore no-explicit-any
  const ids = (media: any[]) => media.map(({ id, mediaId }) => id ?? mediaId)

  async function underReview(work: (owner: Person) => Promise<void>) {
    const owner = await signUp()
    try {
      await work(owner)
    } finally {
      await review(false)
    }
  }

  test('LIST-01 new pictures and a new order wait for an admin; what is taken away is gone at once', () =>
    underReview(async (owner) => {
      const stranger = await signUp()
      const { id } = await publishListing(owner)
      const first = await uploadPictures(owner, [picture(1), picture(2)], { propertyId: id })
      const [a, b] = ids(first.body.files)
      await review(true)
      const shown = async () => ids((await stranger.get(`/properties/${id}`)).body.media)
      const waiting = async () => (await owner.get(`/properties/${id}`)).body.pendingChanges
      const decide = (approved: boolean) =>
        database().query('select private.decide_property($1, $2, $3)', [id, approved, 'why'])

      const more = await uploadPictures(owner, [picture(3)], { propertyId: id })
      const [c] = ids(more.body.files)
      expect(await shown()).toEqual([a, b])
      expect(await waiting()).toEqual({ media: [a, b, c] })
      await owner.put(`/properties/${id}/media/order`, { mediaIds: [c, b, a] })
      await owner.delete(`/properties/${id}/media/${a}`)
      await owner.patch(`/properties/${id}`, { titleAr: 'عنوان جديد للفيلا' })
      expect(await waiting()).toEqual({ media: [c, b], titleAr: 'عنوان جديد للفيلا' })
      expect(await shown()).toEqual([b])

      await decide(true)
      expect(await shown()).toEqual([c, b])
      expect(await waiting()).toBe(null)

      await uploadPictures(owner, [picture(4)], { propertyId: id })
      await owner.delete(`/properties/${id}/media/${c}`)
      expect(await shown()).toEqual([b])
      await decide(false)
      expect(await shown()).toEqual([b])
      expect(await waiting()).toBe(null)
      await runJobs()
      await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(1)

      // As nothing waits for review, the remaining picture moves to position 0.
      const last = await uploadPictures(owner, [picture(5)], { propertyId: id })
      await decide(true)
      await owner.delete(`/properties/${id}/media/${b}`)
      expect(await waiting()).toBe(null)
      expect((await stranger.get(`/properties/${id}`)).body.media)
        .toMatchObject([{ id: ids(last.body.files)[0], position: 0 }])
    }))

  test('a change taken back leaves nothing to decide; with review off it shows at once', () =>
    underReview(async (owner) => {
      const { id } = await publishListing(owner)
      const first = await uploadPictures(owner, [picture(1)], { propertyId: id })
      await review(true)
      const more = await uploadPictures(owner, [picture(2)], { propertyId: id })
      const [{ mediaId }] = more.body.files
      await owner.delete(`/properties/${id}/media/${mediaId}`)
      expect((await owner.get(`/properties/${id}`)).body.pendingChanges).toBe(null)

      const late = await uploadPictures(owner, [picture(3)], { propertyId: id })
      await review(false)
      const { body } = await owner.patch(`/properties/${id}`, { bedrooms: 3 })
      expect(ids(body.media)).toEqual(ids([...first.body.files, ...late.body.files]))
      await review(true)
      const { id: own } = await createDraft(owner)
      await uploadPictures(owner, [picture(4)], { propertyId: own })
      expect((await owner.get(`/properties/${own}`)).body)
        .toMatchObject({ pendingChanges: null, media: [{ position: 0 }] })
    }))
})

test('MED-11 uploads are rate limited, and an identity has a storage quota', async () => {
  const owner = await signUp()
  const restore = await enforceRates(variable('DATABASE_URL')!, { uploads: 60 })
  try {
    const form = () => formOf('files', [{ bytes: picture(1) }])
    await database().query(
      `insert into private.rate_hits (rule, subject, hits, expires_at)
      values ('uploads', $1, array_fill(now(), array[58]), now() + interval '1 hour')`,
      [owner.id],
    )
    const statuses = []
    for (let count = 0; count < 4; count++) {
      const { status, headers } = await postForm(owner, '/media/upload/listings', form())
      statuses.push(status)
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(statuses).toEqual([201, 201, 429, 429])
  } finally {
    await restore()
  }
  // The limit is 200 plus four times the pictures that the free plan allows (10 for each of 5 listings). The
  // suite raises the number of listings, so this test sets it to 5.
  const client = await database().connect()
  const before = await client.query(`select active_listings from public.plans where code = 'free'`)
  const setMost = (most: number) =>
    client.query(`update public.plans set active_listings = $1 where code = 'free'`, [most])
  const face = await uploadAvatar(owner, picture(7))
  const flow = { uploadSessionId: randomUUID() }
  const stored = await uploadPictures(owner, [picture(8)], flow)
  const shown = await uploadPictures(owner, [picture(9)], { uploadSessionId: randomUUID() })
  const conversationId = await conversationBetween(owner, await signUp())
  const { mediaId } = shown.body.files[0]
  const send = () =>
    postMessage(owner, conversationId, { clientMessageId: randomUUID(), type: 'image', mediaId })
  expect((await send()).status).toBe(201)
  await setMost(5)
  await database().query(
    `insert into public.media (account_id, identity_id, bucket, name, width, height, orientation,
      bytes, sha256, discarded_at, removed_at)
    select $1, $2::uuid, 'listings', $2::text || '/' || gen_random_uuid() || '.jpg', 1, 1, 1, 1,
      repeat('a', 64), now(), now()
    from private.picture_allowance($2), generate_series(1, allowed - used)`,
    [owner.id, owner.identityId],
  )
  const refused = await uploadPictures(owner, [picture(1)])
  const refusedLater = await uploadPictures(owner, [picture(1)], flow)
  const refusedFace = await uploadAvatar(owner, picture(1))
  const refusedCopy = await send() // a message stores its own copy of the picture
  const again = await uploadPictures(owner, [picture(8)], flow)
  const sameFace = await uploadAvatar(owner, picture(7))
  await setMost(before.rows[0].active_listings)
  client.release()
  for (const reply of [refused, refusedLater, refusedFace, refusedCopy]) {
    expect(reply).toMatchObject({
      status: 402,
      body: { error: { code: 'quota_exceeded', limit: 400, used: 400 } },
    })
  }
  expect(again).toMatchObject({ status: 201, body: stored.body })
  expect(sameFace).toMatchObject({ status: 201, body: face.body })
  await database().query(
    'delete from public.media where account_id = $1 and removed_at is not null',
    [owner.id],
  )
})
