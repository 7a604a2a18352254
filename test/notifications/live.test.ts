import { afterEach, expect, test } from 'vitest'
import { closeClients, joinAs } from '../support/channels.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { notificationsOf, notify, serviceMessage } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'

afterEach(closeClients)

async function ear(person: Person, topic?: string) {
  topic ??= (await person.get('/auth/me')).body.realtimeTopic as string
  const { status, payloads } = await joinAs(person, topic)
  return { joined: status, topic, heard: () => payloads('notification') }
}

test('a notification is broadcast as the list has it, with the badge', async () => {
  const sara = await signUp()
  await notify(sara, 'system', serviceMessage('قبل'))
  const { heard, joined } = await ear(sara)
  expect(joined).toBe('SUBSCRIBED')
  await notify(sara, 'system', serviceMessage('الآن'))
  await waitUntil('it is heard', () => heard().length === 1)
  expect(heard()[0]).toMatchObject({ notification: (await notificationsOf(sara))[0], unread: 2 })
})

test('notifications switched off in the app, or of others, are not broadcast', async () => {
  const [sara, fahad] = [await signUp(), await signUp()]
  await sara.patch('/settings', { notifications: { billing: { inApp: false } } })
  const { heard, topic } = await ear(sara)
  expect((await ear(fahad, topic)).joined).toBe('CHANNEL_ERROR')
  await notify(sara, 'invoice_paid', { number: 'INV-1', amount: 1 })
  await notify(fahad, 'system', serviceMessage())
  await notify(sara, 'system', serviceMessage('لك'))
  await waitUntil('one is heard', () => heard().length > 0)
  expect(heard().map(({ notification }) => notification.titleAr)).toEqual(['لك'])
})

test('what is rolled back is not broadcast', async () => {
  const sara = await signUp()
  const { heard } = await ear(sara)
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(`select private.notify($1, null, 'system', null, $2)`, [
      sara.id,
      serviceMessage('لم يكن'),
    ])
    await client.query('rollback')
  } finally {
    client.release()
  }
  await notify(sara, 'system', serviceMessage('كان'))
  await waitUntil('one is heard', () => heard().length > 0)
  expect(heard().map(({ notification }) => notification.titleAr)).toEqual(['كان'])
})
