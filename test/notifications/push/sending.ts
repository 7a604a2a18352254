import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, signIn, signUp } from '../../support/client.ts'
import { conversationBetween, postMessage } from '../../support/conversations.ts'
import { answer } from '../stub-fcm.ts'
import {
  kuwaitTimeIn,
  notificationsOf,
  notify,
  registerDevice,
  serviceMessage,
} from '../../support/notifications.ts'
import { waitUntil } from '../../support/wait.ts'
import { fcm, sara, sendPushes, waitingPushes } from './process.ts'
import { testLocally } from '../../support/facade.ts'

testLocally('a push says what the notification says, in the language of the account', async () => {
  const { pushToken } = await registerDevice(sara)
  const entityId = randomUUID()
  await notify(sara, 'invoice_paid', { number: 'INV-2026-000123', amount: 5 }, { entityId })
  await sendPushes()
  const [one] = await notificationsOf(sara)
  const collapse = expect.stringMatching(/^invoice_paid:[0-9a-f-]{36}$/)
  expect(fcm.sentTo(pushToken).map(({ message }) => message)).toEqual([{
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
  expect(await waitingPushes(sara)).toEqual([])
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(1)

  await sara.patch('/settings', { language: 'en' })
  await notify(sara, 'system', serviceMessage('Sara'))
  await sendPushes()
  expect(fcm.sentTo(pushToken)[1]).toMatchObject({
    title: 'Hello Sara',
    body: 'How are you, Sara?',
  })
})

testLocally("every device of an account gets the push, and nobody else's does", async () => {
  const mine = [await registerDevice(sara), await registerDevice(sara, { platform: 'android' })]
  const other = await signUp()
  const theirs = await registerDevice(other)
  await notify(sara, 'system', serviceMessage())
  await sendPushes()
  for (const { pushToken } of mine) expect(fcm.sentTo(pushToken)).toHaveLength(1)
  expect(fcm.sentTo(theirs.pushToken)).toEqual([])
})

testLocally('ISO-16 a token that changes hands gets nothing of its former owner', async () => {
  const other = await signUp()
  const { pushToken, deviceId } = await registerDevice(sara)
  await notify(sara, 'system', serviceMessage('قبل'))
  await registerDevice(other, { pushToken, deviceId })
  await notify(sara, 'system', serviceMessage('بعد'))
  await notify(other, 'system', serviceMessage('للجديد'))
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toMatchObject([{ title: 'للجديد' }])
  await registerDevice(sara, { pushToken, deviceId })
  await notify(sara, 'system', serviceMessage('من جديد'))
  await notify(other, 'system', serviceMessage('ليس له'))
  await sendPushes()
  expect(fcm.sentTo(pushToken).map(({ title }) => title)).toEqual(['للجديد', 'من جديد'])
})

testLocally('there is no push after signing out, suspension or reading', async () => {
  const phone = await signIn(sara.identifier, sara.password)
  const [onPhone, here] = [await registerDevice(phone), await registerDevice(sara)]
  await notify(sara, 'system', serviceMessage())
  await phone.post('/auth/logout', {})
  await sendPushes()
  expect(fcm.sentTo(onPhone.pushToken)).toEqual([])
  expect(fcm.sentTo(here.pushToken)).toHaveLength(1)

  await notify(sara, 'system', serviceMessage())
  await sara.post('/notifications/read-all')
  await sendPushes()
  expect(fcm.sentTo(here.pushToken)).toHaveLength(1)

  await notify(sara, 'system', serviceMessage())
  await database().query(`update public.accounts set status = 'suspended' where id = $1`, [sara.id])
  await sendPushes()
  expect(fcm.sentTo(here.pushToken)).toHaveLength(1)
  expect(await waitingPushes(sara)).toEqual([])
})

testLocally('an account that may not act gets no push, even with a device left', async () => {
  const due = { active: true, suspended: false, banned: false }
  for (const [status, gets] of Object.entries(due)) {
    const person = await signUp()
    const { pushToken } = await registerDevice(person)
    await notify(person, 'system', serviceMessage())
    // Restores the rows that were deleted with the sessions, as if a session had begun
    // at the moment of the change.
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
    await sendPushes()
    expect([status, fcm.sentTo(pushToken).length]).toEqual([status, gets ? 1 : 0])
    expect(await waitingPushes(person)).toEqual([])
  }
})

testLocally('preferences apply by category; push without the list is possible', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', {
    notifications: { billing: { push: false }, account: { inApp: false } },
  })
  await notify(sara, 'invoice_paid', { number: 'INV-1', amount: 1 })
  await notify(sara, 'system', serviceMessage('هنا'))
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toMatchObject([{ title: 'هنا', data: { kind: 'system' } }])
  expect(fcm.sentTo(pushToken)[0]!.data).not.toHaveProperty('notificationId')
  expect((await notificationsOf(sara)).map(({ kind }) => kind)).toEqual(['invoice_paid'])

  await notify(sara, 'system', serviceMessage())
  await sara.patch('/settings', { notifications: { account: { push: false } } })
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toHaveLength(1)
})

testLocally('in quiet hours pushes wait until they end, a sign-in does not', async () => {
  const { pushToken } = await registerDevice(sara)
  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(-1), to: kuwaitTimeIn(2) } })
  await notify(sara, 'system', serviceMessage('في الليل'))
  await notify(sara, 'security_login', { at: new Date().toISOString() })
  expect(await notificationsOf(sara)).toHaveLength(2) // the list does not wait
  await sendPushes()
  expect(fcm.sentTo(pushToken).map(({ data }) => data.kind)).toEqual(['security_login'])
  const [waiting] = await waitingPushes(sara)
  expect(waiting.wait).toBeGreaterThan(7000)
  expect(waiting.wait).toBeLessThanOrEqual(7200)

  await sara.patch('/settings', { quietHours: { from: kuwaitTimeIn(3), to: kuwaitTimeIn(4) } })
  await sendPushes()
  expect(fcm.sentTo(pushToken).map(({ title }) => title)).toContain('في الليل')
})

testLocally('pending pushes are one for each thing, with the newest text', async () => {
  const { pushToken } = await registerDevice(sara)
  const salem = await signUp('سالم العنزي')
  const id = await conversationBetween(salem, sara)
  for (let i = 1; i <= 5; i++) await postMessage(salem, id, `رسالة ${i}`)
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toMatchObject([{ body: '5 رسائل جديدة: رسالة 5' }])
  await postMessage(salem, id, 'السادسة')
  await sendPushes()
  expect(fcm.sentTo(pushToken)).toMatchObject([{}, { body: '6 رسائل جديدة: السادسة' }])
  const [first, second] = fcm.sentTo(pushToken).map(({ message }) =>
    message.android.notification.tag
  )
  expect(second).toBe(first) // the device replaces the earlier push
})

testLocally(
  'a newer text that arrives while the older is being sent goes out as well, once',
  async () => {
    const { pushToken } = await registerDevice(sara)
    const listing = { entityId: randomUUID() }
    const say = (count: number) => notify(sara, 'lead_new', { titleAr: `الأول ${count}` }, listing)
    let release = () => {}
    fcm.answers.set(pushToken, (response) => {
      release = () => answer(200, { name: 'one' })(response)
    })
    await say(1)
    const running = sendPushes()
    await waitUntil('the first is on its way', () => fcm.sentTo(pushToken).length === 1)
    await say(2)
    fcm.answers.delete(pushToken)
    release()
    await running
    await sendPushes()
    expect(fcm.sentTo(pushToken).map(({ title }) => title))
      .toEqual(['طلب تواصل جديد', 'طلبا تواصل جديدان'])
    expect(await waitingPushes(sara)).toEqual([])
  },
)
