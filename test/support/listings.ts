import { randomInt } from 'node:crypto'
import type { Person } from './client.ts'

// deno-lint-ignore no-explicit-any
export type Listing = any
type Fields = Record<string, unknown>

export const completeFields = {
  SALE: {
    type: 'SALE',
    kind: 'villa',
    titleAr: 'فيلا للبيع في السالمية',
    price: 185000,
    areaId: 'salmiya',
    landAreaM2: 500,
  },
  RENT: {
    type: 'RENT',
    kind: 'apartment',
    titleAr: 'شقة للإيجار في السالمية',
    price: 650,
    areaId: 'salmiya',
    builtAreaM2: 120,
  },
  EXCHANGE: {
    type: 'EXCHANGE',
    kind: 'gov_house',
    titleAr: 'بيت حكومي للبدل',
    areaId: 'jahra',
    landAreaM2: 400,
    descriptionAr: 'بيت زاوية، المطلوب بيت في نفس المنطقة',
  },
} satisfies Record<string, Fields>

export async function createDraft(person: Person, fields: Fields = {}): Promise<Listing> {
  const { status, body } = await person.post('/properties', { type: 'SALE', ...fields })
  if (status !== 201) throw new Error(`draft: ${JSON.stringify(body)}`)
  return body
}

export async function publishListing(person: Person, fields: Fields = {}): Promise<Listing> {
  const type = (fields.type ?? 'SALE') as keyof typeof completeFields
  return await createDraft(person, { ...completeFields[type], ...fields, publish: true })
}

const areaPoints: Record<string, { lat: number; lng: number }> = {
  salmiya: { lat: 29.334, lng: 48.076 },
  jahra: { lat: 29.338, lng: 47.658 },
}

/** Converts the owner's view of a listing without phone number and pin to the view of others. */
export const asOthersSee = (listing: Listing): Listing => ({
  ...listing,
  location: { ...areaPoints[listing.areaId], precision: 'area' },
  allowCall: false,
  allowWhatsapp: false,
  contactMissing: null,
  locationMissing: null,
})

/** Returns a price that no other test uses, to recognise the listings of a test. */
export const uniquePrice = () => randomInt(10_000_000, 90_000_000) + 0.125
