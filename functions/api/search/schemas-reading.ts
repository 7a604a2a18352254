import { z } from '@hono/zod-openapi'
import { text } from '../../_shared/input/texts.ts'
import { booleanInQuery } from '../http/route.ts'

const aboutLiteral =
  'true: every word of `q` is only a word; nothing of it is read as a kind, place, type or number.'

export const Query = text(200).optional().openapi({
  description:
    'What somebody types. Kinds, places, types, furnishing, positions of the plot, amenities, `isDirect`, and ' +
    'numbers with their unit or bound are read (`understood`); the other words are found in any order.',
  example: 'شقة للايجار السالمية غرفتين',
})

export const literal = z.boolean().optional().describe(aboutLiteral)
export const literalInQuery = booleanInQuery(aboutLiteral)

const Found = z
  .object({
    field: z.string().describe(
      'The filter that it is: `type`, `kinds`, `areaIds`, `governorateIds`, `priceMin` … or `refNo`.',
    ),
    value: z.string().describe('Its value, as a query string has it: lists with commas.'),
    text: z.string().describe('The words that say so.'),
  })
  .openapi('UnderstoodItem', { description: 'Words of a query that were read.' })

const Guess = z
  .object({
    from: z.string().describe('A word of `words`.'),
    to: z.array(z.string()).describe('Words like it, the most alike first, without ال and marks.'),
  })
  .openapi('UnderstoodGuess', { description: 'A word that may be misspelt.' })

export const Understood = z
  .object({
    found: z.array(Found).describe(
      'What was read. Where a listing leaves furnishing, position, floor, block, bathrooms, amenities or ' +
        '`isDirect` open, its text counts.',
    ),
    words: z.array(z.string()).describe('The words that were not read, and are looked for.'),
    ignored: z.array(z.string()).describe(
      'What was left out: phones, a price of no known type, types that exclude each other, what is ' +
        'negated and is no filter.',
    ),
    guessed: z.array(Guess).describe(
      'The words for which similar listings have others; empty on the map.',
    ),
    conflicts: z.array(z.string()).describe(
      'Given filters that exclude what was read of the same thing: then nothing is found.',
    ),
    sort: z.enum(['newest', 'price_asc', 'price_desc', 'area_desc']).nullable().describe(
      'The order that `q` asks for («ارخص», `newest`), in which the page is; null beside a given one.',
    ),
    strategy: z.string().nullable().describe(
      'The strategy that has what was asked, where the one searched has not: then nothing is found.',
    ),
  })
  .openapi('Understood', { description: 'What a query was understood as.' })
