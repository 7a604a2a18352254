/** Pushes from the outbox to a stub of FCM, by a process of the jobs that has its settings. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { database, type Person, secretKey, signIn, signUp } from './client.ts'
import { type Facade, hasStack, startFacade } from './facade.ts'
import { testLocally } from './other-functions.ts'
import { answer, failure, type FcmStub, startFcm } from './stub-fcm.ts'
import { clock, device, notify, told, words } from './told.ts'
import { until } from './until.ts'

let fcm: FcmStub
let jobs: Facade
let sara: Person

beforeAll(async () => {
  if (!hasStack) return
  fcm = await startFcm()
  jobs = await startFacade(fcm.settings, 'jobs')
})
afterAll(async () => {
  await jobs?.stop()
  await fcm?.stop()
})
beforeEach(async () => {
  if (hasStack) sara = await signUp('سارة المطيري')
})

/** Sends what is due. */
async function run(process = jobs) {
  const response = await fetch(`${process.url}/send_pushes`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  expect(response.status).toBe(200)
  return await response.json()
}

/** A process of its own: one that has learned nothing, for what makes a process pause. */
async function withOwnJobs(work: (own: Facade) => Promise<void>, settings = {}) {
  const own = await startFacade({ ...fcm.settings, ...settings }, 'jobs')
  try {
    await work(own)
  } finally {
    await own.stop()
  }
}

const rowsOf = async (person: Person) =>
  (await database().query(
    `select *, extract(epoch from due_at - now())::float as wait from private.push_outbox
     where account_id = $1 order by id`,
    [person.id],
  )).rows
/** Lets time pass for what waits. */
const passed = (person: Person, seconds = 5000) =>
  database().query(
    `update private.push_outbox set due_at = due_at - make_interval(secs => $2)
     where account_id = $1`,
    [person.id, seconds],
  )
const hasDevice = async (person: Person) => (await person.get('/devices')).body.items.length > 0

testLocally('a push says what the notification says, in the language of the account', async () => {
  const { pushToken } = await device(sara)
  const entityId = randomUUID()
  await notify(sara, 'invoice_paid', { number: 'INV-2026-000123', amount: 5 }, { entityId })
  await run()
  const [one] = await told(sara)
  const collapse = expect.stringMatching(/^invoice_paid:[0-9a-f-]{36}$/)
  expect(fcm.of(pushToken).map(({ message }) => message)).toEqual([{
    token: pushToken,
    notification: { title: one.titleAr, body: one.bodyAr },
    data: {
      notificationId: one.id,
      kind: 'invoice_paid',
      route: 'invoice',
      entityId,
      identityId: sara.identityId,
    },
    android: {
      priority: 'HIGH',
      ttl: expect.stringMatching(/^86\d\d\ds$/),
      notification: { tag: collapse, channel_id: 'billing' },
    },
    apns: {
      headers: {
        'apns-priority': '10',
        'apns-expiration': expect.stringMatching(/^\d{10}$/),
        'apns-collapse-id': collapse,
      },
      payload: { aps: { sound: 'default', badge: 1, 'thread-id': collapse } },
    },
    webpush: {
      headers: { TTL: expect.stringMatching(/^86\d\d\d$/), Urgency: 'high' },
      notification: { tag: collapse },
    },
  }])
  expect(await rowsOf(sara)).toEqual([])
  await run()
  expect(fcm.of(pushToken)).toHaveLength(1)

  await sara.patch('/settings', { language: 'en' })
  await notify(sara, 'system', words('Sara'))
  await run()
  expect(fcm.of(pushToken)[1]).toMatchObject({ title: 'Hello Sara', body: 'How are you, Sara?' })
})

testLocally('every device of an account hears it, and none of anybody else', async () => {
  const mine = [await device(sara), await device(sara, { platform: 'android' })]
  const other = await signUp()
  const theirs = await device(other)
  await notify(sara, 'system', words())
  await run()
  for (const { pushToken } of mine) expect(fcm.of(pushToken)).toHaveLength(1)
  expect(fcm.of(theirs.pushToken)).toEqual([])
})

testLocally('ISO-16 a token that changes hands gets nothing of its former owner', async () => {
  const other = await signUp()
  const { pushToken, deviceId } = await device(sara)
  await notify(sara, 'system', words('قبل'))
  await device(other, { pushToken, deviceId })
  await notify(sara, 'system', words('بعد'))
  await notify(other, 'system', words('للجديد'))
  await run()
  expect(fcm.of(pushToken)).toMatchObject([{ title: 'للجديد' }])
  await device(sara, { pushToken, deviceId })
  await notify(sara, 'system', words('من جديد'))
  await notify(other, 'system', words('ليس له'))
  await run()
  expect(fcm.of(pushToken).map(({ title }) => title)).toEqual(['للجديد', 'من جديد'])
})

testLocally('signed out, locked out or read meanwhile: no push', async () => {
  const phone = await signIn(sara.identifier, sara.password)
  const [onPhone, here] = [await device(phone), await device(sara)]
  await notify(sara, 'system', words())
  await phone.post('/auth/logout', {})
  await run()
  expect(fcm.of(onPhone.pushToken)).toEqual([])
  expect(fcm.of(here.pushToken)).toHaveLength(1)

  await notify(sara, 'system', words())
  await sara.post('/notifications/read-all')
  await run()
  expect(fcm.of(here.pushToken)).toHaveLength(1)

  await notify(sara, 'system', words())
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [sara.id])
  await run()
  expect(fcm.of(here.pushToken)).toHaveLength(1)
  expect(await rowsOf(sara)).toEqual([])
})

testLocally('preferences decide by category; push without the list is possible', async () => {
  const { pushToken } = await device(sara)
  await sara.patch('/settings', {
    notifications: { billing: { push: false }, account: { inApp: false } },
  })
  await notify(sara, 'invoice_paid', { number: 'INV-1', amount: 1 })
  await notify(sara, 'system', words('هنا'))
  await run()
  expect(fcm.of(pushToken)).toMatchObject([{ title: 'هنا', data: { kind: 'system' } }])
  expect(fcm.of(pushToken)[0]!.data).not.toHaveProperty('notificationId')
  expect((await told(sara)).map(({ kind }) => kind)).toEqual(['invoice_paid'])

  await notify(sara, 'system', words())
  await sara.patch('/settings', { notifications: { account: { push: false } } })
  await run()
  expect(fcm.of(pushToken)).toHaveLength(1)
})

testLocally('in quiet hours pushes wait until they end, a sign-in does not', async () => {
  const { pushToken } = await device(sara)
  await sara.patch('/settings', { quietHours: { from: clock(-1), to: clock(2) } })
  await notify(sara, 'system', words('في الليل'))
  await notify(sara, 'security_login', { at: new Date().toISOString() })
  expect(await told(sara)).toHaveLength(2) // the list does not wait
  await run()
  expect(fcm.of(pushToken).map(({ data }) => data.kind)).toEqual(['security_login'])
  const [waiting] = await rowsOf(sara)
  expect(waiting.wait).toBeGreaterThan(7000)
  expect(waiting.wait).toBeLessThanOrEqual(7200)

  await sara.patch('/settings', { quietHours: { from: clock(3), to: clock(4) } })
  await run()
  expect(fcm.of(pushToken).map(({ title }) => title)).toContain('في الليل')
})

testLocally('what waits is one push for each thing, with the newest text', async () => {
  const { pushToken } = await device(sara)
  const conversation = { entityId: randomUUID() }
  const say = (preview: string) =>
    notify(sara, 'message_new', { name: 'سالم', type: 'text', preview }, conversation)
  for (let i = 1; i <= 5; i++) await say(`رسالة ${i}`)
  await run()
  expect(fcm.of(pushToken)).toMatchObject([{ body: '5 رسائل جديدة: رسالة 5' }])
  await say('السادسة')
  await run()
  expect(fcm.of(pushToken)).toMatchObject([{}, { body: '6 رسائل جديدة: السادسة' }])
  const [first, second] = fcm.of(pushToken).map(({ message }) => message.android.notification.tag)
  expect(second).toBe(first) // the device replaces the one by the other
})

testLocally('a newer text that comes while the older is on its way goes out as well', async () => {
  const { pushToken } = await device(sara)
  const conversation = { entityId: randomUUID() }
  const say = (preview: string) =>
    notify(sara, 'message_new', { name: 'سالم', type: 'text', preview }, conversation)
  let release = () => {}
  fcm.answers.set(pushToken, (response) => {
    release = () => answer(200, { name: 'one' })(response)
  })
  await say('الأولى')
  const running = run()
  await until('the first is on its way', () => fcm.of(pushToken).length === 1)
  await say('الثانية')
  fcm.answers.delete(pushToken)
  release()
  await running
  await run()
  expect(fcm.of(pushToken).map(({ body }) => body))
    .toEqual(['الأولى', 'رسالتان جديدتان: الثانية'])
  expect(await rowsOf(sara)).toEqual([])
})

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
])('%s: the device is dropped with all that waits for it', async (_, dead) => {
  const { pushToken } = await device(sara)
  const { pushToken: alive } = await device(sara)
  fcm.answers.set(pushToken, dead)
  await notify(sara, 'system', words())
  await run()
  expect(fcm.of(pushToken)).toHaveLength(1)
  expect(fcm.of(alive)).toHaveLength(1)
  expect((await sara.get('/devices')).body.items).toHaveLength(1)
  expect(await rowsOf(sara)).toEqual([])
  await notify(sara, 'system', words())
  await run()
  expect(fcm.of(pushToken)).toHaveLength(1)
})

testLocally('a token that was replaced while the old one died stays', async () => {
  const { pushToken, deviceId } = await device(sara)
  const renewed = `${pushToken}-renewed`
  fcm.answers.set(pushToken, async (response) => {
    await device(sara, { deviceId, pushToken: renewed })
    return failure(404, 'UNREGISTERED')(response)
  })
  await notify(sara, 'system', words())
  await run()
  expect(await hasDevice(sara)).toBe(true)
  await passed(sara)
  await run()
  expect(fcm.of(renewed)).toHaveLength(1)
})

testLocally('a push that FCM calls wrong is dropped, its device stays', async () => {
  const { pushToken } = await device(sara)
  const wrong = failure(400, undefined, violation('message.android.ttl'))
  fcm.answers.set(pushToken, wrong)
  await notify(sara, 'system', words())
  await run()
  expect(await rowsOf(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
  expect(jobs.said()).toContain('"alert":"push_failed"')
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
  const { pushToken } = await device(sara)
  fcm.answers.set(pushToken, fails as ReturnType<typeof failure>)
  await notify(sara, 'system', words())
  await run()
  const [first] = await rowsOf(sara)
  expect(first).toMatchObject({ attempts: 1, lease: null })
  expect(first.wait).toBeGreaterThan(least - 2)
  expect(first.wait).toBeLessThan(most)
  expect(fcm.of(pushToken)).toHaveLength(1)
  await run() // not yet
  expect(fcm.of(pushToken)).toHaveLength(1)

  fcm.answers.delete(pushToken)
  await passed(sara)
  await run()
  expect(fcm.of(pushToken)).toHaveLength(2)
  expect(await rowsOf(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
})

testLocally('the waits grow, and after eight tries a push is given up', async () => {
  const { pushToken } = await device(sara)
  fcm.answers.set(pushToken, failure(500, 'INTERNAL'))
  await notify(sara, 'system', words())
  const waits: number[] = []
  for (let i = 0; i < 10; i++) {
    await run()
    const [row] = await rowsOf(sara)
    if (row) waits.push(row.wait)
    await passed(sara)
  }
  expect(waits).toHaveLength(8)
  const usual = [5, 20, 80, 320, 1280, 3600, 3600, 3600]
  waits.forEach((wait, i) => {
    expect(wait).toBeGreaterThan(usual[i]! * 0.75 - 3)
    expect(wait).toBeLessThan(usual[i]! * 1.25 + 2)
  })
  expect(fcm.of(pushToken)).toHaveLength(8)
  expect(await rowsOf(sara)).toEqual([])
  expect(await hasDevice(sara)).toBe(true)
})

testLocally('what is a day too late is dropped', async () => {
  const { pushToken } = await device(sara)
  await notify(sara, 'system', words())
  await database().query(
    `update private.push_outbox set expires_at = now() - interval '1 second' where account_id = $1`,
    [sara.id],
  )
  await run()
  expect(fcm.of(pushToken)).toEqual([])
  expect(await rowsOf(sara)).toEqual([])
})

testLocally('a slow answer is given up after four seconds, others do not wait for it', async () => {
  const slow = await device(sara)
  const quick = await device(sara)
  fcm.answers.set(slow.pushToken, () => {})
  await notify(sara, 'system', words())
  const began = Date.now()
  const running = run()
  await until('the quick one is there', () => fcm.of(quick.pushToken).length === 1)
  expect(Date.now() - began).toBeLessThan(2000)
  await running
  expect(Date.now() - began).toBeGreaterThan(3800)
  expect(Date.now() - began).toBeLessThan(6000)
  expect(await rowsOf(sara)).toMatchObject([{ attempts: 1, lease: null }])
})

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
    await run(own) // this process leases nothing before then
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
  const key = { ...JSON.parse(fcm.settings.FCM_SERVICE_ACCOUNT), private_key: 'not a key' }
  await withOwnJobs(async (own) => {
    await device(sara)
    await notify(sara, 'system', words())
    await run(own)
    expect(await rowsOf(sara)).toMatchObject([{ attempts: 1, lease: null }])
    expect(own.said()).toContain('no_token')
    expect(own.said()).not.toContain('not a key')
  }, { FCM_SERVICE_ACCOUNT: JSON.stringify(key) })
})
