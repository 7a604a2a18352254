import { expect } from 'vitest'
import { database, signUp } from '../../support/client.ts'
import { answer, failure } from '../stub-fcm.ts'
import { notify, registerDevice, serviceMessage } from '../../support/notifications.ts'
import { expectWithin } from '../../support/promised-times.ts'
import {
  agePushes,
  fcm,
  hasDevice,
  jobs,
  sara,
  sendAndWait,
  sendPushes,
  waitingPushes,
  withOwnJobs,
} from './process.ts'
import { testLocally } from '../../support/facade.ts'

const hour = 3600

const violation = (field: string) => ({
  details: [
    {
      '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
      errorCode: 'INVALID_ARGUMENT',
    },
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field, description: 'Invalid' }],
    },
  ],
})
const notAToken = {
  status: 'INVALID_ARGUMENT',
  message: 'The registration token is not a valid FCM registration token',
}

testLocally.each([
  ['UNREGISTERED', failure(404, 'UNREGISTERED')],
  ['SENDER_ID_MISMATCH', failure(403, 'SENDER_ID_MISMATCH')],
  ['INVALID_ARGUMENT about the token', failure(400, undefined, violation('message.token'))],
  ['a text that says so', failure(400, undefined, notAToken)],
])('%s: the device is removed with its pending pushes', async (_, dead) => {
  const { pushToken } = await registerDevice(sara)
  const { pushToken: alive } = await registerDevice(sara)
  fcm.answers.set(pushToken, dead)
  await notify(sara, 'system', serviceMessage())
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(1)
  expect(fcm.sentTo(alive)).toHaveLength(1)
  expect((await sara.get('/devices')).body.items).toHaveLength(1)
  expect(await waitingPushes(sara)).toEqual([])
  await notify(sara, 'system', serviceMessage())
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(1)
})

const unknown = failure(404, undefined, {
  status: 'NOT_FOUND',
  message: 'Requested entity was not found.',
})

testLocally(
  'CHAT-23 a token that FCM does not find: after three answers in a row it is removed',
  async () => {
    const [{ pushToken }, other] = [await registerDevice(sara), await signUp()]
    const { pushToken: alive } = await registerDevice(other)
    const tries = async (...answers: (typeof unknown)[]) => {
      // A run may send a push more than once. Further attempts get INTERNAL, which does not count.
      fcm.answers.set(
        pushToken,
        (response) => (answers.shift() ?? failure(500, 'INTERNAL'))(response),
      )
      while (answers.length) {
        await agePushes(sara)
        await sendPushes()
      }
    }
    await notify(sara, 'system', serviceMessage())
    await tries(unknown, unknown)
    // Other pushes do not wait for the failing one.
    await notify(other, 'system', serviceMessage())
    await sendPushes()
    expect(fcm.sentTo(alive)).toHaveLength(1)
    await tries(answer(200, { name: 'one' }))
    expect(await waitingPushes(sara)).toEqual([])

    await notify(sara, 'system', serviceMessage())
    await tries(unknown, unknown)
    expect(await hasDevice(sara)).toBe(true) // the push that arrived restarted the count
    await tries(unknown)
    expect(await hasDevice(sara)).toBe(false)
    expect(await waitingPushes(sara)).toEqual([])
  },
)

testLocally('CHAT-23 such an answer raises an alarm, since the project may be gone', async () => {
  const { pushToken } = await registerDevice(sara)
  fcm.answers.set(pushToken, unknown)
  await notify(sara, 'system', serviceMessage())
  await withOwnJobs(async (own) => {
    await sendPushes(own)
    expect(own.output()).toContain('"alert":"push_failed"')
  })
})

testLocally('CHAT-23 a page of HTML with 404 says nothing of a token', async () => {
  const { pushToken } = await registerDevice(sara)
  fcm.answers.set(pushToken, answer(404, '<html>Not Found</html>'))
  await notify(sara, 'system', serviceMessage())
  for (let nth = 0; nth < 4; nth++) {
    await agePushes(sara)
    await sendPushes()
  }
  expect(await hasDevice(sara)).toBe(true)
  fcm.answers.delete(pushToken)
  await agePushes(sara)
  await sendPushes()
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('a token that replaced an expired one meanwhile stays', async () => {
  const { pushToken, deviceId } = await registerDevice(sara)
  const renewed = `${pushToken}-renewed`
  fcm.answers.set(pushToken, async (response) => {
    await registerDevice(sara, { deviceId, pushToken: renewed })
    return failure(404, 'UNREGISTERED')(response)
  })
  await notify(sara, 'system', serviceMessage())
  await sendPushes()
  expect(await hasDevice(sara)).toBe(true)
  await agePushes(sara)
  await sendPushes()
  expect(fcm.sentTo(renewed)).toHaveLength(1)
})

testLocally('a push that FCM calls invalid is dropped, its device stays', async () => {
  const { pushToken } = await registerDevice(sara)
  const wrong = failure(400, undefined, violation('message.android.ttl'))
  fcm.answers.set(pushToken, wrong)
  await notify(sara, 'system', serviceMessage())
  await sendPushes()
  expect(await waitingPushes(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
  expect(jobs.output()).toContain('"alert":"push_failed"')
})

testLocally.each([
  ['INTERNAL', failure(500, 'INTERNAL'), 4, 7],
  ['UNAVAILABLE', failure(503, 'UNAVAILABLE'), 4, 7],
  ['502 of something in between', answer(502, '<html>bad gateway</html>'), 4, 7],
  ['200 that is no answer', answer(200, 'ok'), 4, 7],
  ['200 without a name', answer(200, {}), 4, 7],
  ['a cut connection', (response: { destroy: () => void }) => response.destroy(), 4, 7],
  ['THIRD_PARTY_AUTH_ERROR', failure(401, 'THIRD_PARTY_AUTH_ERROR'), 590, 601],
])('%s: tried again later, and the device stays', async (_, fails, least, most) => {
  const { pushToken } = await registerDevice(sara)
  fcm.answers.set(pushToken, fails as ReturnType<typeof failure>)
  await notify(sara, 'system', serviceMessage())
  const [first] = await sendAndWait(sara)
  expect(first).toMatchObject({ attempts: 1, lease: null })
  expect(first!.most).toBeGreaterThan(least)
  expect(first!.least).toBeLessThan(most)
  expect(fcm.sentTo(pushToken)).toHaveLength(1)
  await agePushes(sara, -hour)
  await sendPushes() // the push is not due yet
  expect(fcm.sentTo(pushToken)).toHaveLength(1)

  fcm.answers.delete(pushToken)
  await agePushes(sara, hour + most)
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(2)
  expect(await waitingPushes(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
})

testLocally('delays grow, and after eight tries a push is given up', async () => {
  const { pushToken } = await registerDevice(sara)
  fcm.answers.set(pushToken, failure(500, 'INTERNAL'))
  await notify(sara, 'system', serviceMessage())
  const waits: { least: number; most: number }[] = []
  for (let i = 0; i < 10; i++) {
    const [row] = await sendAndWait(sara)
    if (row) waits.push(row)
    await agePushes(sara)
  }
  expect(waits).toHaveLength(8)
  const expected = [5, 20, 80, 320, 1280, 3600, 3600, 3600]
  waits.forEach(({ least, most }, i) => {
    expect(most).toBeGreaterThanOrEqual(expected[i]! * 0.75)
    // The wait is rounded up to whole seconds.
    expect(least).toBeLessThanOrEqual(Math.ceil(expected[i]! * 1.25))
  })
  expect(fcm.sentTo(pushToken)).toHaveLength(8)
  expect(await waitingPushes(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
})

testLocally('a push a day old is dropped', async () => {
  const { pushToken } = await registerDevice(sara)
  await notify(sara, 'system', serviceMessage())
  await database().query(
    `update private.push_outbox set expires_at = now() - interval '1 second' where account_id = $1`,
    [sara.id],
  )
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toEqual([])
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('a slow answer is given up after four seconds, others do not wait for it', async () => {
  const slow = await registerDevice(sara)
  const quick = await registerDevice(sara)
  fcm.answers.set(slow.pushToken, () => {})
  let over = false
  const overAt: boolean[] = []
  fcm.answers.set(quick.pushToken, (response) => {
    overAt.push(over)
    return answer(200, { name: 'one' })(response)
  })
  await notify(sara, 'system', serviceMessage())
  await withOwnJobs(async (own) => {
    const began = Date.now()
    await sendPushes(own).then(() => (over = true))
    expect(overAt).toEqual([false])
    expect(Date.now() - began).toBeGreaterThan(3800)
    expectWithin('a push that is not answered is given up', Date.now() - began)
  }, { PATIENCE: '1' })
  fcm.answers.delete(slow.pushToken) // otherwise later tests would wait for its retry
  expect(await waitingPushes(sara)).toMatchObject([{ attempts: 1, lease: null }])
})
