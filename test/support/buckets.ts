import { createClient } from '@supabase/supabase-js'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { database, type Person, projectUrl, publishableKey, secretKey, signUp } from './client.ts'
import { waitUntil } from './wait.ts'

const session = { auth: { persistSession: false, autoRefreshToken: false } }

export const serviceStorage = createClient(projectUrl, secretKey, session).storage
export const guestStorage = createClient(projectUrl, publishableKey, session).storage
export const storageAs = (person: Person) =>
  createClient(projectUrl, publishableKey, {
    ...session,
    accessToken: () => Promise.resolve(person.accessToken),
  }).storage

export const sizeLimit = 100_000
const limits = { fileSizeLimit: '100KB', allowedMimeTypes: ['text/*', 'image/png'] }

/** Creates two people, a private bucket with a folder for each of them, and a public bucket. */
export function ownBuckets() {
  const bucket = `test-${randomUUID()}`
  const open = `${bucket}-open`
  const own =
    `bucket_id = '${bucket}' and (storage.foldername(name))[1] = (select auth.uid()::text)`
  const rules = {
    select: `using (${own})`,
    insert: `with check (${own})`,
    update: `using (${own}) with check (${own})`,
    delete: `using (${own})`,
  }
  const made = { bucket, open } as {
    bucket: string
    open: string
    owner: Person
    stranger: Person
  }
  beforeAll(async () => {
    ;[made.owner, made.stranger] = await Promise.all([signUp(), signUp()])
    expect((await serviceStorage.createBucket(bucket, { public: false, ...limits })).error).toBe(
      null,
    )
    expect((await serviceStorage.createBucket(open, { public: true })).error).toBe(null)
    for (const [command, rule] of Object.entries(rules)) {
      await database().query(
        `create policy "${bucket} ${command}" on storage.objects
        for ${command} to authenticated ${rule}`,
      )
    }
  })
  afterAll(async () => {
    for (const command of Object.keys(rules)) {
      await database().query(`drop policy "${bucket} ${command}" on storage.objects`)
    }
    await Promise.all([bucket, open].map(removeBucket))
  })
  return made
}

export async function removeBucket(id: string) {
  expect((await serviceStorage.emptyBucket(id)).error).toBe(null)
  await waitUntil(
    'the bucket is empty',
    async () => (await serviceStorage.deleteBucket(id)).error === null,
  )
}

export const textOf = async (data: Blob | null) => await data!.text()

/** Storage returns 400 for nearly every error; the actual status is in the body. */
export const storageRefusal = (status: string) => ({
  data: null,
  error: { statusCode: status, status: 400 },
})
