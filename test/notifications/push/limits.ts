/** FCM that asks for patience, access tokens, settings that are missing. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { signUp } from '../../support/client.ts'
import { testLocally } from '../../support/other-functions.ts'
import { answer, failure } from '../../support/stub-fcm.ts'
import { device, notify, words } from '../../support/told.ts'
import { fcm, hasDevice, rowsOf, run, sara, withOwnJobs } from './process.ts'

testLocally('QUOTA_EXCEEDED: everybody waits as long as FCM asks, a minute at least', async () => {
  await withOwnJobs(async (own) => {
    const [first, second] = [await device(sara), await device(sara)]
    const quota = failure(429, 'QUOTA_EXCEEDED', {}, { 'retry-after': '90' })
    for (const { pushToken } of [first, second]) fcm.answers.set(pushToken, quota)
    await notify(sara, 'system', words())
    await run(own)
    const calls = fcm.of(first.pushToken).length + fcm.of(second.pushToken).length
    for (const row of await rowsOf(sara)) {
      expect(row.wait).toBeGreaterThan(85)
      expect(row.wait).toBeLessThan(95)
    }
    const later = await signUp()
    const { pushToken } = await device(later)
    await notify(later, 'system', words())
    // No process leases anything before then, whichever was told.
    for (const process of [own, undefined]) await run(process)
    expect(fcm.of(pushToken)).toEqual([])
    expect(await rowsOf(later)).toMatchObject([{ attempts: 0, lease: null }])
    expect(fcm.of(first.pushToken).length + fcm.of(second.pushToken).length).toBe(calls)
  })
})

testLocally('UNAVAILABLE with Retry-After, also as a date: not before', async () => {
  for (const header of ['120', new Date(Date.now() + 120_000).toUTCString()]) {
    await withOwnJobs(async (own) => {
      const person = await signUp()
      const { pushToken } = await device(person)
      fcm.answers.set(pushToken, failure(503, 'UNAVAILABLE', {}, { 'retry-after': header }))
      await notify(person, 'system', words())
      await run(own)
      const [row] = await rowsOf(person)
      expect(row.wait).toBeGreaterThan(110)
      expect(row.wait).toBeLessThan(125)
      fcm.answers.delete(pushToken)
    })
  }
})

testLocally('the access token is asked for once, and again when FCM takes it no more', async () => {
  await withOwnJobs(async (own) => {
    const tokens: string[] = []
    for (let i = 0; i < 10; i++) tokens.push((await device(sara)).pushToken)
    const before = fcm.tokensGiven
    await notify(sara, 'system', words())
    await run(own)
    await notify(sara, 'system', words())
    await run(own)
    expect(fcm.tokensGiven).toBe(before + 1)

    fcm.tokens = fcm.tokens.filter((token) => token !== `ya29.${fcm.tokensGiven}`)
    await notify(sara, 'system', words())
    await run(own)
    for (const token of tokens) expect(fcm.of(token)).toHaveLength(3)
    expect(await hasDevice(sara)).toBe(true)
  })
})

testLocally('an access token is renewed before it ends', async () => {
  await withOwnJobs(async (own) => {
    const { pushToken } = await device(sara)
    const before = fcm.tokensGiven
    fcm.tokenLife = 2 // renewed half-way
    for (let i = 0; i < 3; i++) {
      await notify(sara, 'system', words())
      await run(own)
      await sleep(1100)
    }
    fcm.tokenLife = 3600
    expect(fcm.tokensGiven).toBe(before + 3)
    expect(fcm.of(pushToken)).toHaveLength(3)
  })
})

testLocally.each([
  ['refuses', answer(400, { error: 'invalid_grant' })],
  ['lies', answer(200, { access_token: 7 })],
  ['is silent', () => {}],
])('a token service that %s: pushes wait, nothing is lost, somebody is told', async (_, fails) => {
  await withOwnJobs(async (own) => {
    const { pushToken } = await device(sara)
    fcm.tokenAnswer = fails
    await notify(sara, 'system', words())
    await run(own)
    fcm.tokenAnswer = undefined
    const [row] = await rowsOf(sara)
    expect(row).toMatchObject({ attempts: 1, lease: null })
    expect(row.wait).toBeGreaterThan(50)
    expect(fcm.of(pushToken)).toEqual([])
    expect(own.said()).toContain('"alert":"push_failed"')
    expect(own.said()).not.toContain('PRIVATE KEY')
  })
})

testLocally.each([
  ['no service account', { FCM_SERVICE_ACCOUNT: undefined }, 'push_not_configured'],
  ['something else', { FCM_SERVICE_ACCOUNT: 'a secret' }, 'provider_not_configured'],
  ['half of one', { FCM_SERVICE_ACCOUNT: '{"project_id":"x"}' }, '"client_email","private_key"'],
])('OPS-02 with %s pushes wait and the log says so', async (_, settings, says) => {
  await withOwnJobs(async (own) => {
    const { pushToken } = await device(sara)
    await notify(sara, 'system', words())
    expect(await run(own)).toMatchObject({ send_pushes: { done: 0 } })
    expect(await rowsOf(sara)).toMatchObject([{ attempts: 0, lease: null }])
    expect(own.said()).toContain(says)
    expect(own.said()).toContain('push_not_configured')
    expect(own.said()).not.toContain('a secret')
    await run()
    expect(fcm.of(pushToken)).toHaveLength(1)
  }, settings)
})

testLocally('a key that is none: pushes wait, and no word of it is logged', async () => {
  const key = {
    ...JSON.parse(fcm.settings.FCM_SERVICE_ACCOUNT),
    private_key: 'nothing that could be read as one',
  }
  await withOwnJobs(async (own) => {
    await device(sara)
    await notify(sara, 'system', words())
    await run(own)
    expect(await rowsOf(sara)).toMatchObject([{ attempts: 1, lease: null }])
    expect(own.said()).toContain('no_token')
    expect(own.said()).not.toContain('could be read')
  }, { FCM_SERVICE_ACCOUNT: JSON.stringify(key) })
})
