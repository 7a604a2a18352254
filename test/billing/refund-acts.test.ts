import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { runJobs } from '../support/jobs.ts'
import {
  alarmsAbout,
  createCharge,
  giveMoney,
  hasSandbox,
  submitSandboxPage,
  topUp,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { notificationsOf } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'
import { act, why } from '../admin/studio.ts'

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

const back = (target: string, more: object = {}) =>
  act({ act: 'refund', target, to: 'source', reason: why, ...more })

const rowOf = async (id: string) =>
  (await database().query('select * from public.admin_acts where id = $1', [id])).rows[0]

const answered = (id: string, status: string) =>
  database().query('select private.refund_answered($1, null, $2)', [id, status])

describe.runIf(hasSandbox)('a refund to its source', () => {
  test('waits until the job has asked the provider with the id of the act', async () => {
    const person = await signUp()
    const { id, number } = await topUp(person)
    const row = await back(number, { amount: 4 })
    expect(row).toMatchObject({
      target: id,
      state: 'waiting',
      done_at: null,
      result: '4.000 KWD to the source, once its provider has answered. This cannot be undone.',
    })
    expect(await walletOf(person)).toMatchObject({ available: 6, held: 4 })
    // The job skips a refund for its first two minutes, because the facade may
    // already be sending the request.
    await database().query(
      `update public.refunds set created_at = now() - interval '3 minutes' where id = $1`,
      [row.id],
    )
    await waitUntil('it is settled', async () => {
      await runJobs()
      return (await rowOf(row.id)).state !== 'waiting'
    })
    expect(await rowOf(row.id)).toMatchObject({
      state: 'done',
      done_at: expect.any(Date),
      result: '4.000 KWD to the source. This cannot be undone.',
    })
    const { rows } = await database().query(
      'select amount::float from private.sandbox_refunds where reference = $1',
      [row.id],
    )
    expect(rows).toEqual([{ amount: 4 }])
    expect(await walletOf(person)).toMatchObject({ available: 6, held: 0 })
    expect((await person.get(`/invoices/${id}`)).body)
      .toMatchObject({ state: 'partially_refunded', refunded: 4 })
    expect(await auditOf(admin, id)).toMatchObject([
      { action: 'invoice.refund', actor: null, reason: why, after: { amount: 4, act: row.id } },
    ])
    expect(await notificationsOf(person, 'refund')).toHaveLength(1)
  })

  test('that the provider refuses is refused, an alarm, and may be tried again', async () => {
    const person = await signUp()
    const { number } = await topUp(person)
    const row = await back(number)
    await expect(back(number)).rejects.toThrow('Nothing is left to refund')
    await answered(row.id, 'failed')
    expect(await rowOf(row.id)).toMatchObject({
      state: 'refused',
      done_at: expect.any(Date),
      result: 'The provider refused it: the money stays where it was.',
    })
    expect(await alarmsAbout(row.id)).toEqual(['refund_rejected'])
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    const again = await back(number)
    await answered(again.id, 'refunded')
    expect(await rowOf(again.id)).toMatchObject({ state: 'done' })
    expect(await walletOf(person)).toMatchObject({ available: 0, held: 0 })
  })

  test('of a payment that came after its invoice was paid is named by that payment', async () => {
    const person = await signUp()
    const invoice = await topUpInvoice(person)
    const first = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'fail', 'once')
    const second = await createCharge(person, invoice)
    await submitSandboxPage(first.ref, 'pay', 'once')
    await submitSandboxPage(second.ref, 'pay', 'once')
    await expect(back(first.paymentId)).rejects.toThrow('No invoice is found')
    const row = await back(second.paymentId)
    expect(row).toMatchObject({ target: second.paymentId, account_id: person.id })
    await answered(row.id, 'refunded')
    expect(await walletOf(person)).toMatchObject({ available: 10, held: 0 })
    expect((await person.get(`/invoices/${invoice.id}`)).body)
      .toMatchObject({ state: 'paid', refunded: 0 })
  })

  test('of what was spent meanwhile is refused, and nothing is held', async () => {
    const person = await signUp()
    const { number } = await topUp(person)
    await giveMoney(person.identityId, -7)
    await expect(back(number)).rejects.toThrow('Not done, wallet insufficient.')
    expect(await walletOf(person)).toMatchObject({ available: 3, held: 0 })
  })
})
