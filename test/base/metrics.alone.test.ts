import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { defaultSettings, type Facade, hasStack, startFacade } from '../support/facade.ts'
import { startFacadeProcess } from '../support/facade-process.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { returnUrl } from '../support/money.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { forget } from './facade-requests.ts'

const token = randomUUID()
const settings = { METRICS_TOKEN: token }
const bearer = { authorization: `Bearer ${token}` }
const openMetrics = { ...bearer, accept: 'application/openmetrics-text;version=1.0.0,*/*;q=0.1' }

type Figures = Map<string, number>

/** Parses the metrics. Fails if a metric lacks HELP or TYPE, or if a series occurs twice. */
function read(text: string): Figures {
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const figures: Figures = new Map()
  for (const line of text.split('\n')) {
    const [, what, family, says] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? []
    if (what === 'HELP') helps.add(family!)
    if (what === 'TYPE') types.set(family!, says!)
    if (what || !line || line === '# EOF') continue
    const [, name = '', labels = '', value] = /^([a-z_]+)(\{[^}]*\})? (\S+)$/.exec(line) ?? []
    const of = types.has(name) ? name : name.replace(/_(bucket|sum|count|total)$/, '')
    expect(types.get(of), line).toMatch(/^(gauge|counter|histogram)$/)
    expect(helps, line).toContain(of)
    expect(figures.has(name + labels), line).toBe(false)
    expect(Number(value), line).not.toBeNaN()
    figures.set(name + labels, Number(value))
  }
  return figures
}

async function figuresOf(url: string, headers: Record<string, string> = bearer): Promise<Figures> {
  const response = await fetch(url, { headers })
  expect(response.status).toBe(200)
  return read(await response.text())
}

/**
 * Waits until the metrics meet the condition. The service queries the database at most every two
 * seconds, so changes appear late.
 */
async function untilFigures(url: string, isIt: (figures: Figures) => boolean): Promise<Figures> {
  let figures: Figures = new Map()
  await waitUntil('the figures say it', async () => isIt(figures = await figuresOf(url)))
  return figures
}

const sum = (figures: Figures, name: RegExp) =>
  [...figures].reduce((all, [series, value]) => name.test(series) ? all + value : all, 0)

describe.runIf(hasStack)('OPS-03 GET /metrics', () => {
  let facade: Facade
  let person: Person

  beforeAll(async () => {
    ;[facade, person] = await Promise.all([startFacade(settings), signUp()])
  })
  afterAll(() => facade?.stop())

  test('is no route without the setting, nor for whoever has another token', async () => {
    const without = await startFacade()
    const weak = await startFacade({ METRICS_TOKEN: 'changeme' })
    const bodyOf = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init)
      expect(response.status, `${init.method} ${url}`).toBe(404)
      expect(response.headers.get('allow')).toBeNull()
      const { error: { requestId: _, ...error } } = await response.json()
      return error
    }
    try {
      const unknown = await bodyOf(`${facade.url}/nothing`, {})
      expect(await bodyOf(`${without.url}/metrics`, { headers: bearer })).toEqual(unknown)
      const changeme = { authorization: 'Bearer changeme' }
      expect(await bodyOf(`${weak.url}/metrics`, { headers: changeme })).toEqual(unknown)
      for (
        const authorization of [
          undefined,
          token,
          `Basic ${token}`,
          'Bearer ',
          `Bearer ${token}x`,
          `Bearer ${token.slice(1)}`,
          `Bearer ${token.toUpperCase()}`,
          `Bearer ${person.accessToken}`,
        ]
      ) {
        const headers = authorization === undefined ? undefined : { authorization }
        expect(await bodyOf(`${facade.url}/metrics`, { headers }), authorization).toEqual(unknown)
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const init = { method, headers: bearer }
        expect(await bodyOf(`${facade.url}/metrics`, init), method).toEqual(unknown)
      }
    } finally {
      await Promise.all([without.stop(), weak.stop()])
      await forget('secret_refused')
    }
  })

  test('answers in the format 0.0.4, and in OpenMetrics where that is asked for', async () => {
    const plain = await fetch(`${facade.url}/metrics`, { headers: bearer })
    expect(plain.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(plain.headers.get('cache-control')).toBe('private, no-store')
    expect(plain.headers.has('x-auth-ignored')).toBe(false)
    expect(await plain.text()).not.toContain('# EOF')
    const open = await fetch(`${facade.url}/metrics`, { headers: openMetrics })
    expect(open.headers.get('content-type'))
      .toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    const text = await open.text()
    expect(text.endsWith('\n# EOF\n')).toBe(true)
    expect([...read(text).keys()].length).toBeGreaterThan(30)
    const head = await fetch(`${facade.url}/metrics`, { method: 'HEAD', headers: bearer })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('says what waits, was sent and is open, and of a worker nothing', async () => {
    const url = `${facade.url}/metrics`
    const before = await figuresOf(url)
    const waiting = 'marketplace_moderation_waiting{kind="identity"}'
    const kind = `test_${randomUUID().slice(0, 8)}`
    const company = await insertWaitingCompany(person.id)
    await database().query(
      `update public.identities set created_at = now() - interval '9 days' where id = $1`,
      [company],
    )
    await database().query('select private.raise_alarm($1, $2)', [kind, randomUUID()])
    await database().query('select private.raise_alarm($1, $2)', [kind, randomUUID()])
    const topUp = await person.post('/wallet/topup', { amount: 5 })
    expect(topUp.status).toBe(201)
    const charge = await person.post('/payments/charge', {
      invoiceId: topUp.body.id,
      returnUrl,
    })
    expect(charge.status).toBeLessThan(300)
    await person.post('/auth/password/forgot', { identifier: person.identifier })

    const alarms = `marketplace_alarms_open{kind="${kind}"}`
    const after = await untilFigures(url, (now) => now.get(alarms) === 2)
    const grown = (series: string) => after.get(series)! - (before.get(series) ?? 0)
    expect(grown(waiting)).toBe(1)
    expect(after.get('marketplace_moderation_age_seconds{kind="identity"}'))
      .toBeGreaterThanOrEqual(9 * 24 * 3600)
    expect(grown('marketplace_queue_waiting{queue="payments"}')).toBe(1)
    expect(grown('marketplace_messages_sent_today{kind="mail"}')).toBe(1)
    expect(grown('marketplace_messages_sent_today{kind="sms"}')).toBe(0)
    for (
      const queue of [
        'pushes',
        'notification_events',
        'deferred_notifications',
        'contact_messages',
        'payments',
        'refunds',
        'deletions',
        'file_moves',
        'file_removals',
      ]
    ) {
      expect(after.get(`marketplace_queue_waiting{queue="${queue}"}`), queue)
        .toBeGreaterThanOrEqual(0)
      expect(after.get(`marketplace_queue_age_seconds{queue="${queue}"}`), queue)
        .toBeGreaterThanOrEqual(0)
    }
    expect(after.get('marketplace_database_up')).toBe(1)
    expect(after.get('marketplace_database_read_only')).toBe(0)
    expect(after.get('marketplace_database_size_bytes')).toBeGreaterThan(1_000_000)
    expect(after.get('marketplace_database_connections')!)
      .toBeLessThanOrEqual(after.get('marketplace_database_connections_limit')!)
    for (const part of ['database', 'auth', 'storage', 'realtime']) {
      expect(after.get(`marketplace_part_up{part="${part}"}`), part).toBe(1)
    }
    expect([...after.keys()].filter((series) => /^(http|process|marketplace_pool)_/.test(series)))
      .toEqual([])

    await database().query('delete from private.alarms where kind = $1', [kind])
    await untilFigures(url, (now) => !now.has(alarms))
  })

  test('counts the files that the job would remove, and none that a report holds', async () => {
    const client = await database().connect()
    const waiting = async () =>
      (await client.query(
        `select waiting::int from private.job_queues() where name = 'file_removals'`,
      )).rows[0].waiting
    try {
      await client.query('begin')
      const before = await waiting()
      const plant = async (type: string, status: string) => {
        const { rows: [{ id }] } = await client.query(
          `insert into public.media
             (account_id, identity_id, bucket, name, width, height, orientation, bytes, sha256,
              discarded_at)
           values ($1, $2, 'listings', $3, 9, 9, 1, 9, $4, now()) returning id`,
          [
            person.id,
            person.identityId,
            `${person.identityId}/${randomUUID()}.jpg`,
            'a'.repeat(64),
          ],
        )
        await client.query(
          `insert into public.reports (account_id, identity_id, target_type, target_id,
             conversation_id, reported_identity_id, content_hash, reason, status, stored_content)
           values ($1, $3, $2::text, gen_random_uuid(),
             case $2::text when 'message' then gen_random_uuid() end, $3, '', 'fraud', $4,
             jsonb_build_object('pictures', jsonb_build_array($5::uuid)))`,
          [person.id, type, person.identityId, status, id],
        )
      }
      await plant('property', 'open')
      expect(await waiting()).toBe(before)
      await plant('message', 'upheld')
      const file = `${person.identityId}/${randomUUID()}.pdf`
      await client.query(
        `insert into public.documents (account_id, identity_id, name, file, type, bytes, sha256, discarded_at)
         values ($1, $2, '', $3, 'application/pdf', 9, $4, now())`,
        [person.id, person.identityId, file, 'a'.repeat(64)],
      )
      await client.query(`insert into private.stray_files (bucket, name) values ('listings', 'x')`)
      expect(await waiting()).toBe(before + 3)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('says the limit of SMS, where there is one', async () => {
    const limited = await startFacade({ ...settings, SMS_PER_DAY: '321' })
    try {
      const limit = 'marketplace_sms_limit_today'
      expect((await figuresOf(`${limited.url}/metrics`)).get(limit)).toBe(321)
      expect((await figuresOf(`${facade.url}/metrics`)).has(limit)).toBe(false)
    } finally {
      await limited.stop()
    }
  })

  const away = () => {
    const url = new URL(defaultSettings().FACADE_DB_URL!)
    url.port = '9'
    return url.href
  }

  test('answers while the database does not', async () => {
    const lost = await startFacade({ ...settings, FACADE_DB_URL: away() })
    try {
      const figures = await figuresOf(`${lost.url}/metrics`)
      expect(figures.get('marketplace_database_up')).toBe(0)
      expect(figures.get('marketplace_part_up{part="database"}')).toBe(0)
      expect([...figures.keys()].filter((series) => series.includes('queue'))).toEqual([])
    } finally {
      await lost.stop()
    }
  })

  // In a stack with its own replicas, the stack updates the heartbeat (`beat`) itself.
  test.runIf(variable('REPLICAS') === '0')('says which replica is behind or away', async () => {
    const near = defaultSettings().FACADE_DB_URL!
    const replicated = await startFacade({
      ...settings,
      FACADE_READ_DB_URL: `${away()},${near}`,
    })
    try {
      await database().query(
        `insert into private.timestamps (name, at) values ('beat', clock_timestamp() - interval '1 hour')
         on conflict (name) do update set at = excluded.at`,
      )
      const up = (port: string) => `{replica="facade@127.0.0.1:${port}"}`
      const { port } = new URL(near)
      // On a slow machine the first connection may come too late, so this waits for it.
      const figures = await untilFigures(
        `${replicated.url}/metrics`,
        (figures) => figures.get(`marketplace_replica_up${up(port)}`) === 1,
      )
      expect(figures.get(`marketplace_replica_up${up('9')}`)).toBe(0)
      expect(figures.has(`marketplace_replica_lag_seconds${up('9')}`)).toBe(false)
      expect(figures.get(`marketplace_replica_lag_seconds${up(port)}`)).toBeGreaterThanOrEqual(3600)
    } finally {
      await database().query(`delete from private.timestamps where name = 'beat'`)
      await replicated.stop()
    }
  })

  test('of a process counts requests by route, and nobody can make more figures', async () => {
    const own = await startFacadeProcess(settings)
    const api = `http://127.0.0.1:${own.port}`
    const url = `${api}/metrics`
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(api + path, init)
      await response.arrayBuffer()
      return response.status
    }
    const as = { headers: { authorization: `Bearer ${person.accessToken}` } }
    try {
      for (let n = 0; n < 3; n++) expect(await ask('/auth/me', as)).toBe(200)
      expect(await ask('/auth/me')).toBe(401)
      expect(await ask(`/properties/${randomUUID()}`)).toBe(404)
      const figures = await figuresOf(url)
      const me = 'method="GET",route="/auth/me"'
      expect(figures.get(`http_requests_total{${me},status="2xx"}`)).toBe(3)
      expect(figures.get(`http_requests_total{${me},status="4xx"}`)).toBe(1)
      expect(figures.get(`http_request_duration_seconds_count{${me}}`)).toBe(4)
      expect(figures.get(`http_request_duration_seconds_bucket{${me},le="+Inf"}`)).toBe(4)
      expect(figures.get(`http_request_duration_seconds_sum{${me}}`)).toBeGreaterThan(0)
      expect(figures.get('http_errors_total{code="token_missing"}')).toBe(1)
      expect(figures.get('http_errors_total{code="property_not_found"}')).toBe(1)
      expect(figures.get('http_requests_in_flight')).toBe(1)
      expect(figures.get('marketplace_pool_connections{pool="requests"}')).toBeGreaterThan(0)
      expect(figures.get('process_start_time_seconds')! * 1000).toBeLessThan(Date.now())
      expect(figures.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)

      await ask('/nothing/first')
      await ask('/properties/first', { method: 'PROPFIND' })
      const counted = await figuresOf(url)
      for (let n = 0; n < 300; n++) {
        const path = n % 2 ? `/nothing/${randomUUID()}` : `/properties/${randomUUID()}?x${n}=1`
        const headers = { 'accept-language': `x-${n}`, 'x-request-id': randomUUID() }
        await ask(path, { method: n % 3 ? 'GET' : `M${n}`, headers })
      }
      const text = await (await fetch(url, { headers: bearer })).text()
      const later = read(text)
      const added = [...later.keys()].filter((series) => !counted.has(series))
      // Whatever these requests contain, they add only the series of one error code and one status class.
      expect(added.length, added.join('\n')).toBeLessThanOrEqual(20)
      expect(sum(later, /^http_request_duration_seconds_count/))
        .toBe(sum(counted, /^http_request_duration_seconds_count/) + 301)
      for (const secret of [person.id, person.identityId, person.identifier, token]) {
        expect(text).not.toContain(secret)
      }
      expect(text).not.toMatch(/[\da-f]{8}-[\da-f]{4}-|@(?!127)/)
    } finally {
      own.kill()
    }
  })

  test('of the gateway counts sockets and frames', async () => {
    const gateway = await startGateway(settings)
    const url = `http://127.0.0.1:${gateway.port}/metrics`
    try {
      expect((await fetch(url)).status).toBe(404)
      expect((await fetch(url, { method: 'POST', headers: bearer })).status).toBe(404)
      const socket = await ChatSocket.connect(person, gateway.url)
      await socket.ask('heartbeat', {})
      const refused = await socket.ask('join_conversation', { conversationId: randomUUID() })
      expect(refused.event).toBe('error')
      const figures = await figuresOf(url, openMetrics)
      expect(figures.get('chat_sockets')).toBe(1)
      expect(figures.get('chat_handshakes_total{status="101"}')).toBe(1)
      expect(figures.get('chat_frame_duration_seconds_count{event="heartbeat"}')).toBe(1)
      expect(figures.get(`chat_errors_total{code="${refused.data.code}"}`)).toBe(1)
      expect(figures.get('chat_realtime_connections')).toBe(1)
      expect(figures.get('marketplace_database_up')).toBe(1)
      socket.close()
      await untilFigures(url, (now) => now.get('chat_sockets') === 0)
      expect((await figuresOf(url)).get('chat_closed_total{code="0"}')).toBe(1)
    } finally {
      await gateway.terminate()
    }
  })

  const promtool = spawnSync('promtool', ['--version']).status === 0
  if (!promtool) console.log('promtool is not there: its check of the figures is left out.')
  test.runIf(promtool)('is without a finding of promtool', async () => {
    const own = await startFacadeProcess(settings)
    const gateway = await startGateway(settings)
    try {
      for (const port of [own.port, gateway.port]) {
        const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: bearer })
        const input = await response.text()
        const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
          input,
          encoding: 'utf8',
        })
        expect([status, stdout, stderr]).toEqual([0, '', ''])
      }
    } finally {
      own.kill()
      await gateway.terminate()
    }
  })
})
