/** Paying at the provider, shown with the sandbox: charge, webhook, status. */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/environment.ts'
import { database, guest, type Person, projectUrl, request, signUp } from '../support/client.ts'
import {
  alarmsAbout,
  createCharge,
  findPlan,
  hasSandbox,
  type Invoice,
  moneyFingerprint,
  returnUrl,
  sandboxCallback,
  sandboxSignature,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { race, type RawRequest } from '../support/races.ts'
import { insertOrganisation } from '../support/fixtures.ts'

let payer: Person

beforeAll(async () => {
  payer = await signUp('خالد المطيري')
})

const stateOf = async (person: Person, { id }: Invoice) =>
  (await person.get(`/payments/status/${id}`)).body.state

/** An invoice with a charge that the person has paid at the sandbox, of which nobody was told. */
async function paidInSecret(person = payer, amount: number | string = 10) {
  const invoice = await topUpInvoice(person, amount)
  const begun = await createCharge(person, invoice)
  await submitSandboxPage(begun.ref)
  return { invoice, ...begun }
}

const webhook = (raw: string, signature = sandboxSignature(raw)): RawRequest => ({
  path: '/payments/webhook/sandbox',
  body: raw,
  headers: [['sandbox-signature', signature]],
})

const bearer = (
  person: Person,
): [string, string] => ['authorization', `Bearer ${person.accessToken}`]
const charges = async ({ id }: Invoice, states = ['starting', 'open']) =>
  (await database().query(
    'select count(*)::integer as count from public.payments where invoice_id = $1 and state = any ($2)',
    [id, states],
  )).rows[0].count

describe.runIf(hasSandbox)('paying', () => {
  test('PAY-01 one good webhook pays the invoice, once and everywhere', async () => {
    const person = await signUp()
    const { invoice, ref } = await paidInSecret(person, '10.125')
    expect(await stateOf(person, invoice)).toBe('processing')
    const raw = sandboxCallback(ref, { amount: '10.125' })
    expect(await sendCallback(raw)).toMatchObject({
      status: 200,
      body: { received: true, duplicate: false },
    })

    const { body: status } = await person.get(`/payments/status/${invoice.id}`)
    const { body: list } = await person.get('/invoices')
    expect(status).toMatchObject({
      state: 'paid',
      total: 10.125,
      paidWith: 'charge',
      payments: [{ state: 'captured', amount: 10.125, provider: 'sandbox' }],
    })
    expect(list.items).toEqual([status])
    expect((await person.get(`/invoices/${invoice.id}`)).body).toEqual(status)
    expect(await walletOf(person)).toEqual({ available: 10.125, held: 0, currency: 'KWD' })
    expect(await sendCallback(raw)).toMatchObject({ status: 200, body: { duplicate: true } })
    expect((await walletOf(person)).available).toBe(10.125)
    const { rows } = await database().query(
      `select outcome, amount, processed_at is not null as done from public.payment_events
       where event_key like $1`,
      [`payment:${JSON.parse(raw).id}:%`],
    )
    expect(rows).toEqual([{ outcome: 'paid', amount: '10.125', done: true }])
    const notes = await person.get('/notifications')
    expect(notes.body.items.map(({ kind }: { kind: string }) => kind)).toContain('invoice_paid')
  })

  test('PAY-01 a plan is switched on by its invoice, once', async () => {
    const person = await signUp()
    const plus = await findPlan(person, 'plus')
    const bought = await person.post('/plans/subscribe', { planId: plus.id, payWith: 'invoice' })
    expect(bought).toMatchObject({ status: 201, body: { current: { plan: { code: 'free' } } } })
    const { ref } = await createCharge(person, bought.body.invoice)
    await submitSandboxPage(ref, 'pay', 'twice')
    const { body } = await person.get('/plans/current')
    expect(body).toMatchObject({ plan: { code: 'plus' }, subscription: { renews: true } })
    const days = (Date.parse(body.subscription.endsAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThan(30.1)
    expect(await walletOf(person)).toMatchObject({ available: 0 })
  })

  test('PAY-02 two hundred times the same webhook at once is one effect', async () => {
    const person = await signUp()
    const { ref } = await paidInSecret(person)
    const raw = sandboxCallback(ref)
    const replies = await race(Array.from({ length: 200 }, () => webhook(raw)))
    for (const { status } of replies) expect(status).toBe(200)
    expect(replies.filter(({ body }) => !body.duplicate)).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(10)
  })

  test('PAY-02 many events of ten invoices at once: each is paid once', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 10 }, () => paidInSecret(person, 1.5)))
    // Different events about the same charge, so no two are repetitions of each other.
    const shots = all.flatMap(({ ref }) =>
      Array.from({ length: 8 }, () => webhook(sandboxCallback(ref)))
    )
    for (const { status } of await race(shots)) expect(status).toBe(200)
    expect((await walletOf(person)).available).toBe(15)
  })

  test('PAY-03 only what the sandbox signed is taken', async () => {
    const { invoice, ref } = await paidInSecret()
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
      ['from the future', raw, sandboxSignature(raw, undefined, Date.now() + 302_000)],
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
    // Others do not take a body for theirs.
    for (const path of ['/payments/webhook/tap', '/payments/webhook/myfatoorah']) {
      expect((await sendCallback(raw, { path })).status).toBe(401)
    }
    expect((await sendCallback(raw, { path: '/payments/webhook' })).status).toBe(200)
    expect(await stateOf(payer, invoice)).toBe('paid')
  })

  test.each(['"9.999"', '10.001', '"0"', '0', '-10', '"-10.000"', '"1e1"', '100', '"ten"', 'null'])(
    'PAY-04 an event that says %s of 10.000 changes nothing and reaches the admin',
    async (amount) => {
      const person = await signUp()
      const { invoice, ref, paymentId } = await paidInSecret(person)
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
      const { invoice, ref } = await paidInSecret(person)
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
    const { invoice, ref, paymentId } = await paidInSecret(person)
    await database().query(`update private.sandbox_charges set ${change} where id = $1`, [ref])
    expect((await sendCallback(sandboxCallback(ref))).status).toBe(200)
    expect(await stateOf(person, invoice)).toBe('processing')
    expect(await alarmsAbout(paymentId)).toEqual(['payment_mismatch'])
    expect((await walletOf(person)).available).toBe(0)
  })

  test('PAY-05 what comes after paid changes nothing', async () => {
    const person = await signUp()
    const { invoice, ref } = await paidInSecret(person)
    await sendCallback(sandboxCallback(ref))
    const before = await moneyFingerprint(person.identityId)
    const lie = (state: string) =>
      database().query('update private.sandbox_charges set state = $2 where id = $1', [ref, state])
    for (const state of ['failed', 'pending', 'paid']) {
      await lie(state)
      expect((await sendCallback(sandboxCallback(ref))).status).toBe(200)
    }
    expect(await stateOf(person, invoice)).toBe('paid')
    expect(await moneyFingerprint(person.identityId)).toBe(before)
  })

  test('PAY-05 a failed try can be tried again, and the late success of the first pays', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'fail', 'once')
    expect(await stateOf(person, invoice)).toBe('failed')
    const notes = await person.get('/notifications')
    expect(notes.body.items.map(({ kind }: { kind: string }) => kind)).toContain('invoice_failed')
    const second = await createCharge(person, invoice)
    expect(second.paymentId).not.toBe(first.paymentId)
    expect(await stateOf(person, invoice)).toBe('processing')

    await submitSandboxPage(first.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    // And then the second one too: the money is not lost, and an admin is told.
    await submitSandboxPage(second.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    expect((await walletOf(person)).available).toBe(20)
    expect(await alarmsAbout(second.paymentId)).toEqual(['paid_twice'])
    expect(await charges(invoice, ['captured'])).toBe(1)
  })

  test.each(['void', 'expired'])(
    'PAY-05 a plan whose invoice is %s and is paid all the same',
    async (state) => {
      const person = await signUp()
      const plus = await findPlan(person, 'plus')
      const { body: { invoice } } = await person.post('/plans/subscribe', {
        planId: plus.id,
        payWith: 'invoice',
      })
      const { ref } = await createCharge(person, invoice)
      await submitSandboxPage(ref)
      for (const step of ['failed', 'open', state]) {
        await database().query('update public.invoices set state = $2 where id = $1', [
          invoice.id,
          step,
        ])
      }
      await sendCallback(sandboxCallback(ref))
      expect(await stateOf(person, invoice)).toBe('paid')
      const { body } = await person.get('/plans/current')
      if (state === 'expired') {
        expect(body.plan.code).toBe('plus')
        expect(await walletOf(person)).toMatchObject({ available: 0 })
      } else {
        // It cannot be given any more, so the money is there to be spent.
        expect(body.plan.code).toBe('free')
        expect(await walletOf(person)).toMatchObject({ available: 5 })
        expect(await alarmsAbout(invoice.id)).toEqual(['paid_but_not_given'])
      }
    },
  )

  test('PAY-05 a plan that was withdrawn becomes money in the wallet', async () => {
    const person = await signUp()
    const code = `gone_${randomUUID().slice(0, 8)}`
    const { rows: [plan] } = await database().query(
      `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
         active_listings, listing_days, photos_per_listing)
       values ($1, 'باقة مؤقتة', 'Short', 'individual', 7.5, 30, 8, 30, 10) returning id`,
      [code],
    )
    const { body: { invoice } } = await person.post('/plans/subscribe', {
      planId: plan.id,
      payWith: 'invoice',
    })
    const { ref } = await createCharge(person, invoice)
    await database().query('update public.plans set on_sale = false where id = $1', [plan.id])
    await submitSandboxPage(ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
    expect(await walletOf(person)).toMatchObject({ available: 7.5 })
    expect(await alarmsAbout(invoice.id)).toEqual(['paid_but_not_given'])
  })

  test('PAY-05 an event that overtakes the answer to the charge is not lost', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const begun = await createCharge(person, invoice)
    // As if the answer had not come back: the payment is known by our own reference only.
    await database().query(
      `update public.payments set state = 'starting', provider_ref = null, redirect_url = null
       where id = $1`,
      [begun.paymentId],
    )
    await submitSandboxPage(begun.ref)
    await sendCallback(sandboxCallback(begun.ref))
    expect(await stateOf(person, invoice)).toBe('paid')
    const { rows: [{ answer }] } = await database().query(
      `select private.charge_started($1, $2, 'https://pay.example/', null) as answer`,
      [begun.paymentId, begun.ref],
    )
    expect(answer).toMatchObject({ paymentId: begun.paymentId })
    expect(await stateOf(person, invoice)).toBe('paid')
    expect((await walletOf(person)).available).toBe(10)
  })

  test('PAY-06 a recorded log of events played again has no effect', async () => {
    const person = await signUp()
    const log: string[] = []
    for (let i = 0; i < 5; i++) {
      const { ref } = await paidInSecret(person, 1 + i)
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

  test.each([['PAY-07 with one key', true], ['PAY-09 without a key', false]])(
    '%s fifty charges at once are one',
    async (_name, keyed) => {
      const person = await signUp()
      const invoice = await topUpInvoice(person)
      const key = randomUUID()
      const shot: RawRequest = {
        path: '/payments/charge',
        body: { invoiceId: invoice.id, returnUrl },
        headers: [bearer(person), ...(keyed ? [['Idempotency-Key', key] as [string, string]] : [])],
      }
      const replies = await race(Array.from({ length: 50 }, () => shot))
      const good = replies.filter(({ status }) => status === 200)
      expect(good.length).toBeGreaterThan(40)
      for (const { status } of replies) expect([200, 503]).toContain(status)
      expect(new Set(good.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect((await race([shot]))[0]!.body).toEqual(good[0]!.body)
      expect(await charges(invoice)).toBe(1)
      const { rows } = await database().query(
        'select id from private.sandbox_charges where reference = $1',
        [good[0]!.body.paymentId],
      )
      expect(rows).toHaveLength(1)
    },
  )

  test('PAY-08 a key is for one request of one person', async () => {
    const [one, other] = await Promise.all([signUp(), signUp()])
    const key: string = randomUUID()
    const headers = { 'idempotency-key': key }
    const [first, second] = [await topUpInvoice(one), await topUpInvoice(one)]
    const ask = (person: Person, invoice: Invoice, sent = headers, url = returnUrl) =>
      person.post('/payments/charge', { invoiceId: invoice.id, returnUrl: url }, { headers: sent })
    const begun = await ask(one, first)
    expect(begun.status).toBe(200)
    expect((await ask(one, first)).body).toEqual(begun.body)
    const mismatch = { status: 422, body: { error: { code: 'idempotency_mismatch' } } }
    expect(await ask(one, second)).toMatchObject(mismatch)
    expect(await ask(one, first, headers, `${returnUrl}/other`)).toMatchObject(mismatch)

    const theirs = await ask(other, await topUpInvoice(other))
    expect(theirs.status).toBe(200)
    expect(theirs.body.paymentId).not.toBe(begun.body.paymentId)
    await database().query(
      `update private.idempotency_keys set created_at = now() - interval '25 hours' where key = $1`,
      [key],
    )
    expect((await ask(one, second)).status).toBe(200)
    for (const bad of ['k'.repeat(300), '']) {
      expect((await ask(one, first, { 'idempotency-key': bad })).status).toBe(422)
    }
  })

  test('PAY-08 a top-up with a key is ordered once', async () => {
    const person = await signUp()
    const headers = { 'idempotency-key': randomUUID() }
    const [a, b] = [
      await person.post('/wallet/topup', { amount: 3 }, { headers }),
      await person.post('/wallet/topup', { amount: 3 }, { headers }),
    ]
    expect(a.body).toEqual(b.body)
    expect((await person.post('/wallet/topup', { amount: 4 }, { headers })).status).toBe(422)
    expect((await person.get('/invoices')).body.items).toHaveLength(1)
  })

  test('PAY-10 what may not be charged', async () => {
    const [person, stranger] = await Promise.all([signUp(), signUp()])
    const companyId = await insertOrganisation(person.id)
    const ask = (who: Person, id: string, more = {}) =>
      who.post('/payments/charge', { invoiceId: id, returnUrl, ...more })
    const invoice = await topUpInvoice(person)
    const hidden = await ask(stranger, invoice.id)
    const missing = await ask(stranger, randomUUID())
    expect(hidden).toMatchObject({ status: 404, body: { error: { code: 'invoice_not_found' } } })
    const bare = ({ body: { error } }: typeof hidden) => ({ ...error, requestId: '' })
    expect(bare(hidden)).toEqual(bare(missing))
    for (const path of ['/payments/status/', '/invoices/']) {
      expect((await stranger.get(path + invoice.id)).status).toBe(404)
    }
    expect((await stranger.get(`/invoices/${invoice.id}/receipt`)).status).toBe(404)

    for (const more of [{ amount: 1 }, { currency: 'USD' }, { discount: 9 }, { provider: 'tap' }]) {
      expect((await ask(person, invoice.id, more)).status).toBe(422)
    }
    await person.post('/auth/identity/switch', { identityId: companyId })
    expect((await ask(person, invoice.id)).status).toBe(404)
    await person.post('/auth/identity/switch', { identityId: person.identityId })

    const begun = await createCharge(person, invoice)
    const { rows } = await database().query(
      'select amount from private.sandbox_charges where id = $1',
      [begun.ref],
    )
    expect(Number(rows[0].amount)).toBe(10)
    await submitSandboxPage(begun.ref, 'pay', 'once')
    expect(await ask(person, invoice.id))
      .toMatchObject({ status: 409, body: { error: { code: 'invoice_already_paid' } } })
    const other = await topUpInvoice(person)
    await database().query(`update public.invoices set state = 'void' where id = $1`, [other.id])
    expect(await ask(person, other.id))
      .toMatchObject({ status: 409, body: { error: { code: 'status_transition_invalid' } } })
    const late = await topUpInvoice(person)
    await database().query('update public.invoices set due_at = now() where id = $1', [late.id])
    expect((await ask(person, late.id)).status).toBe(409)
  })

  test('the same charge for 15 minutes, then another one', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    expect(await createCharge(person, invoice)).toEqual(first)
    await database().query(
      `update public.payments set created_at = now() - interval '16 minutes' where id = $1`,
      [first.paymentId],
    )
    const second = await createCharge(person, invoice)
    expect(second.paymentId).not.toBe(first.paymentId)
    // Whoever still had the first page open is not cheated.
    await submitSandboxPage(first.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
  })

  test('PAY-15 odd webhooks are refused or kept as ignored, and never a 5xx', async () => {
    const send = (raw: string) => sendCallback(raw)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { status, headers } = await request(method, '/payments/webhook')
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect((await send(`{"a":"${'x'.repeat(300_000)}"}`)).status).toBe(413)
    for (const raw of ['', 'not json', '{"id":', '﻿{}']) {
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

  test('PAY-16 status and list never go back while webhooks are taken in', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 12 }, () => paidInSecret(person, 1)))
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

  test('PAY-17 coming back from the page proves nothing', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const { ref } = await createCharge(person, invoice)
    const back = await submitSandboxPage(ref, 'leave')
    expect(back).toBe(`${returnUrl}?sandbox_id=${ref}`)
    for (const query of ['?status=CAPTURED&tap_id=chg_1', '?paymentId=1&Id=1']) {
      const path = `/payments/status/${invoice.id}${query}`
      expect((await person.get(path)).status).toBe(422)
    }
    expect(await stateOf(person, invoice)).toBe('processing')
    expect(await submitSandboxPage(ref, 'leave')).toContain(ref)
    expect((await walletOf(person)).available).toBe(0)
  })

  test.each([
    'https://evil.example/payments',
    'https://app.example.evil.example/payments',
    'https://app.example@evil.example/payments',
    'https://user:pw@app.example/payments',
    'https://app.example/other',
    'https://app.example/paymentsx',
    'https://app.example:8443/payments',
    'https://app.example/payments/../admin',
    'http://app.example/payments',
    'javascript:alert(1)',
    '//evil.example/payments',
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest',
    'http://[::1]/payments',
    'https://app.example\\@evil.example/payments',
    '/payments',
    '',
  ])('PAY-18 nobody is sent back to %s', async (address) => {
    const invoice = await topUpInvoice(payer)
    const reply = await payer.post('/payments/charge', {
      invoiceId: invoice.id,
      returnUrl: address,
    })
    expect(reply).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'returnUrl' }] } },
    })
    expect(await charges(invoice)).toBe(0)
  })

  test('guests have no part in it, and the functions behind it answer nobody past the facade', async () => {
    for (
      const path of ['/plans', '/plans/current', '/wallet', '/invoices', '/wallet/transactions']
    ) {
      expect((await guest.get(path)).status).toBe(401)
    }
    for (const path of ['/payments/charge', '/wallet/topup', '/plans/subscribe', '/plans/cancel']) {
      expect((await guest.post(path, {})).status).toBe(401)
    }
    // Called directly, nobody has said which provider is asked.
    const invoice = await topUpInvoice(payer)
    const direct = await fetch(`${projectUrl}/rest/v1/rpc/charge_invoice`, {
      method: 'POST',
      headers: {
        apikey: variable('SUPABASE_PUBLISHABLE_KEY')!,
        authorization: `Bearer ${payer.accessToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ invoice_id: invoice.id, return_url: 'https://evil.example/' }),
    })
    expect(direct.status).toBe(503)
    expect(await charges(invoice)).toBe(0)
  })

  test('the page says what is paid, in Arabic, and nothing of a charge that is not there', async () => {
    const invoice = await topUpInvoice(payer, '12.5')
    const { redirectUrl } = await createCharge(payer, invoice)
    const page = await (await fetch(redirectUrl)).text()
    expect(page).toContain('dir="rtl"')
    expect(page).toContain('12.500')
    expect(page).toContain(invoice.number)
    expect((await fetch(redirectUrl.replace(/sbx_.*/, 'sbx_none'))).status).toBe(404)
  })
})
