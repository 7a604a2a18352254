/** What lists carry of a listing. */
import type { Listing } from './listings.ts'

const same = [
  'id',
  'refNo',
  'type',
  'kind',
  'usage',
  'titleAr',
  'titleEn',
  'price',
  'pricePeriod',
  'priceLabel',
  'isNegotiable',
  'requestYear',
  'requiredYear',
  'landAreaM2',
  'builtAreaM2',
  'bedrooms',
  'bathrooms',
  'furnished',
  'isDirect',
  'governorateId',
  'areaId',
  'block',
  'location',
  'owner',
  'status',
  'isFavorite',
  'publishedAt',
  'confirmedAt',
]

/** The card of a listing, from its whole record. */
export function cardOf(record: Listing): Listing {
  const { media: [first], auction, deal } = record
  return {
    ...Object.fromEntries(same.map((name) => [name, record[name]])),
    picture: first ? { url: first.url, width: first.width, height: first.height } : null,
    picturesCount: record.media.length,
    dropPct: deal?.dropPct ?? null,
    auctionEndsAt: auction?.endsAt ?? null,
  }
}
