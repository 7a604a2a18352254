/** Workers of the functions that come and go: what each finds out, and what all of them share. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  database,
  newEmail,
  projectUrl,
  publishableKey,
  secretKey,
  signUp,
} from '../support/client.ts'
import { type Facade, hasStack, startFacade, usualSettings } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'
import { jsonAnswer, startProjectProxy } from './project-proxy.ts'

const ask = async (facade: Facade, path: string, init: RequestInit = {}) => {
  const response = await fetch(facade.url + path, init)
  return { status: response.status, body: await response.json() }
}

/** A mail provider that nobody reaches. */
const deafMail = {
  MAIL_PROVIDER: 'resend',
  MAIL_API_KEY: randomUUID(),
  MAIL_FROM: 'a@example.com',
  MAIL_URL: 'http://127.0.0.1:9',
}

/** As though the jobs had last run then. The stack’s own clock may run them at any moment. */
const jobsRan = (secondsAgo: number) =>
  database().query(
    `update private.moments set at = now() - make_interval(secs => $1) where name = 'jobs_ran'`,
    [secondsAgo],
  )

const post = (facade: Facade, path: string, body: unknown) =>
  ask(facade, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const unsettled = async (kind: string) =>
  (await database().query(
    `select subject_id, facts from private.alarms
     where kind = $1 and settled_at is null order by subject_id`,
    [kind],
  )).rows

const forget = (kind: string) =>
  database().query('delete from private.alarms where kind = $1', [kind])

const linesOf = (facade: Facade, kind: string) =>
  facade.output().split(`{"alert":"${kind}"`).length - 1

describe.runIf(hasStack)('the jobs of a project', () => {
  const run = (facade: Facade, apikey: string | undefined, job = 'fan_out_listing_events') =>
    ask(facade, `/${job}`, { method: 'POST', headers: apikey === undefined ? {} : { apikey } })

  test('are opened by each of its secret keys and by nothing else', async () => {
    const second = `sb_secret_${randomUUID()}`
    const facade = await startFacade({
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: secretKey, second, none: 'changeme' }),
    }, 'jobs')
    try {
      for (const key of [secretKey, second]) expect((await run(facade, key)).status).toBe(200)
      for (
        const key of [
          undefined,
          '',
          'changeme',
          publishableKey,
          secretKey.slice(0, -1),
          `${secretKey}x`,
          `${secretKey}, ${second}`,
          second.toUpperCase(),
        ]
      ) expect((await run(facade, key)).status, key).toBe(401)
      expect(facade.output()).toContain(
        '{"alert":"secret_refused","subject":"SUPABASE_SECRET_KEYS"}',
      )
    } finally {
      await facade.stop()
    }
  })

  test('that have not run for five minutes are told by /health until they do', async () => {
    const [api, jobs] = await Promise.all([startFacade(), startFacade({}, 'jobs')])
    try {
      await waitUntil('health says that the jobs are late', async () => {
        await jobsRan(301)
        const { status, ...parts } = (await ask(api, '/health')).body
        expect(parts).toMatchObject({ database: 'ok', auth: 'ok', storage: 'ok', realtime: 'ok' })
        return status === 'degraded'
      })
      await waitUntil('an alarm says so', async () => (await unsettled('jobs_late')).length === 1)
      expect(linesOf(api, 'jobs_late')).toBe(1)

      const answer = await ask(jobs, '', { method: 'POST', headers: { apikey: secretKey } })
      expect(answer.status).toBe(200)
      expect(await unsettled('jobs_late')).toEqual([])
      await waitUntil(
        'health is well',
        async () => (await ask(api, '/health')).body.status === 'ok',
      )
    } finally {
      await Promise.all([api.stop(), jobs.stop()])
    }
  })
})

describe.runIf(hasStack)('LOAD-03 a pool that is used up', () => {
  test('keeps neither health nor alarms waiting, and is free again with who held it', async () => {
    await forget('jobs_late')
    const { accessToken } = await signUp()
    const facade = await startFacade({ FACADE_DB_POOL: '2' })
    const holder = await database().connect()
    const favorites = () =>
      ask(facade, '/favorites/ids', { headers: { authorization: `Bearer ${accessToken}` } })
    try {
      await holder.query('begin; lock table public.favorites in access exclusive mode')
      const held = Array.from({ length: 40 }, () => favorites())
      await waitUntil('both connections wait for the table', async () => {
        const { rows } = await database().query(
          `select from pg_stat_activity where usename = 'facade' and wait_event_type = 'Lock'`,
        )
        return rows.length >= 2
      })
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

describe.runIf(hasStack)('LOAD-09 the health of the parts', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>
  let facade: Facade

  beforeAll(async () => {
    way = await startProjectProxy()
    facade = await startFacade(way.settings)
  })
  afterAll(async () => {
    await facade?.stop()
    way?.stop()
  })

  test('is what they say, not that something answers in their place', async () => {
    const page = jsonAnswer(200, {})
    for (
      const [part, path, answers] of [
        ['storage', '/storage/v1/health', [
          jsonAnswer(200, { healthy: false }),
          jsonAnswer(403, { healthy: true }),
          page,
        ]],
        ['realtime', '/realtime/v1/api/ping', [
          jsonAnswer(401, { message: 'Tenant not found' }),
          page,
        ]],
        ['auth', '/auth/v1/health', [jsonAnswer(503, { name: 'GoTrue' }), page]],
      ] as const
    ) {
      for (const answer of answers) {
        way.answers.set(path, answer)
        await waitUntil(`${part} is down`, async () => {
          const { body } = await ask(facade, '/health')
          return body.status === 'degraded' && body[part] === 'down'
        })
      }
      way.answers.delete(path)
      await waitUntil(
        `${part} is back`,
        async () => (await ask(facade, '/health')).body[part] === 'ok',
      )
    }
  })

  test('is asked with a limit: silence is an answer too', async () => {
    const paths = ['/storage/v1/health', '/realtime/v1/api/ping', '/auth/v1/health']
    for (const path of paths) way.answers.set(path, () => {})
    await waitUntil('all are down', async () => {
      const { body } = await ask(facade, '/health')
      return [body.storage, body.realtime, body.auth].every((state) => state === 'down')
    })
    expect((await ask(facade, '/health')).body.database).toBe('ok')
    for (const path of paths) way.answers.delete(path)
  })
})

describe.runIf(hasStack)('alarms', () => {
  const weak = { MYFATOORAH_TOKEN: 'changeme', PAYMENT_PROVIDER: 'tap', TAP_SECRET_KEY: undefined }

  test('of two workers that start at once are one row each, of whichever function', async () => {
    for (const kind of ['secret_refused', 'provider_not_configured']) await forget(kind)
    const workers = await Promise.all([
      startFacade(weak),
      startFacade(weak),
      startFacade(weak, 'jobs'),
    ])
    try {
      await waitUntil('both are kept', async () =>
        (await unsettled('secret_refused')).length +
            (await unsettled('provider_not_configured')).length === 2)
      expect(await unsettled('secret_refused')).toEqual([
        { subject_id: 'MYFATOORAH_TOKEN', facts: {} },
      ])
      expect(await unsettled('provider_not_configured')).toMatchObject([{ subject_id: 'tap' }])
      for (const worker of workers) expect(linesOf(worker, 'secret_refused')).toBe(1)
    } finally {
      for (const worker of workers) await worker.stop()
      for (const kind of ['secret_refused', 'provider_not_configured']) await forget(kind)
    }
  })

  test('of a storm are a line and a row, and fail nobody', async () => {
    await forget('email_send_failed')
    const facade = await startFacade(deafMail)
    try {
      const people = await Promise.all(Array.from({ length: 12 }, () => signUp()))
      const asked = people.map(({ identifier }) =>
        post(facade, '/auth/password/forgot', { identifier })
      )
      for (const { status } of await Promise.all(asked)) expect(status).toBe(202)
      await waitUntil('it is kept', async () => (await unsettled('email_send_failed')).length === 1)
      expect((await unsettled('email_send_failed'))[0].subject_id).toBe('resend')
      // Two, where they came for longer than the pause.
      expect(linesOf(facade, 'email_send_failed')).toBeLessThanOrEqual(2)
    } finally {
      await facade.stop()
      await forget('email_send_failed')
    }
  })

  test('of what nobody foresaw name the route and nothing of the request', async () => {
    const facade = await startFacade()
    await forget('internal')
    await database().query('alter function api.list_kinds() rename to list_kinds_away')
    try {
      expect((await ask(facade, '/meta/kinds?')).status).toBe(500)
      await waitUntil('it is kept', async () => (await unsettled('internal')).length === 1)
      expect(await unsettled('internal')).toEqual([{
        subject_id: 'GET /meta/kinds',
        facts: { name: 'error', requestId: expect.any(String) },
      }])
    } finally {
      await database().query('alter function api.list_kinds_away() rename to list_kinds')
      await facade.stop()
      await forget('internal')
    }
  })

  test('stay in the log while the database is away, and are kept when it is back', async () => {
    await forget('email_send_failed')
    await forget('secret_refused')
    const cut = await cutWay(usualSettings().FACADE_DB_URL!)
    const weak = { SMS_PROVIDER: 'unifonic', SMS_SENDER: 'DAR', SMS_APP_SID: 'changeme' }
    const facade = await startFacade({ FACADE_DB_URL: cut.url, ...weak, ...deafMail })
    try {
      expect((await ask(facade, '/errors')).status).toBe(200)
      expect(linesOf(facade, 'secret_refused')).toBe(1)
      expect(await unsettled('secret_refused')).toEqual([])
      cut.mend()
      // Any other alarm takes it along.
      await post(facade, '/auth/password/forgot', { identifier: (await signUp()).identifier })
      await waitUntil(
        'both are kept',
        async () =>
          (await unsettled('secret_refused')).length === 1 &&
          (await unsettled('email_send_failed')).length === 1,
      )
    } finally {
      await facade.stop()
      cut.stop()
      await forget('email_send_failed')
      await forget('secret_refused')
      await forget('provider_not_configured')
    }
  })
})

describe.runIf(hasStack)('REG-20 a worker that has just begun', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>

  beforeAll(async () => {
    way = await startProjectProxy()
  })
  afterAll(() => way?.stop())

  /** What a cold worker asks of Auth for one sign-in. */
  async function askedFor(identifier: string) {
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

  test('does the same for whoever has no account as for whoever has one', async () => {
    const { identifier } = await signUp()
    const once = ['POST /auth/v1/token']
    expect([await askedFor(identifier), await askedFor(newEmail())]).toEqual([once, once])
    // A project that has no decoy yet makes it, whoever comes first.
    for (const who of [identifier, newEmail()]) {
      await removeDecoy()
      const first = ['POST /auth/v1/admin/users', ...once]
      expect([await askedFor(who), await askedFor(who)]).toEqual([first, once])
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
    expect(await askedFor(newEmail())).toEqual(['POST /auth/v1/token'])
  })

  test('answers 401 when Auth fails at an account that is deleted in this moment', async () => {
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

/** A way to the database that is cut, and can be mended. */
async function cutWay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let open = false
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {}).on('close', () => sockets.delete(client))
    if (!open) return client.destroy()
    const upstream = connect(Number(target.port), target.hostname).on('error', () => {})
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.port = String((server.address() as AddressInfo).port)
  const url = target.href
  target.port = new URL(databaseUrl).port
  return {
    url,
    mend: () => (open = true),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
