import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import {
  createCharge,
  findPlan,
  hasSandbox,
  type Invoice,
  submitSandboxPage,
  topUp,
  topUpInvoice,
} from '../support/money.ts'
import { race, type RawRequest } from '../support/races.ts'

const year = new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: 'Asia/Kuwait' })
  .format(new Date())

describe('numbers', () => {
  test('are consecutive, also when fifty are made at once and some are rolled back', async () => {
    const person = await signUp()
    const plus = await findPlan(person, 'plus')
    const shot = (path: string, body: object): RawRequest => ({
      path,
      body,
      headers: [['authorization', `Bearer ${person.accessToken}`]],
    })
    const replies = await race(
      Array.from({ length: 50 }, (_, i) =>
        i % 5
          ? shot('/wallet/topup', { amount: 1 + i })
          // These purchases are refused for lack of money after they have taken an invoice number,
          // which becomes free again.
          : shot('/plans/subscribe', { planId: plus.id, payWith: 'wallet' })),
    )
    const made = replies.filter(({ status }) => status === 201).map(({ body }) => body.number)
    expect(made).toHaveLength(40)
    expect(new Set(made).size).toBe(40)
    for (const number of made) expect(number).toMatch(new RegExp(`^INV-${year}-\\d{6,}$`))
    const { rows } = await database().query(
      `select count(*) = max(serial) and min(serial) = 1 as whole from public.invoices
       where year = $1`,
      [year],
    )
    expect(rows).toEqual([{ whole: true }])
  })

  test('start again with each year in Kuwait', async () => {
    const person = await signUp()
    const client = await database().connect()
    try {
      await client.query('begin')
      const made = await Promise.all(
        [['1999-12-31 20:59:59+00', 1999], ['1999-12-31 21:00+00', 2000]]
          .map(async ([at, year]) => {
            const { rows } = await client.query(
              `insert into public.invoices
               (year, serial, identity_id, account_id, purpose, total, due_at, issued_at)
             values (0, 0, $1, $2, 'topup', 1, now(), $3) returning number`,
              [person.identityId, person.id, at],
            )
            return [rows[0].number, `INV-${year}-000001`]
          }),
      )
      for (const [number, expected] of made) expect(number).toBe(expected)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

describe('states', () => {
  const states = [
    'open',
    'processing',
    'failed',
    'expired',
    'void',
    'paid',
    'partially_refunded',
    'refunded',
  ]
  const ways: Record<string, string[]> = {
    open: ['processing', 'expired', 'void', 'paid'],
    processing: ['failed', 'paid'],
    failed: ['open', 'paid'],
    expired: ['paid'],
    void: ['paid'],
    paid: ['partially_refunded', 'refunded'],
    partially_refunded: ['refunded'],
    refunded: [],
  }
  /** For each state, the states to set one after another, starting from the first one. */
  const routes: Record<string, string[]> = {
    open: [],
    processing: ['processing'],
    failed: ['processing', 'failed'],
    expired: ['expired'],
    void: ['void'],
    paid: ['paid'],
    partially_refunded: ['paid', 'partially_refunded'],
    refunded: ['paid', 'refunded'],
  }
  const paid = ['paid', 'partially_refunded', 'refunded']
  // Sets the state in a DO block, because an edit by hand would be refused (admin/studio-edits.test.ts).
  const put = (
    id: string,
    state: string,
    db = database() as Pick<ReturnType<typeof database>, 'query'>,
  ) =>
    db.query(
      `do $$ begin
         update public.invoices set state = '${state}',
           paid_at = case when ${paid.includes(state)} then coalesce(paid_at, now()) end,
           paid_with = case when ${paid.includes(state)} then coalesce(paid_with, 'wallet') end,
           refunded = case '${state}' when 'refunded' then total
             when 'partially_refunded' then 1 else 0 end
         where id = '${id}';
       end $$`,
    )

  test.each(states)('leave %s only as the table allows, whoever writes', async (from) => {
    const person = await signUp()
    const client = await database().connect()
    try {
      await client.query('begin')
      const { rows: [{ id }] } = await client.query(
        `insert into public.invoices
           (year, serial, identity_id, account_id, purpose, total, due_at, issued_at)
         values (0, 0, $1, $2, 'topup', 5, now() + interval '1 day', '2001-01-01') returning id`,
        [person.identityId, person.id],
      )
      for (const state of routes[from]!) await put(id, state, client)
      for (const to of states.filter((state) => state !== from)) {
        await client.query('savepoint here')
        const outcome = await put(id, to, client).then(() => 'done', ({ hint }) => hint)
        expect(outcome, `${from} to ${to}`)
          .toBe(ways[from]!.includes(to) ? 'done' : 'status_transition_invalid')
        await client.query('rollback to savepoint here; release savepoint here')
      }
      const { rows } = await client.query(
        'select from_state, to_state from public.invoice_events where invoice_id = $1 order by id',
        [id],
      )
      expect(rows.map(({ to_state }) => to_state)).toEqual(['open', ...routes[from]!])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('cannot be paid without time and method', async () => {
    const invoice = await topUpInvoice(await signUp())
    await expect(
      database().query(
        `do $$ begin update public.invoices set state = 'paid' where id = '${invoice.id}'; end $$`,
      ),
    ).rejects.toMatchObject({ constraint: 'invoices_paid_tells_when_and_how' })
  })
})

test('the list is newest first, by state, page by page, and its owner’s only', async () => {
  const [person, other] = await Promise.all([signUp(), signUp()])
  const made: Invoice[] = []
  for (let i = 1; i <= 5; i++) made.unshift(await topUpInvoice(person, i))
  await topUpInvoice(other, 9)
  const first = (await person.get('/invoices?limit=3')).body
  expect(first.items).toEqual(made.slice(0, 3))
  const rest = (await person.get(`/invoices?limit=3&cursor=${first.nextCursor}`)).body
  expect(rest).toEqual({ items: made.slice(3), nextCursor: null })
  expect((await person.get('/invoices?limit=5')).body.nextCursor).toBe(null)
  expect((await person.get('/invoices?state=paid')).body.items).toEqual([])
  expect((await person.get('/invoices?state=odd')).status).toBe(422)
  expect((await other.get(`/invoices?cursor=${first.nextCursor}`)).status).toBe(422)
  expect((await person.get(`/invoices?state=open&cursor=${first.nextCursor}`)).status).toBe(422)
})

describe.runIf(hasSandbox)('receipts', () => {
  const receiptOf = (person: Person, { id }: Invoice) => person.get(`/invoices/${id}/receipt`)

  test('does not exist before the invoice is paid', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    expect(await receiptOf(person, invoice))
      .toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    expect(await receiptOf(person, { id: randomUUID() }))
      .toMatchObject({ status: 404, body: { error: { code: 'invoice_not_found' } } })
  })

  test('says what was paid, by whom and how, to the fils, and never changes', async () => {
    const person = await signUp('هيا <b>العجمي</b>')
    const invoice = await topUp(person, '12.5')
    const { body } = await receiptOf(person, invoice)
    expect(body.receipt).toMatchObject({
      number: invoice.number,
      total: '12.500',
      tax: '0.000',
      currency: 'KWD',
      paidWith: 'charge',
      payer: 'هيا <b>العجمي</b>',
      lines: [{ titleAr: 'شحن رصيد المحفظة', quantity: 1, unitPrice: '12.500', amount: '12.500' }],
      payment: { provider: 'sandbox', method: 'sandbox', providerRef: expect.any(String) },
    })
    const { html } = body
    expect(html).toMatch(/^<!doctype html>\n<html lang="ar" dir="rtl">/)
    for (const text of [invoice.number, '12.500', body.receipt.payment.providerRef]) {
      expect(html).toContain(text)
    }
    expect(html).toContain('هيا &lt;b&gt;العجمي&lt;/b&gt;')
    expect(html).not.toContain('<b>العجمي')

    await database().query(
      `update public.individual_profiles set full_name = 'اسم آخر' where account_id = $1`,
      [person.id],
    )
    expect((await receiptOf(person, invoice)).body).toEqual(body)
    for (const change of [`receipt = '{}'`, `payer_name = 'غيره'`, 'made_at = now()']) {
      await expect(
        database().query(
          `update public.receipts set ${change} where invoice_id = $1`,
          [invoice.id],
        ),
      ).rejects.toMatchObject({ code: '42501' })
    }
  })

  test('shows a plan paid from the wallet, and thousands with a separator', async () => {
    const person = await signUp()
    const invoice = await topUp(person, 1000)
    expect((await receiptOf(person, invoice)).body.html).toContain('1,000.000')
    const plus = await findPlan(person, 'plus')
    const { body } = await person.post('/plans/subscribe', { planId: plus.id, payWith: 'wallet' })
    const receipt = await receiptOf(person, body.invoice)
    expect(receipt.body.receipt).toMatchObject({
      paidWith: 'wallet',
      total: '5.000',
      payment: null,
    })
    expect(receipt.body.html).toContain('رصيد المحفظة')
  })

  test('ADM-03 invoices of a deleted account stay and lose its name', async () => {
    const person = await signUp('طلال الظفيري')
    const invoice = await topUp(person, 3)
    await database().query('delete from auth.users where id = $1', [person.id])
    const { rows } = await database().query(
      'select payer_name, receipt::text as receipt from public.receipts where invoice_id = $1',
      [invoice.id],
    )
    expect(rows[0].payer_name).toBe('حساب محذوف')
    expect(rows[0].receipt).not.toContain('طلال')
  })

  test('a charge for a closed identity that is paid late becomes money, and raises an alarm', async () => {
    const person = await signUp()
    const plus = await findPlan(person, 'plus')
    const { body } = await person.post('/plans/subscribe', { planId: plus.id, payWith: 'invoice' })
    const { ref } = await createCharge(person, body.invoice)
    await database().query('delete from auth.users where id = $1', [person.id])
    await submitSandboxPage(ref, 'pay', 'once')
    const { rows } = await database().query(
      `select invoices.state, invoices.credited, alarms.kind from public.invoices
       left join private.alarms on subject_id = invoices.id::text where invoices.id = $1`,
      [body.invoice.id],
    )
    expect(rows).toEqual([{ state: 'paid', credited: true, kind: 'paid_but_not_given' }])
  })
})
