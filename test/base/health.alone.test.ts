import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { database, publishableKey, secretKey } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'
import { jsonAnswer, startProjectProxy } from './project-proxy.ts'
import { ask, jobsRan, linesOf, unsettled } from './facade-requests.ts'

describe.runIf(hasStack)('the jobs of a project', () => {
  const run = (facade: Facade, apikey: string | undefined, job = 'fan_out_listing_events') =>
    ask(facade, `/${job}`, { method: 'POST', headers: apikey === undefined ? {} : { apikey } })

  test('are accessible with each of its secret keys and with nothing else', async () => {
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
        '"alert":"secret_refused","subject":"SUPABASE_SECRET_KEYS"',
      )
    } finally {
      await facade.stop()
    }
  })

  test('that have not run for five minutes are reported by /health until they do', async () => {
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

describe.runIf(hasStack)('a production that can send no SMS', () => {
  const jobs = async () => {
    const own = await startFacade({}, 'jobs')
    await ask(own, '', { method: 'POST', headers: { apikey: secretKey } })
    await own.stop()
  }

  test.each<[string, Record<string, string>, string]>([
    ['by mistake is degraded', {}, 'degraded'],
    ['as it was deployed is well', { ALLOW_NO_SMS: 'true' }, 'ok'],
    [
      'any more is degraded',
      { ALLOW_NO_SMS: 'true', SMS_PROVIDER: 'unifonic', SMS_SENDER: 'Dar' },
      'degraded',
    ],
  ])('%s', async (_, settings, status) => {
    await jobs()
    const facade = await startFacade({ ENVIRONMENT: 'production', ...settings })
    try {
      await waitUntil('the parts are looked at', async () => {
        const { body } = await ask(facade, '/health')
        expect(body.sms).toBe('off')
        const parts = [body.database, body.auth, body.storage, body.realtime]
        if (parts.some((part) => part !== 'ok')) return false
        expect(body.status).toBe(status)
        return true
      })
    } finally {
      await facade.stop()
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

  test('is what they report, not that something answers in their place', async () => {
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

  test('is probed with a time limit: silence is an answer too', async () => {
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

describe.runIf(hasStack)('a row that the product needs', () => {
  test.each([
    ['private.rates', `rule = 'export'`, 'private.rates export'],
    // Not a kind of listing: deleting one would also delete its search words, which later tests need.
    ['public.vocabularies', `code = 'whatsapp'`, 'public.vocabularies contact_kind whatsapp'],
    ['private.settings', `name = 'seller'`, 'private.settings seller'],
  ])('is an alarm and degraded while it is gone from %s', async (table, where, subject) => {
    const [api, jobs] = await Promise.all([startFacade(), startFacade({}, 'jobs')])
    const run = () => ask(jobs, '', { method: 'POST', headers: { apikey: secretKey } })
    const { rows: [before] } = await database().query(`select * from ${table} where ${where}`)
    try {
      await run()
      await waitUntil(
        'health is well',
        async () => (await ask(api, '/health')).body.status === 'ok',
      )
      await database().query(`delete from ${table} where ${where}`)
      await waitUntil(
        'health says it',
        async () => (await ask(api, '/health')).body.status === 'degraded',
      )
      await run()
      expect((await unsettled('row_missing')).map(({ subject_id }) => subject_id)).toEqual([
        subject,
      ])
    } finally {
      await database().query(
        `insert into ${table} select * from jsonb_populate_record(null::${table}, $1)
         on conflict do nothing`,
        [before],
      )
      await run()
      expect(await unsettled('row_missing')).toEqual([])
      await Promise.all([api.stop(), jobs.stop()])
    }
  })
})
