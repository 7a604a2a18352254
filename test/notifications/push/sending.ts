/** What goes out, to whom, when, and what does not. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, signIn, signUp } from '../../support/client.ts'
import { testLocally } from '../../support/other-functions.ts'
import { answer } from '../../support/stub-fcm.ts'
import { clock, device, notify, told, words } from '../../support/told.ts'
import { until } from '../../support/until.ts'
import { fcm, rowsOf, run, sara } from './process.ts'

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

testLocally('whoever may not act gets no push, though a device of theirs is left', async () => {
  const due = { deletion_requested: true, suspended: false, banned: false }
  for (const [status, gets] of Object.entries(due)) {
    const person = await signUp()
    const { pushToken } = await device(person)
    await notify(person, 'system', words())
    // As when a session began in the moment of the ban: what ends with sessions is back.
    await database().query(`begin;
      create temporary table kept_sessions on commit drop as
        select * from auth.sessions where user_id = '${person.id}';
      create temporary table kept_devices on commit drop as
        select * from public.devices where account_id = '${person.id}';
      create temporary table kept_pushes on commit drop as
        select * from private.push_outbox where account_id = '${person.id}';
      update kept_pushes set notification_id = null;
      update public.accounts set status = '${status}' where id = '${person.id}';
      insert into auth.sessions select * from kept_sessions on conflict do nothing;
      insert into public.devices select * from kept_devices on conflict do nothing;
      insert into private.push_outbox overriding system value
        select * from kept_pushes on conflict do nothing;
      commit`)
    await run()
    expect([status, fcm.of(pushToken).length]).toEqual([status, gets ? 1 : 0])
    expect(await rowsOf(person)).toEqual([])
  }
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
