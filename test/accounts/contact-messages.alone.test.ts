import type pg from 'pg'
import { expect, test } from 'vitest'
import { database, newEmail, newPhone, signUp } from '../support/client.ts'

type Taken = { to: string; body: string }[]

test('CON-08 a message is taken once, again later, and an SMS only within what a day may have', async () => {
  const person = await signUp()
  const [email, ...phones] = [newEmail(), ...[1, 2].map(() => `+965${newPhone()}`)]
  const client = await database().connect()
  const take = async (db: pg.PoolClient, smsPerDay: number) => {
    const { rows } = await db.query('select private.take_contact_messages($1) as taken', [
      smsPerDay,
    ])
    return (rows[0].taken as Taken).map(({ to }) => to).sort()
  }
  // The transaction is rolled back; otherwise the service itself would send these messages within seconds.
  await client.query('begin')
  try {
    await client.query('delete from private.contact_messages')
    await client.query('delete from private.sms_sent')
    await client.query(
      `insert into private.contact_messages (account_id, sent_to, body)
       select $1, unnest($2::text[]), 'تغيّر البريد في حسابك'`,
      [person.id, [email, ...phones]],
    )
    const hour = `date_trunc('hour', clock_timestamp())`
    await client.query(`insert into private.sms_sent (hour, sent) values (${hour}, 7)`)
    const sent = async () =>
      (await client.query('select sum(sent)::int as sent from private.sms_sent')).rows[0].sent
    expect(await take(client, 7)).toEqual([email])
    expect(await sent()).toBe(7)
    expect(phones).toContain((await take(client, 8))[0])
    expect(await sent()).toBe(8)
    expect(await take(client, 0)).toHaveLength(1)
    expect(await take(client, 0)).toEqual([])
    await client.query(`update private.contact_messages set due_at = now() - interval '1 second'`)
    expect(await take(client, 0)).toEqual([email, ...phones].sort())
    const { rows } = await client.query(
      'select tries, due_at > now() as waits from private.contact_messages',
    )
    expect(rows).toEqual([1, 2, 3].map(() => ({ tries: 2, waits: true })))
  } finally {
    await client.query('rollback')
    client.release()
  }
})
