import { beforeEach, expect } from 'vitest'
import { guest, type Person, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'

export let owner: Person
export let company: string
export let listing: string
export let author: Person

export function newCompanyForEach() {
  beforeEach(async () => {
    owner = await signUp()
    company = await insertOrganisation(owner.id)
    listing = await insertListing(company, { owner_type: 'company' })
    author = await signUp('هند المطيري')
    await proveEmail(author)
  })
}

export async function contact(person: Person, propertyId = listing) {
  const reply = await person.post('/conversations', { propertyId, message: 'هل ما زال متوفراً؟' })
  expect(reply.status).toBe(201)
}

export const review = (person: Person, fields: Record<string, unknown> = {}) =>
  person.post('/reviews', { identityId: company, rating: 4, ...fields })

export const read = (identityId = company, more = '') =>
  guest.get(`/reviews?identityId=${identityId}${more}`)
