import { database, type Person } from '../support/client.ts'
import {
  createCharge,
  type Invoice,
  sandboxSignature,
  submitSandboxPage,
  topUpInvoice,
} from '../support/money.ts'
import type { RawRequest } from '../support/races.ts'

// Reads the invoice, because GET /payments/status would query the provider.
export const stateOf = async (person: Person, { id }: Invoice) =>
  (await person.get(`/invoices/${id}`)).body.state

export async function payWithoutCallback(person: Person, amount: number | string = 10) {
  const invoice = await topUpInvoice(person, amount)
  const begun = await createCharge(person, invoice)
  await submitSandboxPage(begun.ref)
  return { invoice, ...begun }
}

export const webhook = (raw: string, signature = sandboxSignature(raw)): RawRequest => ({
  path: '/payments/webhook/sandbox',
  body: raw,
  headers: [['sandbox-signature', signature]],
})

export const charges = async ({ id }: Invoice, states = ['starting', 'open']) =>
  (await database().query(
    'select count(*)::integer as count from public.payments where invoice_id = $1 and state = any ($2)',
    [id, states],
  )).rows[0].count
