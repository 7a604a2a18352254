// Terms of use. This setting applies to everyone, so only tests that run alone change it.
import type pg from 'pg'
import { database, type Person } from './client.ts'

export type Terms = { version: string; url: string; requiredFrom: string }

export const dayIn = (days: number) =>
  new Date(Date.now() + (days * 24 + 3) * 3_600_000).toISOString().slice(0, 10)

export const terms = (version: string, days = 20): Terms => ({
  version,
  url: `https://market.example/terms/${version}`,
  requiredFrom: dayIn(days),
})

async function inTransaction(work: (client: pg.PoolClient) => Promise<unknown>) {
  const client = await database().connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

const write = (client: pg.PoolClient, value: Terms | null) =>
  client.query(`update private.settings set value = $1 where name = 'terms'`, [
    JSON.stringify(value),
  ])

/** Restricts the event to these people: it reaches only older accounts, so only theirs are made older. */
async function onlyTo(client: pg.PoolClient, people: Person[]) {
  await client.query(
    `update public.accounts set created_at = now() - interval '30 hours' where id = any ($1)`,
    [people.map(({ id }) => id)],
  )
  await client.query(
    `update private.notification_events set created_at = now() - interval '20 hours'
     where kind = 'terms_new'`,
  )
}

/** Sets terms as in Studio; only these people are notified. */
export const announce = (value: Terms | null, ...people: Person[]) =>
  inTransaction(async (client) => {
    await client.query(`set local edits.by = ''`)
    await write(client, value)
    await client.query(`set local edits.by = 'tests'`)
    await onlyTo(client, people)
  })

/** Makes these terms required from today, which the checks of the setting would refuse. */
export const requireTerms = (value: Terms) =>
  inTransaction(async (client) => {
    await client.query('alter table private.settings disable trigger settings_are_understood')
    await write(client, { ...value, requiredFrom: dayIn(0) })
    await client.query('alter table private.settings enable trigger settings_are_understood')
  })

export const tellOfTerms = (person: Person) =>
  inTransaction(async (client) => {
    await client.query(
      `insert into private.notification_events (kind, details) values ('terms_new', $1)`,
      [JSON.stringify(terms('told'))],
    )
    await onlyTo(client, [person])
  })
