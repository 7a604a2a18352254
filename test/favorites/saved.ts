/** What a person has saved, by every read that there is. */
import { expect } from 'vitest'
import type { Person } from '../support/client.ts'
import type { Listing } from '../support/listings.ts'

export const toggle = (person: Person, id: string) => person.post(`/favorites/${id}`)
export const ids = async (person: Person): Promise<string[]> =>
  (await person.get('/favorites/ids')).body.ids
export const check = async (person: Person, id: string) =>
  (await person.get(`/favorites/check/${id}`)).body

/** The whole list, page by page. */
export async function list(person: Person, limit = 50): Promise<Listing[]> {
  const items: Listing[] = []
  for (let cursor = ''; cursor !== null;) {
    const { status, body } = await person.get(
      `/favorites?limit=${limit}${cursor && `&cursor=${cursor}`}`,
    )
    expect(status).toBe(200)
    items.push(...body.items)
    cursor = body.nextCursor
  }
  return items
}

/** All reads of one favorite, which must agree. */
export async function saved(person: Person, id: string): Promise<boolean> {
  const [checked, inIds, listed] = await Promise.all([
    check(person, id),
    ids(person).then((all) => all.includes(id)),
    list(person).then((items) => items.some((item) => item.id === id)),
  ])
  expect([inIds, listed]).toEqual([checked, checked])
  return checked
}
