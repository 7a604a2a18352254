import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { testFromAddresses } from '../support/addresses.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { sendRaw } from '../support/races.ts'
import { toggleFavorite } from '../favorites/reads.ts'
import { notificationsOf, waitForNotification } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'

let seller: Person
let buyer: Person

beforeEach(async () => {
  seller = await signUpByPhone()
  buyer = await signUp()
})

const sql = (text: string, values: unknown[]) => database().query(text, values)

/** Makes the account older than a quarter of an hour; before that, sign-ins cause no notifications. */
const settle = ({ id }: Person) =>
  sql(
    `update private.notification_events set notified_at = notified_at - interval '16 minutes'
     where account_id = $1 and kind = 'security_login'`,
    [id],
  )

const untold = async ({ id }: Person) => {
  const { rows } = await sql(
    `select created_at::text as at from private.notification_events
     where account_id = $1 and kind = 'security_login' and notified_at is null order by id`,
    [id],
  )
  return rows.map(({ at }) => at)
}

test('a sign-in notifies even if its session has ended before the job runs', async () => {
  await settle(buyer)
  const session = await signIn(buyer.identifier, buyer.password)
  expect((await session.post('/auth/logout', {})).status).toBe(204)
  expect(await waitForNotification(buyer, 'security_login')).toBeTruthy()
})

test('a sign-in notifies, but not the first one nor a password check', async () => {
  await settle(buyer)
  const newPassword = randomUUID()
  await buyer.post('/auth/password/change', { currentPassword: buyer.password, newPassword })
  await signIn(buyer.identifier, newPassword)
  const one = await waitForNotification(buyer, 'security_login')
  expect(one).toMatchObject({ identityId: null, data: { route: 'sessions' } })
  expect(one.bodyAr).toMatch(/^تم تسجيل الدخول إلى حسابك في \d{4}\/\d\d\/\d\d \d\d:\d\d\./)
  await waitUntil(
    'no sign-in waits',
    async () => (await Promise.all([buyer, seller].map(untold))).flat().length === 0,
  )
  expect((await notificationsOf(buyer)).map(({ kind }) => kind)).toEqual([
    'security_login',
    'security_password',
  ])
  expect(await notificationsOf(seller)).toEqual([])
})

testFromAddresses(
  "registering does not notify of its own sign-in, but of a stranger's at once",
  async () => {
    for (const person of [seller, buyer]) {
      await person.post('/auth/logout', {})
      await signIn(person.identifier, person.password)
      const again = await signIn(person.identifier, person.password)
      expect(await untold(person)).toEqual([])
      const { status } = await sendRaw({
        from: '127.0.0.9',
        path: '/auth/login',
        body: { identifier: person.identifier, password: person.password },
      })
      expect(status).toBe(200)
      await waitForNotification(again, 'security_login')
      expect(await notificationsOf(again, 'security_login')).toHaveLength(1)
    }
  },
)

test('a late notification carries the time of its event', async () => {
  const { id } = await publishListing(seller, { type: 'RENT', price: 650 })
  await toggleFavorite(buyer, id)
  const at = new Date(Date.now() - 3 * 3_600_000)
  const hour = new Date(at.getTime() + 3 * 3_600_000).toISOString().slice(11, 16)
  // Records a price drop and a sign-in of three hours ago that no job has processed yet.
  const late = await database().connect()
  try {
    await late.query('begin')
    await late.query('update public.properties set price = 600 where id = $1', [id])
    await late.query(
      `insert into private.notification_events (kind, account_id, session_id)
       values ('security_login', $1, gen_random_uuid())`,
      [buyer.id],
    )
    const { rowCount } = await late.query(
      `update private.notification_events set created_at = $3
       where (account_id = $1 or property_id = $2) and notified_at is null`,
      [buyer.id, id, at],
    )
    expect(rowCount).toBe(2)
    await late.query('commit')
  } finally {
    late.release()
  }
  const drop = await waitForNotification(buyer, 'favorite_price_drop')
  const signedIn = await waitForNotification(buyer, 'security_login')
  for (const { createdAt } of [drop, signedIn]) expect(new Date(createdAt)).toEqual(at)
  expect(signedIn.bodyAr).toContain(hour)
})

test('a recorded sign-in notifies even if its session has ended since', async () => {
  await settle(buyer)
  const intruder = await signIn(buyer.identifier, buyer.password)
  await sql(
    `update auth.sessions set created_at = created_at - interval '3 seconds' where user_id = $1`,
    [buyer.id],
  )
  await intruder.post('/auth/logout', {})
  expect(await waitForNotification(buyer, 'security_login')).toBeTruthy()
})
