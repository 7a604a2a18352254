import { beforeEach, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { readDocument } from '../support/documents.ts'
import { runJobs } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { refusal, unknownId } from '../support/problems.ts'
import { download, storedFiles, uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

let owner: Person
let admin: Person
let id: string
let mediaId: string
let url: string

const picture = jpeg({ width: 40, height: 30 })
const reason = 'مخالفة'

beforeEach(async () => {
  ;[owner, admin] = await Promise.all([signUp(), signUpAdmin()])
  id = (await publishListing(owner)).id
  const { body } = await uploadPictures(owner, [picture], { propertyId: id })
  ;[{ mediaId, url }] = body.files
})

const decide = async (decision: 'suspend' | 'restore') =>
  expect(
    (await admin.post(`/admin/moderation/${id}/decide`, { decision, reason })).status,
  ).toBe(200)

const setStatus = (table: 'accounts' | 'identities', one: string, status: string) =>
  database().query(`update public.${table} set status = $2 where id = $1`, [one, status])

/** Waits until the file is public or, if `expected` is false, until it no longer is. */
const isPublic = async (expected: boolean, address = url) => {
  await runJobs()
  await expect.poll(async () => (await download(address)).status).toBe(expected ? 200 : 400)
}

const asAdmin = () => readDocument(admin, `/admin/pictures/${mediaId}`)

test('LIST-09 pictures of a suspended listing are read by administrators alone, and come back', async () => {
  expect((await asAdmin()).bytes).toEqual((await download(url)).bytes)
  await decide('suspend')
  await isPublic(false)
  const { status, bytes, headers } = await asAdmin()
  expect([status, headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${mediaId}.jpg"`)
  const path = `/admin/pictures/${mediaId}`
  expect(await guest.get(path)).toMatchObject(refusal(401, 'token_missing'))
  expect(await owner.get(path)).toMatchObject(refusal(403, 'admin_only'))
  expect(await admin.get(`/admin/pictures/${unknownId}`)).toMatchObject(refusal(404, 'not_found'))
  expect((await download(url.replace('/listings/', '/suspended/'))).status).toBe(400)

  await decide('restore')
  await isPublic(true)
  expect((await download(url)).bytes).toEqual(bytes)
  expect(await storedFiles(owner.identityId)).toHaveLength(1)
})

test('LIST-09 those of an account go with its avatar, and are back when nothing is suspended', async () => {
  const face = (await uploadAvatar(owner, jpeg({ width: 41, height: 30 }))).body
  await owner.patch('/auth/me', { avatarMediaId: face.mediaId })
  await decide('suspend')
  await setStatus('accounts', owner.id, 'suspended')
  await isPublic(false)
  await isPublic(false, face.url)
  await decide('restore')
  await isPublic(false)
  await setStatus('accounts', owner.id, 'active')
  await isPublic(true)
  await isPublic(true, face.url)
  await setStatus('identities', owner.identityId, 'suspended')
  await isPublic(false)
  await setStatus('identities', owner.identityId, 'active')
  await isPublic(true)
  await setStatus('accounts', owner.id, 'banned')
  await isPublic(false)
})

test('LIST-09 a file that was moved without its row is found, and goes where it belongs', async () => {
  const rows = () => database().query('select bucket from public.media where id = $1', [mediaId])
  // Simulates a job that crashed after it moved the suspended listing's file and before it updated the row.
  await decide('suspend')
  await isPublic(false)
  await database().query(`update public.media set bucket = 'listings' where id = $1`, [mediaId])
  await database().query('insert into private.file_moves (property_id) values ($1)', [id])
  await runJobs()
  await expect.poll(async () => (await rows()).rows).toEqual([{ bucket: 'suspended' }])
  // Simulates the same for a suspension that was lifted afterwards.
  await database().query(`update public.media set bucket = 'listings' where id = $1`, [mediaId])
  await decide('restore')
  await database().query('delete from private.file_moves where property_id = $1', [id])
  await database().query('select private.follow_moved_files(array[$1::uuid])', [mediaId])
  await isPublic(true)
  expect((await rows()).rows).toEqual([{ bucket: 'listings' }])
})

test('LIST-09 it is right after whatever is decided while jobs run at once', async () => {
  // While a slow job holds locks on the rows, a decision gets a 503 and is retried.
  const decided = async (decision: 'suspend' | 'restore') => {
    const statuses: number[] = []
    await waitUntil(decision, async () => {
      const path = `/admin/moderation/${id}/decide`
      statuses.push((await admin.post(path, { decision, reason })).status)
      return statuses.at(-1) !== 503
    })
    expect(statuses.at(-1)).toBe(200)
  }
  for (let round = 0; round < 3; round++) {
    await Promise.all([decided('suspend'), runJobs(), runJobs()])
    await Promise.all([decided('restore'), runJobs(), runJobs()])
  }
  await isPublic(true)
  await decide('suspend')
  await owner.delete(`/properties/${id}`)
  await runJobs()
  await expect.poll(() => storedFiles(owner.identityId)).toEqual([])
})
