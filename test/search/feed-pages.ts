import { expect } from 'vitest'
import { database, guest, type Person } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'

export type Item = { id: string; kind: string; publishedAt: string; type: string }

export type Page = { items: Item[]; page: number; hasMore: boolean; snapshot: string }

/** Returns the database's current time in the API's format. */
export async function now(): Promise<string> {
  const { rows } = await database().query(
    `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  )
  return rows[0].now
}

export async function page(
  snapshot: string,
  number = 1,
  limit = 20,
  filter = 'all',
): Promise<Page> {
  const { status, body } = await guest.get(
    `/feed?filter=${filter}&page=${number}&limit=${limit}&snapshot=${snapshot}`,
  )
  expect(status).toBe(200)
  return body
}

export const ids = (items: Item[]) => items.map((item) => item.id)

export async function offered(seller: Person, count: number, columns = {}): Promise<string[]> {
  const made: string[] = []
  while (made.length < count) made.push(await insertListing(seller.identityId, columns))
  return made
}

export const pause =
  `update public.properties set status = 'paused', paused_at = now() where id = $1`
