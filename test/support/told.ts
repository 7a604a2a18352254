/** Notifications and devices of people in tests. */
import { randomUUID } from 'node:crypto'
import { database, type Person, projectUrl, secretKey } from './client.ts'
import { until } from './until.ts'

// deno-lint-ignore no-explicit-any
type Notification = any

/** What somebody was told, newest first; of one kind if named. */
export async function told(person: Person, kind?: string): Promise<Notification[]> {
  const { body } = await person.get('/notifications?limit=50')
  return body.items.filter((one: Notification) => !kind || one.kind === kind)
}

export const unread = async (person: Person): Promise<number> =>
  (await person.get('/notifications/unread-count')).body.unread

/** Waits for the first notification of a kind. */
export async function awaited(person: Person, kind: string): Promise<Notification> {
  await until(`${kind} is told`, async () => (await told(person, kind)).length > 0)
  return (await told(person, kind))[0]
}

/** Tells somebody something, as functions and triggers of the areas do. */
export async function notify(
  person: Person,
  kind: string,
  facts: object = {},
  { entityId = randomUUID() as string | null, identityId = person.identityId as string | null } =
    {},
) {
  await database().query('select private.notify($1, $2, $3, $4, $5)', [
    person.id,
    identityId,
    kind,
    entityId,
    JSON.stringify(facts),
  ])
}

/** Something to tell: a message of the service. */
export const words = (text = 'مرحباً بك') => ({
  titleAr: text,
  bodyAr: `${text}، كيف حالك؟`,
  titleEn: `Hello ${text}`,
  bodyEn: `How are you, ${text}?`,
})

/** A device of somebody, with a push token that nobody else has. */
export async function device(person: Person, fields: object = {}) {
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

/** Runs the scheduled work now. */
export async function runJobs(path: 'jobs' | 'jobs/often' = 'jobs') {
  const response = await fetch(`${projectUrl}/functions/v1/${path}`, {
    method: 'POST',
    headers: { apikey: secretKey },
  })
  return await response.json()
}

/** Runs one job, which does one thing in each call, until it finds nothing to do. */
export async function drain(name: string) {
  for (;;) {
    const { rows } = await database().query(`select private.${name}() as done`)
    if (!Number(rows[0].done)) return
  }
}

/** Hours and minutes in Kuwait, some hours from now. */
export function clock(hours: number): string {
  return new Date(Date.now() + (hours + 3) * 3_600_000).toISOString().slice(11, 16)
}
