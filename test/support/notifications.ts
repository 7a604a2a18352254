import { randomUUID } from 'node:crypto'
import { database, type Person } from './client.ts'
import { waitUntil } from './wait.ts'

// deno-lint-ignore no-explicit-any
type Notification = any

export async function notificationsOf(person: Person, kind?: string): Promise<Notification[]> {
  const { body } = await person.get('/notifications?limit=50')
  return body.items.filter((one: Notification) => !kind || one.kind === kind)
}

export const unreadCount = async (person: Person): Promise<number> =>
  (await person.get('/notifications/unread-count')).body.unread

export async function waitForNotification(person: Person, kind: string): Promise<Notification> {
  await waitUntil(
    `there is a notification ${kind}`,
    async () => (await notificationsOf(person, kind)).length > 0,
  )
  return (await notificationsOf(person, kind))[0]
}

export async function notify(
  person: Person,
  kind: string,
  details: object = {},
  { entityId = randomUUID() as string | null, identityId = person.identityId as string | null } =
    {},
) {
  await database().query('select private.notify($1, $2, $3, $4, $5)', [
    person.id,
    identityId,
    kind,
    entityId,
    JSON.stringify(details),
  ])
}

export const serviceMessage = (text = 'مرحباً بك') => ({
  titleAr: text,
  bodyAr: `${text}، كيف حالك؟`,
  titleEn: `Hello ${text}`,
  bodyEn: `How are you, ${text}?`,
})

export async function registerDevice(person: Person, fields: object = {}) {
  const given = {
    deviceId: randomUUID(),
    platform: 'ios',
    pushToken: `token-${randomUUID()}`,
    ...fields,
  }
  const { status, body } = await person.put('/devices', given)
  if (status !== 200) throw new Error(`device: ${JSON.stringify(body)}`)
  return given
}

/** Returns the time of day (hh:mm) in Kuwait, this many hours from now. */
export function kuwaitTimeIn(hours: number): string {
  return new Date(Date.now() + (hours + 3) * 3_600_000).toISOString().slice(11, 16)
}
