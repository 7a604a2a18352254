import { createClient } from '@supabase/supabase-js'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { patience } from '../suite/slowness.ts'
import { database, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { runJobs } from '../support/jobs.ts'
import { bulk } from '../support/nightly.ts'
import { jpeg } from '../support/pictures.ts'
import { startStack } from '../support/stack.ts'
import { download, formOf, storedFiles } from '../support/uploads.ts'
import { pause, waitUntil } from '../support/wait.ts'

const picture = (shade: number) => jpeg({ width: 400, height: 300, shade })

testLocally(
  'CRASH-10 functions killed in the middle of uploads leave files and rows in step',
  async () => {
    const owner = await signUp()
    const sessions: string[] = []
    let shade = 0
    const rounds = bulk(50, 10)
    const step = 150 / rounds
    for (let round = 0; round < rounds; round++) {
      const facade = await startFacade()
      const uploads = Array.from({ length: 4 }, () => {
        const uploadSessionId = randomUUID()
        sessions.push(uploadSessionId)
        const files = Array.from({ length: 3 }, () => ({ bytes: picture(++shade) }))
        return fetch(`${facade.url}/media/upload/listings`, {
          method: 'POST',
          headers: { authorization: `Bearer ${owner.accessToken}` },
          body: formOf('files', files, { uploadSessionId }),
        }).then(async (response) => ({ status: response.status, body: await response.json() }))
          .catch(() => undefined)
      })
      await pause(20 + round * step, 'any moment is right')
      process.kill(facade.pid, 'SIGKILL')
      for (const reply of await Promise.all(uploads)) {
        for (const { ok, url } of reply?.status === 201 ? reply.body.files : []) {
          expect(ok).toBe(true)
          expect((await download(url)).status).toBe(200)
        }
      }
    }

    const inDatabase = async () =>
      (await database().query(
        `select bucket || '/' || name as path, upload_session_id from public.media
         where account_id = $1 and discarded_at is null order by 1`,
        [owner.id],
      )).rows
    const begun = () =>
      database().query('select from private.uploads where account_id = $1', [owner.id])
    // Makes the clean-up of unfinished uploads due, as after an hour. This is repeated, because the last data
    // may still be on its way to the database.
    await waitUntil('files and rows are in step', async () => {
      await database().query('update private.uploads set due_at = now() where account_id = $1', [
        owner.id,
      ])
      await runJobs()
      const paths = (await inDatabase()).map(({ path }) => path)
      return isDeepStrictEqual(await storedFiles(owner.identityId), paths) &&
        !(await begun()).rowCount
    })
    const rows = await inDatabase()
    for (const session of sessions) {
      const count = rows.filter((row) => row.upload_session_id === session).length
      expect([0, 3]).toContain(count)
    }
  },
)

test('killed while files are written, Storage has each object whole or not at all', async () => {
  const stack = await startStack({ RATES: 'off', PATIENCE: patience, NODE_ENV: 'test' })
  try {
    const { storage } = createClient(stack.url, stack.secretKey, {
      auth: { persistSession: false, autoRefreshToken: false },
    })
    expect((await storage.createBucket('written')).error).toBe(null)
    const files = storage.from('written')
    const bodies = [1, 2].map((value) => new Uint8Array(3_000_000).fill(value))
    await files.upload('a', bodies[0]!)
    for (let round = 0; round < 4; round++) {
      const writing = [0, 1, 0, 1].map((which, at) =>
        files.upload(at < 2 ? 'a' : `b${round}${at}`, bodies[which]!, { upsert: true })
      )
      await pause(10 + round * 20, 'any moment is right')
      process.kill(servicesOf(stack.folder), 'SIGKILL')
      await Promise.all(writing)
      await waitUntil('Storage serves again', async () => !(await files.list()).error)
      const { data } = await files.list()
      expect(data!.map(({ name }) => name)).toContain('a')
      for (const { name, metadata } of data!) {
        const { data: blob } = await files.download(name)
        const bytes = new Uint8Array(await blob!.arrayBuffer())
        expect(bytes.length).toBe(metadata!.size)
        expect(bodies.some((body) => Buffer.compare(body, bytes) === 0)).toBe(true)
      }
    }
  } finally {
    await stack.stop()
  }
})

function servicesOf(folder: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, 'supervisor.lock'), 'utf8'))
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args=']).toString().split('\n')
  for (const line of lines) {
    const [, child, parent, command] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []
    if (Number(parent) === pid && command!.includes('services.ts')) return Number(child)
  }
  throw new Error('the stack has no services')
}
