import { expect } from 'vitest'
import { signUp } from '../../support/client.ts'
import { startFacade, testLocally } from '../../support/facade.ts'
import { answer } from '../stub-fcm.ts'
import { notify, registerDevice, serviceMessage } from '../../support/notifications.ts'
import { waitUntil } from '../../support/wait.ts'
import { agePushes, fcm, sara, sendPushes, waitingPushes, withOwnJobs } from './process.ts'

testLocally('a hundred devices: twenty calls at once at most, each of them once', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, () => signUp()))
  const tokens: string[] = []
  for (const person of people) {
    for (let i = 0; i < 20; i++) tokens.push((await registerDevice(person)).pushToken)
    await notify(person, 'system', serviceMessage())
  }
  // The stub responds only once more than ten requests are open.
  fcm.mostOpen = 0
  for (const token of tokens) {
    fcm.answers.set(token, async (response) => {
      await waitUntil('more than ten ask', () => fcm.mostOpen > 10)
      return answer(200, { name: 'one' })(response)
    })
  }
  await sendPushes()
  expect(fcm.mostOpen).toBeGreaterThan(10)
  expect(fcm.mostOpen).toBeLessThanOrEqual(20)
  for (const token of tokens) expect(fcm.sentTo(token)).toHaveLength(1)
})

testLocally('two processes at once send each push once', async () => {
  await withOwnJobs(async (own) => {
    const tokens: string[] = []
    for (let i = 0; i < 20; i++) tokens.push((await registerDevice(sara)).pushToken)
    await notify(sara, 'system', serviceMessage())
    await Promise.all([sendPushes(), sendPushes(own), sendPushes(), sendPushes(own)])
    for (const token of tokens) expect(fcm.sentTo(token)).toHaveLength(1)
  })
})

testLocally(
  'CRASH-02 a push whose process was killed is sent once more at most, then dropped',
  async () => {
    const { pushToken } = await registerDevice(sara)
    fcm.answers.set(pushToken, () => {}) // FCM receives the push, and the process dies before the response
    await notify(sara, 'system', serviceMessage())
    for (let round = 1; round <= 2; round++) {
      const own = await startFacade(fcm.settings, 'jobs')
      void sendPushes(own).catch(() => {})
      await waitUntil('it has arrived', () => fcm.sentTo(pushToken).length === round)
      process.kill(own.pid, 'SIGKILL')
      await sendPushes() // the push is leased, so no other process sends it
      expect(fcm.sentTo(pushToken)).toHaveLength(round)
      expect((await waitingPushes(sara))[0].wait).toBeGreaterThan(40)
      await agePushes(sara, 61)
    }
    fcm.answers.delete(pushToken)
    await sendPushes()
    expect(fcm.sentTo(pushToken)).toHaveLength(2)
    expect(await waitingPushes(sara)).toEqual([])
  },
)
