import { expect } from 'vitest'
import { signUp } from '../../support/client.ts'
import { answer, failure } from '../stub-fcm.ts'
import { notify, registerDevice, serviceMessage } from '../../support/notifications.ts'
import {
  fcm,
  hasDevice,
  sara,
  sendAndWait,
  sendPushes,
  waitingPushes,
  withOwnJobs,
} from './process.ts'
import { testLocally } from '../../support/facade.ts'
import { pause } from '../../support/wait.ts'

testLocally('QUOTA_EXCEEDED: all pushes wait as long as FCM asks, a minute at least', async () => {
  await withOwnJobs(async (own) => {
    const [first, second] = [await registerDevice(sara), await registerDevice(sara)]
    const quota = failure(429, 'QUOTA_EXCEEDED', {}, { 'retry-after': '90' })
    for (const { pushToken } of [first, second]) fcm.answers.set(pushToken, quota)
    await notify(sara, 'system', serviceMessage())
    const waiting = await sendAndWait(sara, () => sendPushes(own))
    const calls = fcm.sentTo(first.pushToken).length + fcm.sentTo(second.pushToken).length
    expect(waiting).toHaveLength(2)
    for (const { least, most } of waiting) {
      expect(most).toBeGreaterThan(89)
      expect(least).toBeLessThan(91)
    }
    const later = await signUp()
    const { pushToken } = await registerDevice(later)
    await notify(later, 'system', serviceMessage())
    // Until the time that FCM named, no process leases a push, not even one that did not get FCM's response.
    for (const process of [own, undefined]) await sendPushes(process)
    expect(fcm.sentTo(pushToken)).toEqual([])
    expect(await waitingPushes(later)).toMatchObject([{ attempts: 0, lease: null }])
    expect(fcm.sentTo(first.pushToken).length + fcm.sentTo(second.pushToken).length).toBe(calls)
  })
})

testLocally('UNAVAILABLE with Retry-After, also as a date: no retry before then', async () => {
  for (const header of [() => '120', () => new Date(Date.now() + 120_000).toUTCString()]) {
    await withOwnJobs(async (own) => {
      const person = await signUp()
      const { pushToken } = await registerDevice(person)
      fcm.answers.set(
        pushToken,
        (response) => failure(503, 'UNAVAILABLE', {}, { 'retry-after': header() })(response),
      )
      await notify(person, 'system', serviceMessage())
      const [row] = await sendAndWait(person, () => sendPushes(own))
      // A date in the header has whole seconds.
      expect(row!.most).toBeGreaterThan(118)
      expect(row!.least).toBeLessThan(122)
      fcm.answers.delete(pushToken)
    })
  }
})

testLocally('the access token is requested once, and again when FCM rejects it', async () => {
  await withOwnJobs(async (own) => {
    const tokens: string[] = []
    for (let i = 0; i < 10; i++) tokens.push((await registerDevice(sara)).pushToken)
    const before = fcm.tokensGiven
    await notify(sara, 'system', serviceMessage())
    await sendPushes(own)
    await notify(sara, 'system', serviceMessage())
    await sendPushes(own)
    expect(fcm.tokensGiven).toBe(before + 1)

    fcm.tokens = fcm.tokens.filter((token) => token !== `ya29.${fcm.tokensGiven}`)
    await notify(sara, 'system', serviceMessage())
    await sendPushes(own)
    for (const token of tokens) expect(fcm.sentTo(token)).toHaveLength(3)
    expect(await hasDevice(sara)).toBe(true)
  })
})

testLocally('an access token is renewed before it ends', async () => {
  await withOwnJobs(async (own) => {
    const { pushToken } = await registerDevice(sara)
    const before = fcm.tokensGiven
    fcm.tokenLife = 2 // a token is renewed after half its life
    for (let i = 0; i < 3; i++) {
      await notify(sara, 'system', serviceMessage())
      await sendPushes(own)
      await pause(1100, 'time is the subject')
    }
    fcm.tokenLife = 3600
    expect(fcm.tokensGiven).toBe(before + 3)
    expect(fcm.sentTo(pushToken)).toHaveLength(3)
  })
})

testLocally.each([
  ['refuses', answer(400, { error: 'invalid_grant' })],
  ['lies', answer(200, { access_token: 7 })],
  ['is silent', () => {}],
])(
  'a token service that %s: pushes wait, nothing is lost, an alarm is raised',
  async (_, fails) => {
    await withOwnJobs(async (own) => {
      const { pushToken } = await registerDevice(sara)
      fcm.tokenAnswer = fails
      await notify(sara, 'system', serviceMessage())
      await sendPushes(own)
      fcm.tokenAnswer = undefined
      const [row] = await waitingPushes(sara)
      expect(row).toMatchObject({ attempts: 1, lease: null })
      expect(row.wait).toBeGreaterThan(50)
      expect(fcm.sentTo(pushToken)).toEqual([])
      expect(own.output()).toContain('"alert":"push_failed"')
      expect(own.output()).not.toContain('PRIVATE KEY')
    })
  },
)

testLocally.each([
  ['no service account', { FCM_SERVICE_ACCOUNT: undefined }, 'push_not_configured'],
  ['something else', { FCM_SERVICE_ACCOUNT: 'a secret' }, 'provider_not_configured'],
  ['half of one', { FCM_SERVICE_ACCOUNT: '{"project_id":"x"}' }, '"client_email","private_key"'],
])('OPS-02 with %s pushes wait and the log says so', async (_, settings, says) => {
  await withOwnJobs(async (own) => {
    const { pushToken } = await registerDevice(sara)
    await notify(sara, 'system', serviceMessage())
    expect(await sendPushes(own)).toMatchObject({ send_pushes: { done: 0 } })
    expect(await waitingPushes(sara)).toMatchObject([{ attempts: 0, lease: null }])
    expect(own.output()).toContain(says)
    expect(own.output()).toContain('push_not_configured')
    expect(own.output()).not.toContain('a secret')
    await sendPushes()
    expect(fcm.sentTo(pushToken)).toHaveLength(1)
  }, settings)
})

testLocally('with an invalid key pushes wait, and nothing of the key is logged', async () => {
  const key = {
    ...JSON.parse(fcm.settings.FCM_SERVICE_ACCOUNT),
    private_key: 'nothing that could be read as one',
  }
  await withOwnJobs(async (own) => {
    await registerDevice(sara)
    await notify(sara, 'system', serviceMessage())
    await sendPushes(own)
    expect(await waitingPushes(sara)).toMatchObject([{ attempts: 1, lease: null }])
    expect(own.output()).toContain('no_token')
    expect(own.output()).not.toContain('could be read')
  }, { FCM_SERVICE_ACCOUNT: JSON.stringify(key) })
})
