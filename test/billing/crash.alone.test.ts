// Kills the database and the functions while money moves. A payment that was acknowledged must exist exactly
// once; any other one must exist completely or not at all, and a retry must complete it once.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { database, type Person, projectUrl, publishableKey, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { invariants } from '../whole/invariant-checks.ts'
import { findPlan, refOf, returnUrl, sandboxCallback, sendCallback } from '../support/money.ts'
import { newPlan } from './purchases.ts'
import { crash, crashDatabase } from '../support/crash.ts'
import { pause, waitFor, waitUntil } from '../support/wait.ts'

/**
 * Statuses that a crash does not explain: it may only cut a response off or turn it into a 502, 503 or 504.
 */
const unclean: number[] = []

type Acknowledged = { topUps: string[]; paid: string[]; bought: string[] }

async function surely(person: Person, path: string, body: unknown, key: string) {
  return await waitFor(`${path} is answered`, async () => {
    // If the connection breaks, this throws. The request is then retried with the same idempotency key.
    const response = await fetch(`${projectUrl}/functions/v1/api${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        authorization: `Bearer ${person.accessToken}`,
        apikey: publishableKey,
      },
      body: JSON.stringify(body),
    })
    const { status } = response
    const answer = await response.json()
    if (status < 500) return { status, body: answer }
    if (![502, 503, 504].includes(status)) unclean.push(status)
    return undefined
  })
}

async function surelyTell(raw: string) {
  await waitUntil('the webhook is taken', async () => {
    const { status } = await sendCallback(raw)
    if (![200, 502, 503, 504].includes(status)) unclean.push(status)
    return status === 200
  })
}

/** Repeatedly tops up a person's wallet by 3.000 and buys a plan for 1.000 from the wallet. */
async function live(person: Person, plans: string[], done: Acknowledged, over: () => boolean) {
  while (!over()) {
    const { body: invoice } = await surely(person, '/wallet/topup', { amount: 3 }, randomUUID())
    done.topUps.push(invoice.id)
    const sent = { invoiceId: invoice.id, returnUrl }
    const begun = await surely(person, '/payments/charge', sent, randomUUID())
    expect(begun.status).toBe(200)
    const ref = refOf(begun.body.redirectUrl)
    await waitUntil('it is paid', async () => {
      await database().query(`select private.sandbox_decide($1, 'paid')`, [ref])
      return true
    })
    await surelyTell(sandboxCallback(ref))
    done.paid.push(invoice.id)
    const planId = plans[done.bought.length % plans.length]!
    const bought = await surely(
      person,
      '/plans/subscribe',
      { planId, payWith: 'wallet' },
      randomUUID(),
    )
    expect(bought.status).toBe(201)
    done.bought.push(bought.body.invoice.id)
  }
}

async function expectExactlyOnce(person: Person, done: Acknowledged) {
  const { rows: invoices } = await database().query(
    'select id, purpose, state from public.invoices where identity_id = $1',
    [person.identityId],
  )
  const stateOf = new Map(invoices.map(({ id, state }) => [id, state]))
  for (const id of done.topUps) expect(stateOf.has(id)).toBe(true)
  for (const id of [...done.paid, ...done.bought]) expect(stateOf.get(id)).toBe('paid')
  expect(invoices.filter(({ purpose }) => purpose === 'topup')).toHaveLength(done.topUps.length)
  expect(invoices.filter(({ purpose }) => purpose === 'plan')).toHaveLength(done.bought.length)
  const { body } = await person.get('/wallet')
  expect(body.available).toBe(3 * done.paid.length - done.bought.length)
}

async function expectInvariants() {
  for (const { id, sql } of invariants.filter(({ id }) => /^I-1[2-7]$|^I-2[067]$/.test(id))) {
    expect((await database().query(sql)).rows, id).toEqual([])
  }
}

describe.runIf(hasStack)('money through crashes', () => {
  test.each(
    [
      ['CRASH-01 the database', crashDatabase],
      ['CRASH-02 the functions', () => crash('"name":"api"')],
    ] as const,
  )('%s killed three times', async (_name, kill) => {
    const people = await Promise.all(Array.from({ length: 3 }, () => signUp()))
    // The purchases alternate between two plans. Each plan is better than the other in one
    // respect, so it begins at once.
    const plus = await findPlan(people[0]!, 'plus')
    expect(plus.price).toBe(5)
    const plans = await Promise.all([
      newPlan({ price: 1, listings: 8 }),
      newPlan({ price: 1, photos: 11 }),
    ])
    const all = people.map((): Acknowledged => ({ topUps: [], paid: [], bought: [] }))
    let over = false
    const lives = Promise.all(people.map((one, i) => live(one, plans, all[i]!, () => over)))
    for (let i = 0; i < 3; i++) {
      await pause(1000 + Math.random() * 1500, 'any moment is right')
      await kill()
    }
    const bought = () => all.reduce((sum, { bought }) => sum + bought.length, 0)
    const before = bought()
    await waitUntil('it goes on by itself', () => bought() >= before + 5)
    over = true
    await lives
    expect(unclean).toEqual([])
    for (const [i, person] of people.entries()) await expectExactlyOnce(person, all[i]!)
    await expectInvariants()
  })
})
