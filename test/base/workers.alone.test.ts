import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, newEmail, projectUrl, secretKey, signUp } from '../support/client.ts'
import { hasStack, startFacade } from '../support/facade.ts'
import { untilLocked } from '../support/races.ts'
import { waitUntil } from '../support/wait.ts'
import { jsonAnswer, startProjectProxy } from './project-proxy.ts'
import { ask, forget, jobsRan, post, unsettled } from './facade-requests.ts'

describe.runIf(hasStack)('LOAD-03 a pool that is used up', () => {
  test('delays neither health checks nor alarms, and recovers when its holder leaves', async () => {
    await forget('jobs_late')
    const { accessToken } = await signUp()
    const facade = await startFacade({ FACADE_DB_POOL: '2' })
    const holder = await database().connect()
    const favorites = () =>
      ask(facade, '/favorites/ids', { headers: { authorization: `Bearer ${accessToken}` } })
    try {
      await holder.query('begin; lock table public.favorites in access exclusive mode')
      const held = Array.from({ length: 40 }, () => favorites())
      await untilLocked('list_favorite_ids', 2)
      await jobsRan(301)
      expect((await ask(facade, '/health')).body).toMatchObject({ database: 'ok' })
      await waitUntil('the alarm is kept', async () => (await unsettled('jobs_late')).length === 1)
      await holder.query('rollback')
      for (const { status } of await Promise.all(held)) expect([200, 503]).toContain(status)
      await waitUntil('it is free', async () => (await favorites()).status === 200)
    } finally {
      holder.release(true)
      await facade.stop()
      await forget('jobs_late')
    }
  })
})

describe.runIf(hasStack)('REG-20 a worker that has just begun', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>

  beforeAll(async () => {
    way = await startProjectProxy()
  })
  afterAll(() => way?.stop())

  async function requestsFor(identifier: string) {
    const facade = await startFacade(way.settings)
    try {
      way.takeRequests()
      const { status } = await post(facade, '/auth/login', { identifier, password: randomUUID() })
      expect(status).toBe(401)
      return way.takeRequests()
    } finally {
      await facade.stop()
    }
  }

  test('does the same work with and without an account', async () => {
    const { identifier } = await signUp()
    const once = ['POST /auth/v1/token']
    expect([await requestsFor(identifier), await requestsFor(newEmail())]).toEqual([once, once])
    // If a project has no decoy account, the first request creates it, unless a job has already done so.
    const first = ['POST /auth/v1/admin/users', ...once]
    for (const who of [identifier, newEmail()]) {
      let requests: string[]
      do {
        await removeDecoy()
        requests = await requestsFor(who)
        expect([first, once]).toContainEqual(requests)
      } while (requests.length < first.length)
      expect(await requestsFor(who)).toEqual(once)
    }
  })

  test('finds the decoy made by the jobs', async () => {
    await removeDecoy()
    const jobs = await startFacade({}, 'jobs')
    try {
      const answer = await ask(jobs, '', { method: 'POST', headers: { apikey: secretKey } })
      expect(answer.body.keep_decoy).toMatchObject({ done: expect.any(Number) })
    } finally {
      await jobs.stop()
    }
    expect(await requestsFor(newEmail())).toEqual(['POST /auth/v1/token'])
  })

  test('answers 401 when Auth fails for an account that is being deleted', async () => {
    const [gone, there] = [await signUp(), await signUp()]
    const facade = await startFacade(way.settings)
    const failure = jsonAnswer(500, { code: 'unexpected_failure', message: 'Database error' })
    try {
      way.answers.set('/auth/v1/token', async (response) => {
        await deleteUser(gone.id)
        return failure(response)
      })
      const tryIt = ({ identifier, password }: typeof gone) =>
        post(facade, '/auth/login', { identifier, password })
      expect(await tryIt(gone)).toMatchObject({
        status: 401,
        body: { error: { code: 'invalid_credentials' } },
      })
      expect(await tryIt(there)).toMatchObject({
        status: 503,
        body: { error: { code: 'service_unavailable' } },
      })
    } finally {
      way.answers.clear()
      await facade.stop()
    }
  })
})

const deleteUser = (id: string) =>
  fetch(`${projectUrl}/auth/v1/admin/users/${id}`, {
    method: 'DELETE',
    headers: { apikey: secretKey },
  })

async function removeDecoy() {
  const { rows } = await database().query(
    `select id from auth.users where email = 'decoy@accounts.invalid'`,
  )
  for (const { id } of rows) await deleteUser(id)
}
