import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { freePorts } from '../../local/config/ports.ts'
import { database, secretKey } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { forget, linesOf, unsettled } from './facade-requests.ts'

type Call = { headers: IncomingHttpHeaders; text: string }

/** Starts a server that records requests and responds with a status that the test chooses. */
async function receiver(port: number) {
  const calls: Call[] = []
  const set = { status: 200 }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    calls.push({ headers: request.headers, text: Buffer.concat(parts).toString() })
    response.writeHead(set.status, set.status === 307 ? { location: '/elsewhere' } : {}).end()
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    calls,
    set,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?sig=a%20secret`,
    stop: () => server.close().closeAllConnections(),
  }
}

const bytes = randomBytes(32)
const signing = { ALARM_WEBHOOK_SECRET: `whsec_${bytes.toString('base64')}` }

const kind = 'webhook_test'
const raise = (subject: string, details: object = {}) =>
  database().query('select private.raise_alarm($1, $2, $3)', [kind, subject, details])
const due = () =>
  database().query(`update private.alarms set deliver_at = now() where kind = $1`, [kind])
const row = async () =>
  (await database().query(
    `select id, tries, deliver_at > now() as waits from private.alarms where kind = $1`,
    [kind],
  )).rows[0]

const run = async (jobs: Facade) => {
  const headers = { apikey: secretKey }
  const response = await fetch(`${jobs.url}/send_alarms`, { method: 'POST', headers })
  return (await response.json()).send_alarms
}

/** Cancels the delivery of alarms that other tests have left. */
const onlyOurs = () =>
  database().query('update private.alarms set deliver_at = null where kind <> $1', [kind])

describe.runIf(hasStack)('OPS-07 an alarm at ALARM_WEBHOOK', () => {
  afterEach(async () => {
    for (const each of [kind, 'alarms_unsent', 'provider_not_configured']) await forget(each)
  })

  test('comes signed, once, after a receiver was dead, failed and sent it elsewhere', async () => {
    const port = await freePorts(1)
    const url = `http://127.0.0.1:${port}/hook?sig=a%20secret`
    const jobs = await startFacade({ ...signing, ALARM_WEBHOOK: url }, 'jobs')
    let there: Awaited<ReturnType<typeof receiver>> | undefined
    try {
      await onlyOurs()
      const subject = randomUUID()
      await raise(subject, { why: 'من التجربة' })
      expect(await run(jobs)).toEqual({ done: 0 })
      expect(await row()).toMatchObject({ tries: 1, waits: true })
      expect(await unsettled('alarms_unsent')).toMatchObject([{ subject_id: 'alarm_webhook' }])
      expect(jobs.output()).not.toContain('secret')

      there = await receiver(port)
      expect(await run(jobs)).toEqual({ done: 0 })
      expect(there.calls).toEqual([])
      for (const [nth, status] of [500, 410, 307].entries()) {
        there.set.status = status
        await due()
        expect(await run(jobs)).toEqual({ done: 0 })
        expect(await row()).toMatchObject({ tries: 2 + nth, waits: true })
      }
      there.set.status = 204
      await due()
      expect(await run(jobs)).toEqual({ done: 1 })
      expect(await row()).toMatchObject({ tries: 5, waits: null })
      expect(there.calls).toHaveLength(4)

      const { id } = await row()
      for (const { headers, text } of there.calls) {
        expect(headers['content-type']).toBe('application/json')
        expect(headers['webhook-id']).toBe(`alarm_${id}`)
        const signed = `alarm_${id}.${headers['webhook-timestamp']}.${text}`
        expect(headers['webhook-signature'])
          .toBe(`v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`)
        expect(Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])))
          .toBeLessThan(300)
        const { type, timestamp, data } = JSON.parse(text)
        expect(type).toBe('alarm.raised')
        expect(timestamp).toBe(data.raisedAt)
        expect(data).toEqual({
          service: expect.any(String),
          id: Number(id),
          kind,
          subject,
          details: { why: 'من التجربة' },
          raisedAt: expect.any(String),
          settledAt: null,
        })
      }
      expect(await run(jobs)).toEqual({ done: 0 })
      await expect.poll(() => unsettled('alarms_unsent')).toEqual([])
    } finally {
      there?.stop()
      await jobs.stop()
    }
  })

  test('is sent once by two workers at once, settled or not, and not after a day', async () => {
    const there = await receiver(0)
    const settings = { ...signing, ALARM_WEBHOOK: there.url }
    const workers = await Promise.all([
      startFacade(settings, 'jobs'),
      startFacade(settings, 'jobs'),
    ])
    try {
      await onlyOurs()
      for (const subject of ['one', 'two', 'three', 'old']) await raise(subject)
      await database().query(
        `update private.alarms set settled_at = now() where kind = $1 and subject_id = 'two'`,
        [kind],
      )
      await database().query(
        `update private.alarms set raised_at = now() - interval '25 hours'
         where kind = $1 and subject_id = 'old'`,
        [kind],
      )
      await Promise.all(workers.map(run))
      const sent = there.calls.map(({ text }) => JSON.parse(text).data)
      expect(sent.map(({ subject }) => subject).sort()).toEqual(['one', 'three', 'two'])
      const [two] = sent.filter(({ subject }) => subject === 'two')
      expect(two.settledAt).toEqual(expect.any(String))
    } finally {
      there.stop()
      for (const worker of workers) await worker.stop()
    }
  })

  const hostile = '<!channel> [x](https://evil.example) & *b*'

  test.each<[string, (body: never) => unknown, string]>([
    [
      'slack',
      ({ text }: { text: string }) => text,
      '&lt;!channel&gt; [x](https://evil.example) &amp;',
    ],
    [
      'teams',
      ({ attachments: [{ contentType, content }] }: {
        attachments: {
          contentType: string
          content: { type: string; body: { type: string; inlines: { text: string }[] }[] }
        }[]
      }) =>
        contentType === 'application/vnd.microsoft.card.adaptive' &&
        content.type === 'AdaptiveCard' && content.body[0]!.type === 'RichTextBlock' &&
        content.body[0]!.inlines[0]!.text,
      '<!channel> [x](https://evil.example) &',
    ],
  ])('is a line for %s, in which a subject is only text', async (format, textOf, shown) => {
    const there = await receiver(0)
    const settings = { ALARM_WEBHOOK: there.url, ALARM_WEBHOOK_FORMAT: format }
    const jobs = await startFacade(settings, 'jobs')
    try {
      await onlyOurs()
      await raise(hostile)
      expect(await run(jobs)).toEqual({ done: 1 })
      const [call] = there.calls
      expect(textOf(JSON.parse(call!.text) as never)).toContain(`${kind}: ${shown}`)
      expect(call!.headers).not.toHaveProperty('webhook-signature')
    } finally {
      there.stop()
      await jobs.stop()
    }
  })

  test.each<[string, Record<string, string>, string]>([
    ['in JSON without a secret', {}, 'provider_not_configured'],
    ['with a secret of another form', { ALARM_WEBHOOK_SECRET: randomUUID() }, 'secret_refused'],
    ['at what is no address', { ...signing, ALARM_WEBHOOK: 'ftp://a.example/x' }, 'secret_refused'],
  ])('is not sent %s, and the log says why', async (_, settings, alert) => {
    const there = await receiver(0)
    const jobs = await startFacade({ ALARM_WEBHOOK: there.url, ...settings }, 'jobs')
    try {
      await onlyOurs()
      await raise('nothing')
      expect(await run(jobs)).toEqual({ done: 0 })
      expect(linesOf(jobs, alert)).toBe(1)
      expect(there.calls).toEqual([])
      expect(await row()).toMatchObject({ tries: 0 })
    } finally {
      there.stop()
      await jobs.stop()
      await forget('secret_refused')
    }
  })
})

test.runIf(hasStack)('OPS-07 what is sent does not name the administrator', async () => {
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('update private.alarms set deliver_at = null')
    await client.query(
      `select private.raise_alarm('admin_ceiling', $1, '{"name": "سالم", "total": 20}')`,
      [randomUUID()],
    )
    const { rows: [{ taken }] } = await client.query('select private.take_alarms() as taken')
    expect(taken).toMatchObject([{ kind: 'admin_ceiling', details: { total: 20 } }])
    expect(taken[0].details).not.toHaveProperty('name')
  } finally {
    await client.query('rollback')
    client.release()
  }
})
