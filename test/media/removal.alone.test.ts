import { createClient } from '@supabase/supabase-js'
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { database, type Person, projectUrl, secretKey, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { jpeg } from '../support/pictures.ts'
import { refusal } from '../support/problems.ts'
import { pdf } from '../support/pdf.ts'
import { download, storedFiles, uploadDocuments, uploadPictures } from '../support/uploads.ts'
import { runJobs } from '../support/jobs.ts'

const { storage } = createClient(projectUrl, secretKey, {
  auth: { persistSession: false, autoRefreshToken: false },
})
const files = storage.from('listings')

/** Inserts rows of discarded pictures that have no files and are older than all others. */
const plantDiscarded = ({ id, identityId }: Person, count: number) =>
  database().query(
    `insert into public.media (account_id, identity_id, bucket, name, width, height, orientation,
      bytes, sha256, discarded_at)
    select $1, $2::uuid, 'listings', $2::text || '/' || gen_random_uuid() || '.jpg', 1, 1, 1, 1,
      repeat('a', 64), now() - interval '1 year'
    from generate_series(1, $3)`,
    [id, identityId, count],
  )

const plantStrays = ({ identityId }: Person, count: number) =>
  database().query(
    `insert into private.stray_files (bucket, name)
    select 'listings', $1::text || '/' || gen_random_uuid() from generate_series(1, $2)`,
    [identityId, count],
  )

async function leftOf({ id, identityId }: Person): Promise<number> {
  const { rows } = await database().query(
    `select (select count(*) from public.media where account_id = $1)
      + (select count(*) from private.stray_files where starts_with(name, $2)) as left`,
    [id, `${identityId}/`],
  )
  return Number(rows[0].left)
}

async function givenUp(person: Person, count: number): Promise<string[]> {
  const pictures = Array.from({ length: count }, (_, shade) => jpeg({ width: 8, height: 8, shade }))
  const { body } = await uploadPictures(person, pictures)
  await database().query(
    'update private.upload_sessions set expires_at = now() where identity_id = $1',
    [person.identityId],
  )
  return body.files.map(({ url }: { url: string }) => url)
}

const dueNow = ({ id, identityId }: Person) =>
  database().query(
    `with pictures as (
      update public.media set removal_due_at = '-infinity' where account_id = $1
    ), documents as (
      update public.documents set removal_due_at = '-infinity' where account_id = $1
    )
    update private.stray_files set removal_due_at = '-infinity' where starts_with(name, $2)`,
    [id, `${identityId}/`],
  )

test('Storage accepts 1,000 names at a time and refuses more', async () => {
  const names = (count: number) => Array.from({ length: count }, () => randomUUID())
  expect((await files.remove(names(1000))).error).toBe(null)
  expect((await files.remove(names(1001))).error).toMatchObject({ status: 400 })
})

test('PR-28 a great many unused files are removed like one', async () => {
  const owner = await signUp()
  await plantDiscarded(owner, 1300)
  await plantStrays(owner, 1300)
  const [url] = await givenUp(owner, 1)
  await runJobs()
  expect(await storedFiles(owner.identityId)).toEqual([])
  expect((await download(url!)).status).toBe(400)
  expect(await leftOf(owner)).toBe(0)
})

async function refusing(condition: string, work: () => Promise<void>) {
  await database().query(
    `create function private.refuse_removal() returns trigger language plpgsql as $$
    begin
      raise insufficient_privilege;
    end $$;
    create trigger refuse_removal before delete on storage.objects
      for each row when (${condition}) execute function private.refuse_removal();
    grant usage on schema private to supabase_storage_admin`,
  )
  try {
    await work()
  } finally {
    await database().query(
      `drop trigger refuse_removal on storage.objects;
      drop function private.refuse_removal;
      revoke usage on schema private from supabase_storage_admin`,
    )
  }
}

/**
 * Runs the jobs in their own process until a run fails to remove exactly `count` files. Returns
 * the alarm of this run and the number of refusals. In between, the stack's scheduler may try the
 * same files and postpone them.
 */
async function meetRefusals(owner: Person, count: number) {
  const jobs = await startFacade({}, 'jobs')
  try {
    for (;;) {
      await dueNow(owner)
      const response = await fetch(jobs.url, { method: 'POST', headers: { apikey: secretKey } })
      expect((await response.json()).remove_files).toEqual({ done: expect.any(Number) })
      let refusals = 0
      for (const line of jobs.output().split('\n')) {
        if (line.includes('"storage":')) refusals++
        if (!line.includes('"files_not_removed"')) continue
        const alarm: { count: number; some: string[] } = JSON.parse(line)
        if (alarm.count === count) return { alarm, refusals }
        refusals = 0
      }
    }
  } finally {
    await jobs.stop()
  }
}

testLocally('PR-28 one file that Storage will not remove delays no others', async () => {
  const owner = await signUp()
  const stubborn = `${owner.identityId}/stubborn`
  await files.upload(stubborn, jpeg({ width: 8, height: 8 }), { contentType: 'image/jpeg' })
  await refusing(`old.name = '${stubborn}'`, async () => {
    await plantStrays(owner, 700)
    await database().query(
      `insert into private.stray_files (bucket, name) values ('listings', $1)`,
      [stubborn],
    )
    const [url] = await givenUp(owner, 1)
    expect((await meetRefusals(owner, 1)).alarm).toMatchObject({ some: [stubborn] })
    expect((await download(url!)).status).toBe(400)
    expect(await storedFiles(owner.identityId)).toEqual([`listings/${stubborn}`])
    expect(await leftOf(owner)).toBe(1)
  })
  await dueNow(owner)
  await runJobs()
  expect(await storedFiles(owner.identityId)).toEqual([])
  expect(await leftOf(owner)).toBe(0)
})

testLocally(
  'a Storage that refuses everything is not asked name by name, and nothing is lost',
  async () => {
    const owner = await signUp()
    await refusing(`starts_with(old.name, '${owner.identityId}/')`, async () => {
      const urls: string[] = []
      for (let flow = 0; flow < 4; flow++) urls.push(...await givenUp(owner, 10))
      const { refusals } = await meetRefusals(owner, 40)
      // Storage refuses the whole batch and then, twenty times, its two halves, which makes 41 requests.
      // Halving down to single files would take 79.
      expect(refusals).toBe(41)
      for (const url of urls) expect((await download(url)).status).toBe(200)
    })
    await dueNow(owner)
    await runJobs()
    expect(await storedFiles(owner.identityId)).toEqual([])
  },
)

testLocally(
  'MED-27 a document that Storage will not remove is seen by nobody, and goes later',
  async () => {
    const owner = await signUp()
    const company = await insertWaitingCompany(owner.id)
    const { body } = await uploadDocuments(owner, company, [pdf('licence')])
    const path = `/auth/identities/${company}/documents/${body.files[0].documentId}`
    const [file] = await storedFiles(company)
    await refusing(`starts_with(old.name, '${company}/')`, async () => {
      expect((await owner.delete(path)).status).toBe(204)
      await meetRefusals(owner, 1)
      expect(await owner.get(path)).toMatchObject(refusal(404, 'document_not_found'))
      expect(await storedFiles(company)).toEqual([file])
    })
    await dueNow(owner)
    await runJobs()
    expect(await storedFiles(company)).toEqual([])
    const { rows } = await database().query('select from public.documents where account_id = $1', [
      owner.id,
    ])
    expect(rows).toEqual([])
  },
)
