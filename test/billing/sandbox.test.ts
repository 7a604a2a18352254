import { describe, expect, test } from 'vitest'
import { type Person, signUp } from '../support/client.ts'
import {
  createCharge,
  hasSandbox,
  type Invoice,
  submitSandboxPage,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { waitUntil } from '../support/wait.ts'
import { stateOf } from './payment-steps.ts'
import { agePayment } from './provider.ts'

const statusOf = async (person: Person, { id }: Invoice) =>
  (await person.get(`/payments/status/${id}`)).body.state

// Tests the table in docs/apps/payments.md.
describe.runIf(hasSandbox)('what the page of the sandbox is told to do', () => {
  test.each(['once', 'twice', 'late', 'never'] as const)('pay, %s', async (callback) => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const { ref, paymentId } = await createCharge(person, invoice)
    await submitSandboxPage(ref, 'pay', callback)
    if (callback === 'never') {
      expect(await stateOf(person, invoice)).toBe('processing')
      await agePayment(paymentId, '6 seconds')
      await waitUntil('it is asked', async () => await statusOf(person, invoice) === 'paid')
    } else if (callback === 'late') {
      await waitUntil('it is told', async () => await stateOf(person, invoice) === 'paid')
    } else expect(await stateOf(person, invoice)).toBe('paid')
    expect((await walletOf(person)).available).toBe(10)
  })

  test('fail', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const { ref } = await createCharge(person, invoice)
    await submitSandboxPage(ref, 'fail', 'once')
    expect(await statusOf(person, invoice)).toBe('failed')
    const { body } = await person.get('/notifications')
    expect(body.items.map(({ kind }: { kind: string }) => kind)).toContain('invoice_failed')
  })

  test('leave: the same page is there again', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'leave')
    expect(await statusOf(person, invoice)).toBe('processing')
    expect(await createCharge(person, invoice)).toEqual(first)
  })
})
