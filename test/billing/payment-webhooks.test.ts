import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, projectUrl, request, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  hasSandbox,
  type Invoice,
  moneyFingerprint,
  sandboxCallback,
  sandboxSignature,
  sendCallback,
  walletOf,
} from '../support/money.ts'
import { race } from '../support/races.ts'
import { payWithoutCallback, stateOf, webhook } from './payment-steps.ts'

let payer: Person

beforeAll(async () => {
  payer = await signUp('خالد المطيري')
})

describe.runIf(hasSandbox)('paying', () => {
  test('PAY-02 two hundred copies of one webhook at once have one effect', async () => {
    const person = await signUp()
    const { ref } = await payWithoutCallback(person)
    const raw = sandboxCallback(ref)
    const replies = await race(Array.from({ length: 200 }, () => webhook(raw)))
    for (const { status } of replies) expect(status).toBe(200)
    expect(replies.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(10)
  })

  test('PAY-02 many events of ten invoices at once pay each once', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 10 }, () => payWithoutCallback(person, 1.5)))
    // Each event is a different one about the same charge, so none is a duplicate.
    const shots = all.flatMap(({ ref }) =>
      Array.from({ length: 8 }, () => webhook(sandboxCallback(ref)))
    )
    for (const { status } of await race(shots)) expect(status).toBe(200)
    expect((await walletOf(person)).available).toBe(15)
  })

  test('PAY-03 only webhooks that the sandbox signed are accepted', async () => {
    const { invoice, ref } = await payWithoutCallback(payer)
    const before = await moneyFingerprint(payer.identityId)
    const raw = sandboxCallback(ref, { amount: '10.000' })
    const right = sandboxSignature(raw)
    const [time, sign] = right.split(',v1=')
    const wrong: [string, string, string | null][] = [
      ['missing', raw, null],
      ['empty', raw, ''],
      ['wrong', raw, `${time},v1=${'0'.repeat(64)}`],
      ['cut short', raw, right.slice(0, -1)],
      ['longer', raw, `${right}0`],
      ['of another body', raw, sandboxSignature(sandboxCallback(ref))],
      ['of another secret', raw, sandboxSignature(raw, 'other')],
      ['upper case', raw, `${time},v1=${sign!.toUpperCase()}`],
      ['two, one right', raw, `${right}, ${time},v1=${'0'.repeat(64)}`],
      ['a space more', `${raw} `, right],
      [
        'another order of keys',
        JSON.stringify(Object.fromEntries(
          Object.entries(JSON.parse(raw)).reverse(),
        )),
        right,
      ],
      ['a field more', raw.replace('}', ',"note":1}'), right],
      ['another time', raw, right.replace(/t=\d/, 't=2')],
      ['too old', raw, sandboxSignature(raw, undefined, Date.now() - 301_000)],
      ['from the future', raw, sandboxSignature(raw, undefined, Date.now() + 360_000)],
      ['a kilobyte', raw, `${right}${'0'.repeat(1024)}`],
    ]
    for (const [name, body, signature] of wrong) {
      const reply = await sendCallback(body, { signature })
      expect([reply.status, reply.body.error.code], name).toEqual([
        401,
        'webhook_signature_invalid',
      ])
    }
    expect(await moneyFingerprint(payer.identityId)).toBe(before)
    expect(await stateOf(payer, invoice)).toBe('processing')
    for (const path of ['/payments/webhook/tap', '/payments/webhook/myfatoorah']) {
      expect((await sendCallback(raw, { path })).status).toBe(401)
    }
    expect((await sendCallback(raw, { path: '/payments/webhook' })).status).toBe(200)
    expect(await stateOf(payer, invoice)).toBe('paid')
  })

  test.each(['"9.999"', '10.001', '"0"', '0', '-10', '"-10.000"', '"1e1"', '100', '"ten"', 'null'])(
    'PAY-04 an event that says %s of 10.000 changes nothing and raises an alarm',
    async (amount) => {
      const person = await signUp()
      const { invoice, ref, paymentId } = await payWithoutCallback(person)
      const raw = sandboxCallback(ref).replace('}', `,"amount":${amount}}`)
      expect((await sendCallback(raw)).status).toBe(200)
      expect(await stateOf(person, invoice)).toBe('processing')
      expect(await alarmsAbout(paymentId)).toEqual(['payment_mismatch'])
      const { rows: [event] } = await database().query(
        'select outcome, payment_id from public.payment_events where event_key like $1',
        [`payment:${JSON.parse(raw).id}:%`],
      )
      expect(event).toEqual({ outcome: 'mismatch', payment_id: paymentId })
    },
  )

  test.each(['"10.000"', '10', '10.0', '"10"', '"10.0"'])(
    'PAY-04 %s is 10.000',
    async (amount) => {
      const person = await signUp()
      const { invoice, ref } = await payWithoutCallback(person)
      expect((await sendCallback(sandboxCallback(ref).replace('}', `,"amount":${amount}}`))).status)
        .toBe(200)
      expect(await stateOf(person, invoice)).toBe('paid')
    },
  )

  test.each([
    ['amount', 'amount = 9.999'],
    ['amount above', 'amount = 10.001'],
    ['currency', `currency = 'USD'`],
    ['reference', `reference = gen_random_uuid()`],
  ])('PAY-04 what the provider answers must fit: %s', async (_name, change) => {
    const person = await signUp()
    const { invoice, ref, paymentId } = await payWithoutCallback(person)
    await database().query(`update private.sandbox_charges set ${change} where id = $1`, [ref])
    expect((await sendCallback(sandboxCallback(ref))).status).toBe(200)
    expect(await stateOf(person, invoice)).toBe('processing')
    expect(await alarmsAbout(paymentId)).toEqual(['payment_mismatch'])
    expect((await walletOf(person)).available).toBe(0)
  })

  test('PAY-06 a recorded log of events played again has no effect', async () => {
    const person = await signUp()
    const log: string[] = []
    for (let i = 0; i < 5; i++) {
      const { ref } = await payWithoutCallback(person, 1 + i)
      log.push(sandboxCallback(ref), sandboxCallback(ref))
    }
    for (const raw of log) await sendCallback(raw)
    const before = await moneyFingerprint(person.identityId)
    for (const raw of [...log, ...log.toReversed()]) {
      expect(await sendCallback(raw)).toMatchObject({ status: 200, body: { duplicate: true } })
      const old = sandboxSignature(raw, undefined, Date.now() - 30 * 86_400_000)
      expect((await sendCallback(raw, { signature: old })).status).toBe(401)
    }
    expect(await moneyFingerprint(person.identityId)).toBe(before)
    expect((await walletOf(person)).available).toBe(15)
  })

  test('PAY-15 odd webhooks are refused or kept as ignored, and never a 5xx', async () => {
    const send = (raw: string) => sendCallback(raw)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers } = await request(method, '/payments/webhook')
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect((await send(`{"a":"${'x'.repeat(300_000)}"}`)).status).toBe(413)
    expect((await send('\ufeff{}')).status).toBe(200) // one byte order mark is ignored
    for (const raw of ['', 'not json', '{"id":', '\ufeff\ufeff{}']) {
      expect([400, 401, 422], raw).toContain((await send(raw)).status)
    }
    for (const raw of ['[]', '[{"id":"evt_1"}]', '"text"', '1', 'null']) {
      expect([400, 401, 422], raw).toContain((await send(raw)).status)
    }
    const ignored: Record<string, unknown>[] = [
      { type: 'something.new' },
      { type: 'charge' },
      { type: 'charge', chargeId: 'sbx_unknown' },
      { type: 'charge', chargeId: 5 },
      { type: 'charge', chargeId: { a: 1 } },
      { type: 'refund', refundId: 'sbr_unknown' },
      { type: ['charge'], chargeId: 'sbx_unknown', amount: {} },
    ]
    for (const fields of ignored) {
      const id = `evt_${randomUUID()}`
      expect((await send(JSON.stringify({ id, ...fields }))).status).toBe(200)
      const { rows } = await database().query(
        'select outcome from public.payment_events where event_key like $1',
        [`%:${id}:%`],
      )
      expect(rows).toEqual([{ outcome: 'ignored' }])
    }
    const unknown = await fetch(`${projectUrl}/functions/v1/api/payments/webhook/paypal`, {
      method: 'POST',
      body: '{}',
    })
    expect(unknown.status).toBe(401)
  })

  test('PAY-16 status and list never go back while webhooks arrive', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 12 }, () => payWithoutCallback(person, 1)))
    const paid = new Set<string>()
    let running = true
    const watch = async () => {
      while (running) {
        const known = [...paid]
        const { body } = await person.get('/invoices?limit=50')
        const now = body.items.filter(({ state }: Invoice) => state === 'paid')
          .map(({ id }: Invoice) => id)
        for (const id of known) expect(now).toContain(id)
        for (const id of now) paid.add(id)
      }
    }
    const watching = watch()
    for (const { invoice, ref } of all) {
      await sendCallback(sandboxCallback(ref))
      expect(await stateOf(person, invoice)).toBe('paid')
      paid.add(invoice.id)
    }
    running = false
    await watching
    expect(paid.size).toBe(12)
  })
})
