// The timing part of PAY-01: a webhook gets its response within a second.
import { expect, test } from 'vitest'
import { signUp } from '../support/client.ts'
import {
  createCharge,
  sandboxCallback,
  sendCallback,
  submitSandboxPage,
  topUpInvoice,
} from '../support/money.ts'
import { expectWithin } from '../support/promised-times.ts'

test('PAY-01 a good webhook is answered within a second, each of twenty', async () => {
  const person = await signUp()
  const times: number[] = []
  for (let n = 0; n < 20; n++) {
    const { ref } = await createCharge(person, await topUpInvoice(person))
    await submitSandboxPage(ref)
    const began = performance.now()
    expect((await sendCallback(sandboxCallback(ref))).status).toBe(200)
    times.push(performance.now() - began)
  }
  expectWithin('a webhook is answered', Math.max(...times))
})
