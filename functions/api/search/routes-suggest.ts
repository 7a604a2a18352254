import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { inQuery } from '../../_shared/input/numbers.ts'
import { area, Count, json, route, send } from '../http/route.ts'
import { inSearchQueue } from '../http/search-queue.ts'
import { limitSuggestions } from '../http/worker-rates.ts'
import { jsonFilters } from './schemas-filters.ts'
import { Query } from './schemas-reading.ts'
import { Strategy } from './strategies.ts'

const { type, kinds, governorateIds, areaIds, near } = jsonFilters

const Suggestion = z
  .object({
    text: z.string().describe('What to show: Arabic, or English where Latin letters are typed.'),
    kind: z.enum(['area', 'governorate', 'kind', 'landmark', 'word', 'phrase']).describe(
      'What it is; `phrase` is a type and kind, with or without a place.',
    ),
    filters: z
      .object({
        strategy: Strategy.optional().describe('exchange, for what is offered so; else standard.'),
        q: z.string().optional().describe('Of a word: the whole text.'),
        type,
        kinds,
        governorateIds,
        areaIds,
        near,
      })
      .describe('What finds it: the body of `POST /search/advanced`, beside `strategy`.'),
    count: Count.nullable().describe(
      'How many listings there were in the last five minutes; null of a word or landmark.',
    ),
  })
  .openapi('Suggestion', { description: 'Something that what is typed may become.' })

const suggest = route({
  tags: ['search'],
  operationId: 'suggest',
  method: 'get',
  path: '/suggest',
  guestCache: 's-maxage=300',
  summary: 'Suggest what somebody is typing',
  description:
    'Areas, governorates, kinds and landmarks whose name begins so, in every spelling that a search reads; phrases of ' +
    'type, kind and place that something is listed for; and words that five accounts have written. From the ' +
    'fourth letter on one may be wrong. Wait 150 ms after each letter, and drop answers that were overtaken.',
  limit: limitSuggestions,
  request: {
    query: z.strictObject({
      q: Query.openapi({ description: 'What is typed so far; without it nothing is suggested.' }),
      limit: inQuery(z.int().min(1).max(50)).default(8).openapi({
        type: 'integer',
        minimum: 1,
        maximum: 50,
        default: 8,
        description: 'How many are suggested at most.',
      }),
    }),
  },
  responses: {
    200: json(
      z.object({ items: z.array(Suggestion) }).openapi('Suggestions', {
        description: 'What may be shown under the search box.',
      }),
      'The likeliest first.',
    ),
  },
})

export const suggestions = area().openapi(suggest, async (c) => {
  const { q, limit } = c.req.valid('query')
  return send(c, await inSearchQueue(c, () => call(c, 'suggest', { q, pageSize: limit })))
})
