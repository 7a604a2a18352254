// Follows docs/runbook.md on a stack that is broken on purpose.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { root } from '../../local/config/settings.ts'
import { databaseAt } from '../../local/schema/connection.ts'
import { byHand } from '../admin/studio.ts'
import { givePhone } from '../support/fixtures.ts'
import { signUpAdmin } from '../support/admins.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, guest, newEmail, newPhone, projectUrl, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { hasStack, startFacade } from '../support/facade.ts'
import { startFacadeProcess } from '../support/facade-process.ts'
import { returnUrl } from '../support/money.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { forget, unsettled } from './facade-requests.ts'

const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8')

/** Returns the blocks of SQL under a heading of the runbook. */
function sqlOf(heading: string): string[] {
  const [, section] = runbook.split(`\n## ${heading}\n`)
  if (section === undefined) throw new Error(`the runbook has no ${heading}`)
  return [...section.split('\n## ')[0]!.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!)
}

const allSql = [...runbook.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!)

const token = randomUUID()
const settings = { METRICS_TOKEN: token }

async function figuresAt(url: string): Promise<(series: string) => number> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const lines = (await response.text()).split('\n').map((line) => line.split(/ (?=\S+$)/))
  const figures = new Map(lines.map(([series, value]) => [series, Number(value)]))
  return (series) => figures.get(series) ?? 0
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function ownProcess(more: Record<string, string> = {}) {
  const own = await startFacadeProcess({ ...settings, ...more })
  ends.push(own.kill)
  const api = `http://127.0.0.1:${own.port}`
  const ask = async (path: string, { body, as }: { body?: unknown; as?: string } = {}) => {
    const response = await fetch(api + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...(as && { authorization: `Bearer ${as}` }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const { error, ...rest } = await response.json()
    return { ...rest, status: response.status, code: error?.code }
  }
  return { ask, figures: () => figuresAt(`${api}/metrics`) }
}

describe.runIf(hasStack)('OPS-09 the runbook', () => {
  test.each(allSql.map((sql) => [sql.split('\n')[0]!, sql]))(
    'its SQL runs as it stands: %s',
    async (_, sql) => {
      const client = await database().connect()
      try {
        await client.query(`begin; set local edits.by = ''`)
        await client.query(sql)
      } finally {
        await client.query('rollback')
        client.release()
      }
    },
  )

  test('its rules and the dashboard have every figure, and no other', () => {
    const sources = [
      ...readdirSync(join(root, 'functions/_shared/figures')).map((name) =>
        `_shared/figures/${name}`
      ),
      'api/base.ts',
      'api/http/figures.ts',
      'chat/server/figures.ts',
    ].map((name) => readFileSync(join(root, 'functions', name), 'utf8')).join('\n')
    const names = (text: string, pattern: RegExp) =>
      new Set(
        [...text.matchAll(pattern)].map(([, name]) =>
          name!.replace(/_(total|bucket|sum|count)$/, '')
        ),
      )
    const written = names(sources, /'((?:marketplace|http|chat|process)_[a-z_]+)'/g)
    const shown = /((?:marketplace|http|chat|process)_[a-z_]+)(?=[{[)\s]|$)/g
    const dashboard = JSON.parse(readFileSync(join(root, 'docs/grafana-dashboard.json'), 'utf8'))
    const expressions: string[] = dashboard.panels
      .flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
        targets.map(({ expr }) => expr)
      )
    expect(expressions.length).toBeGreaterThan(30)
    expect(names(expressions.join('\n'), shown)).toEqual(written)
    const rules = runbook.split('\n## ')[1]!.split('\n').filter((line) => line.startsWith('| `'))
    expect(rules.length).toBeGreaterThan(8)
    for (const name of names(rules.join('\n'), shown)) expect(written).toContain(name)
  })

  test('SMS: people get 502 and an alarm says why; email goes on, and another provider mends it', async () => {
    const { ask, figures } = await ownProcess({
      SMS_PROVIDER: 'unifonic',
      SMS_APP_SID: randomUUID(),
      SMS_SENDER: 'Dar',
      SMS_URL: 'http://127.0.0.1:9',
    })
    await forget('phone_send_failed')
    const by = (identifier: string) => ({ body: { identifier, password: randomUUID() } })
    expect(await ask('/auth/register', by(newPhone())))
      .toMatchObject({ status: 502, code: 'sms_send_failed' })
    expect((await ask('/auth/register', by(newEmail()))).status).toBe(201)
    expect((await figures())('http_errors_total{code="sms_send_failed"}')).toBe(1)
    await waitUntil(
      'the alarm is open',
      async () => (await unsettled('phone_send_failed')).length === 1,
    )
    const mended = await ownProcess()
    expect((await mended.ask('/auth/register', by(newPhone()))).status).toBe(201)
    await byHand(sqlOf('How it reaches you')[0]!)
    expect(await unsettled('phone_send_failed')).toEqual([])
  })

  test('payments: people get 502, the queue has what is open; without a provider it is 503', async () => {
    const { ask, figures } = await ownProcess({
      PAYMENT_PROVIDER: 'tap',
      TAP_SECRET_KEY: `sk_test_${randomUUID()}`,
      TAP_URL: 'http://127.0.0.1:9',
    })
    const person = await signUp()
    const as = person.accessToken
    const before = (await figures())('marketplace_queue_waiting{queue="payments"}')
    const invoice = await ask('/wallet/topup', { body: { amount: 5 }, as })
    const charge = { body: { invoiceId: invoice.id, returnUrl }, as }
    expect(await ask('/payments/charge', charge))
      .toMatchObject({ status: 502, code: 'payment_provider_error' })
    let now = await figures()
    await waitUntil('the queue has it', async () => {
      now = await figures()
      return now('marketplace_queue_waiting{queue="payments"}') === before + 1
    })
    expect(now('http_errors_total{code="payment_provider_error"}')).toBe(1)
    const rows = (await database().query(sqlOf('A payment provider is down')[0]!)).rows
    expect(rows).toContainEqual(expect.objectContaining({ provider: 'tap', state: 'starting' }))
    const without = await ownProcess({ PAYMENT_PROVIDER: '' })
    const other = await without.ask('/wallet/topup', { body: { amount: 6 }, as })
    expect(await without.ask('/payments/charge', { body: { invoiceId: other.id, returnUrl }, as }))
      .toMatchObject({ status: 503, code: 'payment_not_configured' })
  })

  test('a slow database: 503, the query names who is in the way, and without it all goes on', async () => {
    const { ask, figures } = await ownProcess()
    const { accessToken: as } = await signUp()
    const inTheWay = new pg.Client(databaseAt(variable('DATABASE_URL')!))
    inTheWay.on('error', () => {})
    await inTheWay.connect()
    ends.push(() => inTheWay.end().catch(() => {}))
    const { rows: [{ pid }] } = await inTheWay.query('select pg_backend_pid() as pid')
    await inTheWay.query('begin; lock table public.properties in access exclusive mode')
    const answer = ask('/properties/mine', { as })
    await waitUntil('the query names it', async () => {
      const { rows } = await database().query(sqlOf('The database is slow or away')[0]!)
      return rows.some(({ waits_for }) => waits_for.includes(pid)) &&
        rows.some((row) => row.pid === pid && row.state === 'idle in transaction')
    })
    const reply = await answer
    expect(reply.status).toBeGreaterThanOrEqual(503)
    expect(['service_unavailable', 'timeout']).toContain(reply.code)
    expect((await figures())(`http_errors_total{code="${reply.code}"}`)).toBe(1)
    expect((await ask('/health')).database).toBe('ok')
    await database().query('select pg_terminate_backend($1)', [pid])
    await waitUntil(
      'all goes on',
      async () => (await ask('/properties/mine', { as })).status === 200,
    )
  })

  test('Realtime that is silent: an update comes late and is counted, and the database handed it over', async () => {
    const way = await silentWay()
    const chat = await startConversation()
    const gateway = await startGateway({
      ...settings,
      SUPABASE_URL: way.url,
      AUTH_ISSUER: `${projectUrl}/auth/v1`,
    }, { times: { updatesEvery: 1000, heartbeatEvery: 600_000, silenceLimit: 600_000 } })
    ends.push(gateway.kill)
    const socket = await ChatSocket.connect(chat.b, gateway.url)
    ends.push(() => socket.close())
    const metricsUrl = `http://127.0.0.1:${gateway.port}/metrics`
    await waitUntil(
      'it has joined',
      async () => (await figuresAt(metricsUrl))('chat_realtime_ready') === 1 && way.heard(),
    )
    way.silence()
    expect((await postMessage(chat.a, chat.conversationId)).status).toBe(201)
    await waitUntil('it comes all the same', () => socket.events('conversation_updated').length > 0)
    expect((await figuresAt(metricsUrl))('chat_late_updates_total')).toBeGreaterThan(0)
    const { rows: [handed] } = await database().query(sqlOf('Realtime is silent')[0]!)
    expect(Number(handed.handed_over)).toBeGreaterThan(0)
  })

  test('an administrator: the right is gone at the next request, and what was done is found', async () => {
    const [admin, victim] = await Promise.all([signUpAdmin(), signUp()])
    await signUpAdmin()
    const phone = newPhone()
    await givePhone(admin, phone)
    const reason = `مخالفة ${randomUUID()}`
    const suspended = await admin.patch(`/admin/users/${victim.id}/status`, {
      status: 'suspended',
      reason,
    })
    expect(suspended.status).toBe(200)
    const [remove, select] = sqlOf("An administrator's account leaked")
      .map((sql) => sql.replaceAll('5000 0021', phone))
    const { rows } = await database().query(select!)
    expect(rows).toContainEqual(expect.objectContaining({ target_id: victim.id, reason }))
    expect((await byHand(remove!)).rowCount).toBe(1)
    expect([401, 403]).toContain((await admin.get('/admin/stats')).status)
  })

  test('a wrong deploy: 500 and an alarm with the route, and nothing once it is mended', async () => {
    const { ask, figures } = await ownProcess()
    await forget('internal')
    await database().query('alter function api.list_kinds() rename to list_kinds_away')
    try {
      expect(await ask('/meta/kinds')).toMatchObject({ status: 500, code: 'internal' })
      await waitUntil('the alarm is open', async () => (await unsettled('internal')).length === 1)
      expect(await unsettled('internal')).toMatchObject([{ subject_id: 'GET /meta/kinds' }])
      expect((await figures())('http_errors_total{code="internal"}')).toBe(1)
    } finally {
      await database().query('alter function api.list_kinds_away() rename to list_kinds')
      await forget('internal')
    }
    expect((await ask('/meta/kinds')).status).toBe(200)
  })

  test('closing and opening the service', async () => {
    const [close, open] = sqlOf('Close the service')
    await byHand(close!)
    try {
      const { status, body } = await guest.get('/meta/kinds')
      expect([status, body.error.messageEn]).toEqual([503, 'We are back at six'])
    } finally {
      await byHand(open!)
    }
    expect((await guest.get('/meta/kinds')).status).toBe(200)
  })

  test('a worker of a facade has the figures that the runbook goes by', async () => {
    const facade = await startFacade(settings)
    ends.push(facade.stop)
    const figures = await figuresAt(`${facade.url}/metrics`)
    expect(figures('marketplace_database_up')).toBe(1)
    expect(figures('marketplace_part_up{part="realtime"}')).toBe(1)
  })
})

/**
 * Starts a proxy to the project that can drop everything that Realtime sends while the connections stay open.
 */
async function silentWay() {
  const sockets = new Set<Socket>()
  const realtime: [client: Socket, upstream: Socket][] = []
  let heard = false
  let silent = false
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(projectUrl).port), '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.on('data', (part: Buffer) => {
      if (part.includes('/realtime/v1/websocket')) realtime.push([client, upstream])
      upstream.write(part)
    })
    upstream.on('data', (part: Buffer) => {
      const isRealtime = realtime.some(([one]) => one === client)
      if (isRealtime && part.includes('phx_reply')) heard = true
      if (!(silent && isRealtime)) client.write(part)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: () => heard,
    silence: () => (silent = true),
  }
}
