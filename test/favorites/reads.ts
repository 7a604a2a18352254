import { expect } from 'vitest'
import type { Person } from '../support/client.ts'
import type { Listing } from '../support/listings.ts'

export const toggleFavorite = (person: Person, id: string) => person.post(`/favorites/${id}`)
export const savedIds = async (person: Person): Promise<string[]> =>
  (await person.get('/favorites/ids')).body.ids
const checkFavorite = async (person: Person, id: string) =>
  (await person.get(`/favorites/check/${id}`)).body

export async function savedListings(person: Person, limit = 50): Promise<Listing[]> {
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

export async function isSaved(person: Person, id: string): Promise<boolean> {
  const [checked, inIds, listed] = await Promise.all([
    checkFavorite(person, id),
    savedIds(person).then((all) => all.includes(id)),
    savedListings(person).then((items) => items.some((item) => item.id === id)),
  ])
  expect([inIds, listed]).toEqual([checked, checked])
  return checked
}
