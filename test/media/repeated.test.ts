import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import { createDraft } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { storedFiles, uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { runJobs } from '../support/jobs.ts'

const small = { width: 40, height: 30 }
const shades = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => jpeg({ ...small, shade: from + index * 3 }))

let owner: Person

beforeEach(async () => {
  owner = await signUp()
})

const full = { status: 402, body: { error: { code: 'quota_exceeded', limit: 10, used: 10 } } }

describe('MED-07 PR-28 pictures sent once more get their first answer', () => {
  test('in a flow and in a listing that are full', async () => {
    const { id } = await createDraft(owner)
    for (const to of [{ uploadSessionId: randomUUID() }, { propertyId: id }]) {
      await uploadPictures(owner, shades(7), to)
      const last = shades(3, 100)
      const first = await uploadPictures(owner, last, to)
      expect(first.status).toBe(201)
      const again = await uploadPictures(owner, last, to)
      expect(again.status).toBe(201)
      expect(again.body.files).toEqual(first.body.files)
      expect(await uploadPictures(owner, shades(1, 400), to)).toMatchObject(full)
    }
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(20)
  })

  test('with those that did not fit named again', async () => {
    const to = { uploadSessionId: randomUUID() }
    await uploadPictures(owner, shades(8), to)
    const sent = shades(4, 100)
    const first = await uploadPictures(owner, sent, to)
    expect(first.body.files.map(({ ok }: { ok: boolean }) => ok)).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect((await uploadPictures(owner, sent, to)).body).toEqual(first.body)
    expect((await createDraft(owner, to)).media).toHaveLength(10)
  })

  test('after the flow became a listing', async () => {
    const to = { uploadSessionId: randomUUID() }
    const sent = shades(10)
    const first = await uploadPictures(owner, sent, { ...to, startPosition: 0 })
    const { id } = await createDraft(owner, to)
    const again = await uploadPictures(owner, sent, { ...to, startPosition: 0 })
    expect(again).toMatchObject({ status: 201, body: { propertyId: id } })
    expect(again.body.files).toEqual(first.body.files)
  })

  test('when the last one that fits arrives twice at once, it is stored once, both answered alike', async () => {
    for (let round = 0; round < 5; round++) {
      const to = { uploadSessionId: randomUUID() }
      await uploadPictures(owner, shades(9), to)
      const sent = shades(1, 200)
      const replies = await Promise.all([0, 1, 2].map(() => uploadPictures(owner, sent, to)))
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201])
      for (const { body } of replies) expect(body).toEqual(replies[0]!.body)
      const { id, media } = await createDraft(owner, to)
      expect(media).toHaveLength(10)
      await owner.delete(`/properties/${id}`)
    }
  })

  test('and one that was removed meanwhile is a new one', async () => {
    const { id } = await createDraft(owner)
    const sent = shades(10)
    const first = await uploadPictures(owner, sent, { propertyId: id })
    await owner.delete(`/properties/${id}/media/${first.body.files[9].mediaId}`)
    const again = await uploadPictures(owner, [sent[9]!], { propertyId: id })
    expect(again).toMatchObject({ status: 201, body: { files: [{ ok: true, position: 9 }] } })
    expect(again.body.files[0].mediaId).not.toBe(first.body.files[9].mediaId)
  })

  test('also as an avatar', async () => {
    const face = jpeg({ ...small, shade: 5 })
    const first = await uploadAvatar(owner, face)
    expect(await uploadAvatar(owner, face)).toMatchObject({ status: 201, body: first.body })
    await runJobs()
    await expect.poll(() => storedFiles(owner.identityId)).toHaveLength(1)
    const other = await uploadAvatar(owner, jpeg({ ...small, shade: 6 }))
    expect(other.body.mediaId).not.toBe(first.body.mediaId)
  })
})
