/** Many devices, several processes, processes that are killed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { signUp } from '../../support/client.ts'
import { startFacade } from '../../support/facade.ts'
import { testLocally } from '../../support/other-functions.ts'
import { answer } from '../../support/stub-fcm.ts'
import { device, notify, words } from '../../support/told.ts'
import { until } from '../../support/until.ts'
import { fcm, passed, rowsOf, run, sara, withOwnJobs } from './process.ts'

testLocally('a hundred devices: twenty calls at once at most, each of them once', async () => {
  const people = await Promise.all(Array.from({ length: 5 }, () => signUp()))
  const tokens: string[] = []
  for (const person of people) {
    for (let i = 0; i < 20; i++) tokens.push((await device(person)).pushToken)
    await notify(person, 'system', words())
  }
  for (const token of tokens) {
    fcm.answers.set(token, async (response) => {
      await sleep(30)
      return answer(200, { name: 'one' })(response)
    })
  }
  fcm.most = 0
  await run()
  expect(fcm.most).toBeGreaterThan(10)
  expect(fcm.most).toBeLessThanOrEqual(20)
  for (const token of tokens) expect(fcm.of(token)).toHaveLength(1)
})

testLocally('two processes at once send each push once', async () => {
  await withOwnJobs(async (own) => {
    const tokens: string[] = []
    for (let i = 0; i < 20; i++) tokens.push((await device(sara)).pushToken)
    await notify(sara, 'system', words())
    await Promise.all([run(), run(own), run(), run(own)])
    for (const token of tokens) expect(fcm.of(token)).toHaveLength(1)
  })
})

testLocally('CRASH-02 killed after sending: sent once more at most, then dropped', async () => {
  const { pushToken } = await device(sara)
  fcm.answers.set(pushToken, () => {}) // it has arrived, and the process dies before the answer
  await notify(sara, 'system', words())
  for (let round = 1; round <= 2; round++) {
    const own = await startFacade(fcm.settings, 'jobs')
    void run(own).catch(() => {})
    await until('it has arrived', () => fcm.of(pushToken).length === round)
    process.kill(own.pid, 'SIGKILL')
    await run() // leased: nobody else sends it
    expect(fcm.of(pushToken)).toHaveLength(round)
    expect((await rowsOf(sara))[0].wait).toBeGreaterThan(40)
    await passed(sara, 61)
  }
  fcm.answers.delete(pushToken)
  await run()
  expect(fcm.of(pushToken)).toHaveLength(2)
  expect(await rowsOf(sara)).toEqual([])
})
