import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import {
  createCharge,
  findPlan,
  hasSandbox,
  type Invoice,
  returnUrl,
  sandboxCallback,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { bearer, race, type RawRequest } from '../support/races.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { charges, payWithoutCallback, stateOf } from './payment-steps.ts'

let payer: Person

beforeAll(async () => {
  payer = await signUp('خالد المطيري')
})

describe.runIf(hasSandbox)('paying', () => {
  test('PAY-01 one good webhook pays the invoice, once and everywhere', async () => {
    const person = await signUp()
    const { invoice, ref } = await payWithoutCallback(person, '10.125')
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

  test.each([['PAY-07 with one key', true], ['PAY-09 without a key', false]])(
    '%s fifty charges at once make one',
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

  test('PAY-10 what may not be charged is refused', async () => {
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

  test('a charge is reused for 15 minutes, then replaced', async () => {
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
    await submitSandboxPage(first.ref, 'pay', 'once')
    expect(await stateOf(person, invoice)).toBe('paid')
  })

  test('a charge that is begun again from elsewhere leads back there', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    const elsewhere = `${returnUrl}/tablet`
    expect(
      await person.post('/payments/charge', { invoiceId: invoice.id, returnUrl: elsewhere }),
    ).toMatchObject({
      status: 200,
      body: { paymentId: first.paymentId, redirectUrl: first.redirectUrl },
    })
    expect(await submitSandboxPage(first.ref, 'leave')).toBe(`${elsewhere}?sandbox_id=${first.ref}`)
    expect(await charges(invoice)).toBe(1)
  })

  test('PAY-17 returning from the page proves nothing', async () => {
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
    'https://localhost.evil.example/',
    'ftp://localhost/',
    'javascript://localhost/%0aalert(1)',
    'data://x/,x',
    'intent://pay#Intent;scheme=https;end',
    'myapp://user@pay',
    'myapp:pay',
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
      body: { error: { fields: [{ path: 'returnUrl', code: 'not_allowed' }] } },
    })
    expect(reply.body.error.allowed).toContain('https://app.example/payments')
    expect(await charges(invoice)).toBe(0)
  })

  test.each(['myapp://pay/back', 'exp://192.168.1.5:8081', 'http://localhost:8081/back'])(
    'outside production an app in development may send people back to %s',
    async (address) => {
      const invoice = await topUpInvoice(payer)
      const sent = { invoiceId: invoice.id, returnUrl: address }
      const { status, body } = await payer.post('/payments/charge', sent)
      expect(status).toBe(200)
      const ref = new URL(body.redirectUrl).pathname.split('/').at(-1)!
      expect(await submitSandboxPage(ref, 'leave')).toContain(`sandbox_id=${ref}`)
    },
  )

  test('guests cannot pay, and the functions behind it answer nobody past the facade', async () => {
    for (
      const path of ['/plans', '/plans/current', '/wallet', '/invoices', '/wallet/transactions']
    ) {
      expect((await guest.get(path)).status).toBe(401)
    }
    for (const path of ['/payments/charge', '/wallet/topup', '/plans/subscribe', '/plans/cancel']) {
      expect((await guest.post(path, {})).status).toBe(401)
    }
    // A call that bypasses the facade does not name a provider, so it is refused.
    const invoice = await topUpInvoice(payer)
    const direct = await callDataApi(payer, 'charge_invoice', {
      invoice_id: invoice.id,
      return_url: 'https://evil.example/',
    })
    expect(direct.status).toBe(503)
    expect(await charges(invoice)).toBe(0)
  })

  test('the page says in Arabic what is paid, and nothing about an unknown charge', async () => {
    const invoice = await topUpInvoice(payer, '12.5')
    const { redirectUrl } = await createCharge(payer, invoice)
    const page = await (await fetch(redirectUrl)).text()
    expect(page).toContain('dir="rtl"')
    expect(page).toContain('12.500')
    expect(page).toContain(invoice.number)
    expect((await fetch(redirectUrl.replace(/sbx_.*/, 'sbx_none'))).status).toBe(404)
  })
})
