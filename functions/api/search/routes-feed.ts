// The feed: listings in numbered pages, newest first.
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { inQuery } from '../../_shared/input/numbers.ts'
import { area, json, Limit, route, send, Time } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { OrganisationFields } from '../organisations/schemas.ts'
import { Card, Fields, Property } from '../properties/schemas.ts'

const kinds = {
  kind: z.literal('property').describe('What the slot holds.'),
  propertyKind: Property.shape.kind.describe(
    'The kind of the listing, which `kind` is in other lists: a code of `GET /meta/kinds`.',
  ),
}
// extend() would turn the item into an `allOf` with the card, in which `kind` has two meanings.
const CardItem = z.object({ ...Card.shape, ...kinds }).openapi('FeedCard', {
  description: 'A listing in a slot of the feed.',
})
const PropertyItem = z.object({ ...Property.shape, ...kinds }).openapi('FeedProperty', {
  description: 'A listing in full in a slot of the feed.',
})

const OfficeItem = OrganisationFields.extend({
  kind: z.literal('office').describe('What the slot holds.'),
}).openapi('FeedOffice', { description: 'A verified office in a slot of the feed.' })

const Slot = z.union([CardItem, PropertyItem, OfficeItem]).openapi('FeedSlot', {
  description: 'A slot of the feed: a listing or a verified office, by its `kind`.',
})

const FeedPage = z
  .object({
    items: z.array(Slot).describe(
      'Shorter than the limit where listings are gone: only hasMore marks the end.',
    ),
    page: z.int().min(1).describe('The number of this page.'),
    hasMore: z.boolean().describe('Whether there is a next page.'),
    snapshot: Time.describe(
      'To be sent with the next pages: page numbers are stable for a snapshot, for 6 hours.',
    ),
  })
  .openapi('FeedPage', { description: 'A page of the home feed.' })

/** Lets caches store the feed for 30 s, but not beyond the next snapshot. There is one every five minutes. */
function untilNextSnapshot() {
  const left = Math.floor(300 - Date.now() / 1000 % 300)
  const fresh = Math.min(30, left)
  return `s-maxage=${fresh}, stale-while-revalidate=${Math.min(30, left - fresh)}`
}

const list = route({
  tags: ['feed'],
  operationId: 'list_feed',
  method: 'get',
  path: '/',
  guestCache: untilNextSnapshot,
  summary:
    'Get the home feed, newest first; with filter all every eighth slot is a verified office',
  description:
    'Begin without `snapshot` and send the one of the answer with the pages that follow: so ' +
    'nothing repeats or is skipped while new listings come in. A snapshot lives 6 hours, then ' +
    '422 `cursor_invalid`: begin again. With filter `all` every eighth slot is a verified ' +
    'office. Go on while `hasMore`, also after a page that is shorter than the limit.',
  errors: ['feed_filter_unknown'],
  request: {
    query: z.strictObject({
      filter: z
        .enum(['all', 'sale', 'rent', 'exchange'], { error: 'feed_filter_unknown' })
        .default('all').describe('Which listings; `all` has offices between them.'),
      page: inQuery(z.int().min(1).max(500)).default(1).openapi({
        type: 'integer',
        minimum: 1,
        maximum: 500,
        default: 1,
        description: 'The number of the page.',
      }),
      limit: Limit,
      snapshot: z.iso.datetime({ offset: true, error: 'cursor_invalid' }).optional()
        .describe('The `snapshot` of the first page; nothing for the first.'),
      fields: Fields,
    }),
  },
  responses: { 200: json(FeedPage, 'A page of slots.') },
})

export const feed = area().openapi(list, async (c) => {
  const { limit, ...position } = c.req.valid('query')
  const args = { ...position, pageSize: limit }
  return send(c, await inSearchQueue(c, () => call(c, 'list_feed', args, { isText: true })))
})
