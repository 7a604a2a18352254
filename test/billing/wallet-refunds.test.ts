import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { giveMoney, hasSandbox, topUp, topUpInvoice, walletOf } from '../support/money.ts'
import { bearer, race, type RawRequest } from '../support/races.ts'
import { makeAdmin } from '../support/admins.ts'
import { refusal } from '../support/problems.ts'
import { expectBalanced, planFor, subscribe } from './wallets.ts'

describe.runIf(hasSandbox)('WAL-05 refunds', () => {
  async function world() {
    const [admin, person] = await Promise.all([signUp(), signUp()])
    await makeAdmin(admin)
    return { admin, person }
  }
  const refund = (who: Person, id: string, body: Record<string, unknown>) =>
    who.post(`/admin/invoices/${id}/refund`, { reason: 'طلب العميل', ...body })

  test('a plan from the wallet is refunded in parts, and ends when fully refunded', async () => {
    const { admin, person } = await world()
    await giveMoney(person.identityId, 10)
    const plan = await planFor(10)
    const [bought] = await race([subscribe(person, plan)])
    const { id } = bought!.body.invoice
    expect((await person.get('/plans/current')).body.plan.id).toBe(plan)

    expect((await refund(person, id, { to: 'wallet' })).status).toBe(403)
    expect(await refund(admin, id, { to: 'wallet', amount: 10.001 }))
      .toMatchObject({ status: 422, body: { error: { code: 'amount_out_of_range' } } })
    expect((await refund(admin, id, { to: 'source' })).status).toBe(422)
    const part = await refund(admin, id, { to: 'wallet', amount: 4 })
    expect(part).toMatchObject({
      status: 200,
      body: { refund: { state: 'settled', amount: 4 }, invoice: { state: 'partially_refunded' } },
    })
    expect((await person.get('/plans/current')).body.plan.id).toBe(plan)
    const rest = await refund(admin, id, { to: 'wallet' })
    expect(rest.body).toMatchObject({ refund: { amount: 6 }, invoice: { state: 'refunded' } })
    expect(await walletOf(person)).toMatchObject({ available: 10 })
    expect((await person.get('/plans/current')).body.plan.code).toBe('free')
    expect(await refund(admin, id, { to: 'wallet' }))
      .toMatchObject({ status: 409, body: { error: { code: 'status_transition_invalid' } } })
    const notes = (await person.get('/notifications')).body.items
    expect(notes.filter(({ kind }: { kind: string }) => kind === 'refund')).toHaveLength(2)
    const { rows } = await database().query(
      `select action from public.audit where target_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ action: 'invoice.refund' }, { action: 'invoice.refund' }])
  })

  test('fifty full refunds at once make one; of three of 4.000 out of 10.000 two pass', async () => {
    const { admin, person } = await world()
    await giveMoney(person.identityId, 20)
    const headers: [string, string][] = [['authorization', `Bearer ${admin.accessToken}`]]
    const shot = (id: string, body: object): RawRequest => ({
      path: `/admin/invoices/${id}/refund`,
      body: { to: 'wallet', reason: 'مكرر', ...body },
      headers,
    })
    const [one, two] = await race(
      await Promise.all([planFor(10), planFor(10)]).then((ids) =>
        ids.map((id) => subscribe(person, id))
      ),
    )
    const full = await race(Array.from({ length: 50 }, () => shot(one!.body.invoice.id, {})))
    expect(full.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status } of full) expect([200, 409]).toContain(status)
    const parts = await race(
      Array.from({ length: 3 }, () => {
        const key: [string, string] = ['idempotency-key', randomUUID()]
        const part = shot(two!.body.invoice.id, { amount: 4 })
        return { ...part, headers: [...headers, key] }
      }),
    )
    expect(parts.map(({ status }) => status).sort()).toEqual([200, 200, 422])
    expect(await walletOf(person)).toMatchObject({ available: 18 })
    await expectBalanced([person])
  })

  test('the same amount without a key is refunded once in ten minutes', async () => {
    const { admin, person } = await world()
    await giveMoney(person.identityId, 10)
    const [bought] = await race([subscribe(person, await planFor(10))])
    const { id } = bought!.body.invoice
    const path = `/admin/invoices/${id}/refund`
    const sent = { to: 'wallet', reason: 'مكرر', amount: 2 }
    const twice = await race(
      [1, 2].map(() => ({ path, body: sent, headers: [bearer(admin)] })),
    )
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(await admin.post(path, sent)).toMatchObject(refusal(409, 'refund_repeated'))
    expect((await admin.post(path, { ...sent, amount: 2.5 })).status).toBe(200)
    const keyed = { headers: { 'idempotency-key': randomUUID() } }
    for (const _try of [1, 2]) expect((await admin.post(path, sent, keyed)).status).toBe(200)
    expect(await admin.post(path, sent)).toMatchObject(refusal(409, 'refund_repeated'))
    await database().query(
      `update public.refunds set created_at = created_at - interval '10 minutes' where invoice_id = $1`,
      [id],
    )
    expect((await admin.post(path, sent)).body.invoice.refunded).toBe(8.5)
  })

  test('a top-up is refunded to its source, and not to the wallet that holds it', async () => {
    const { admin, person } = await world()
    const invoice = await topUp(person, 10)
    expect((await refund(admin, invoice.id, { to: 'wallet' })).status).toBe(422)
    const given = await refund(admin, invoice.id, { to: 'source', amount: 4 })
    expect(given.body).toMatchObject({
      refund: { state: 'settled', to: 'source' },
      invoice: { state: 'partially_refunded', refunded: 4 },
    })
    expect(await walletOf(person)).toEqual({ available: 6, held: 0, currency: 'KWD' })
    const [bought] = await race([subscribe(person, await planFor(5))])
    expect(bought!.status).toBe(201)
    expect(await refund(admin, invoice.id, { to: 'source' }))
      .toMatchObject({ status: 402, body: { error: { code: 'wallet_insufficient' } } })
    expect(await walletOf(person)).toEqual({ available: 1, held: 0, currency: 'KWD' })
    await expectBalanced([person])
  })

  test('an unpaid or unknown invoice is not refunded', async () => {
    const { admin, person } = await world()
    const invoice = await topUpInvoice(person)
    expect((await refund(admin, invoice.id, { to: 'source' })).status).toBe(409)
    expect((await refund(admin, randomUUID(), { to: 'wallet' })).status).toBe(404)
    for (const bad of [{ to: 'bank' }, { to: 'wallet', amount: 0 }, { to: 'wallet', amount: -1 }]) {
      expect((await refund(admin, invoice.id, bad)).status).toBe(422)
    }
    expect((await admin.post(`/admin/invoices/${invoice.id}/refund`, { to: 'wallet' })).status)
      .toBe(422)
  })

  test('an admin sees the events of providers', async () => {
    const { admin, person } = await world()
    await topUp(person, 1)
    expect((await person.get('/admin/payments/events')).status).toBe(403)
    const { body } = await admin.get('/admin/payments/events?outcome=paid&limit=5')
    expect(body.items.length).toBeGreaterThan(0)
    for (const { outcome } of body.items) expect(outcome).toBe('paid')
    const [{ id, provider, kind, paymentId, invoiceId, receivedAt }] = body.items
    const found = async (query: Record<string, string>) => {
      const path = `/admin/payments/events?${new URLSearchParams(query)}`
      return (await admin.get(path)).body.items.map((event: { id: number }) => event.id)
    }
    const all = await found({ invoiceId })
    expect(all).toContain(id)
    expect(await found({ paymentId, invoiceId, provider, kind, outcome: 'paid' })).toEqual([id])
    expect(await found({ invoiceId, sort: 'oldest' })).toEqual(all.toReversed())
    expect(await found({ invoiceId, provider: 'tap' })).toEqual([])
    expect(await found({ invoiceId, until: '2020-01-01T00:00:00Z' })).toEqual([])
    expect(await found({ invoiceId, since: receivedAt })).toContain(id)
    expect((await admin.get('/admin/payments/events?outcome=odd')).status).toBe(422)
  })
})
