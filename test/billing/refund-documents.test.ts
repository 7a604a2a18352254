import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person } from '../support/client.ts'
import { race } from '../support/races.ts'
import { buy, newPlan, personWithMoney, refund } from './purchases.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

const documentsOf = (person: Person, id: string) => person.get(`/invoices/${id}/refunds`)

test('WAL-12 a refund has a document of its own, and the receipt stays as it was', async () => {
  const person = await personWithMoney()
  const invoice = await buy(person, await newPlan())
  const receipt = async () => (await person.get(`/invoices/${invoice.id}/receipt`)).body
  const before = await receipt()
  expect(before.receipt.refunds).toEqual([])
  expect((await documentsOf(person, invoice.id)).body).toEqual({ items: [] })

  await refund(admin, invoice, { amount: 4 })
  await refund(admin, invoice)
  const { status, body: { items } } = await documentsOf(person, invoice.id)
  expect(status).toBe(200)
  const common = {
    number: expect.stringMatching(/^CN-\d{4}-\d{6}$/),
    invoiceNumber: invoice.number,
    currency: 'KWD',
    to: 'wallet',
    payer: before.receipt.payer,
    payerType: 'individual',
    seller: before.receipt.seller,
  }
  expect(items).toMatchObject([{ ...common, amount: '4.000' }, { ...common, amount: '6.000' }])

  const after = await receipt()
  expect(after.receipt).toEqual({ ...before.receipt, refunds: items })
  for (const { number } of items) expect(after.html).toContain(number)
  expect(before.html).not.toContain('المبالغ المستردة')

  const { body: exported } = await person.get('/auth/me/export')
  expect(exported.identities[0].refunds).toEqual(items)
})

test("WAL-12 others' are not found, and nobody changes one", async () => {
  const [person, other] = await Promise.all([personWithMoney(), personWithMoney()])
  const invoice = await buy(person, await newPlan())
  await refund(admin, invoice)
  for (const id of [invoice.id, randomUUID()]) {
    expect(await documentsOf(other, id))
      .toMatchObject({ status: 404, body: { error: { code: 'invoice_not_found' } } })
  }
  for (const change of [`document = '{}'`, `payer_name = 'غيره'`, 'serial = serial + 1000000']) {
    await expect(
      database().query(`update public.refund_documents set ${change} where invoice_id = $1`, [
        invoice.id,
      ]),
    ).rejects.toMatchObject({ code: '42501' })
  }
  await expect(
    database().query('delete from public.refund_documents where invoice_id = $1', [invoice.id]),
  ).rejects.toMatchObject({ code: '42501' })

  await database().query('delete from auth.users where id = $1', [person.id])
  const { rows } = await database().query(
    'select payer_name as payer from public.refund_documents where invoice_id = $1',
    [invoice.id],
  )
  expect(rows).toEqual([{ payer: 'حساب محذوف' }])
})

test('WAL-12 of many refunds at once each has a number, without gaps', async () => {
  const plan = await newPlan()
  const invoices = await Promise.all(
    Array.from({ length: 10 }, async () => buy(await personWithMoney(), plan)),
  )
  const replies = await race(invoices.map(({ id }) => ({
    path: `/admin/invoices/${id}/refund`,
    body: { to: 'wallet', reason: 'طلب العميل' },
    headers: [['authorization', `Bearer ${admin.accessToken}`]] as [string, string][],
  })))
  expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const { rows } = await database().query(
    `select year from public.refund_documents
     group by year having count(*) <> max(serial) or min(serial) <> 1`,
  )
  expect(rows).toEqual([])
})
