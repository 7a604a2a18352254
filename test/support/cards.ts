import { guest } from './client.ts'
import type { Listing } from './listings.ts'

const { components } = (await guest.get('/openapi.json')).body
const names = Object.keys(components.schemas.Card.properties)

export function cardOf(record: Listing): Listing {
  const { media: [first], auction, deal } = record
  return {
    ...Object.fromEntries(names.map((name) => [name, record[name]])),
    picture: first ? { url: first.url, width: first.width, height: first.height } : null,
    picturesCount: record.media.length,
    dropPct: deal?.dropPct ?? null,
    auctionEndsAt: auction?.endsAt ?? null,
  }
}
