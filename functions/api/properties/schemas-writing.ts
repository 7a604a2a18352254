import { z } from '@hono/zod-openapi'
import { inputs } from './schemas-fields.ts'
import { Auction, Type } from './schemas.ts'
import { price } from './values.ts'

export const NewProperty = z
  .strictObject({
    type: Type,
    ...inputs,
    publish: z.boolean().optional().describe('Publishes at once.'),
    uploadSessionId: z.uuid().optional().describe(
      'Its pictures are attached to the listing, in order; 422 for a session that is gone.',
    ),
  })
  .openapi('NewProperty', { description: 'A new listing; what publishing needs is said above.' })

export const PropertyChanges = z
  .strictObject({ type: Type.optional(), ...inputs })
  .openapi('PropertyChanges', { description: 'Omitted fields stay, null clears.' })

export const NewAuction = z
  .strictObject({
    startsAt: Auction.shape.startsAt,
    endsAt: Auction.shape.endsAt,
    startPrice: price(0).openapi({ description: 'The lowest first bid, in dinars.' }),
    minIncrement: price(0.001).openapi({ description: 'The least step between bids, in dinars.' }),
  })
  .openapi('NewAuction', {
    description: 'Starts in the future, lasts at least an hour, ends within 90 days.',
  })
