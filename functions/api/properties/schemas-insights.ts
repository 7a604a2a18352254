import { z } from '@hono/zod-openapi'
import { inQuery } from '../../_shared/input/numbers.ts'
import { Count, MoneyOrNull, orNull } from '../http/route.ts'

const figures = {
  views: Count.describe(
    'How often it was looked at, each viewer once a day; guests are not counted.',
  ),
  shown: Count.describe('How often it was shown as promoted; 0 while nothing is promoted.'),
  favorites: Count.describe('How often it was saved, also if not for long.'),
  contacts: Count.describe('How often a way to contact the owner was asked for, as in leads.'),
}

/** Totals of the activity on one or more listings. */
export const Figures = z.object(figures).openapi('Figures', {
  description: 'What happened to listings in some days.',
})

const Market = z
  .object({
    listings: Count.describe('How many are listed.'),
    medianPrice: MoneyOrNull.describe('null: none has a price.'),
    medianPricePerM2: MoneyOrNull.describe('The median of price by m²; null: none has a price.'),
    percentile: z.int().min(0).max(100).nullable().describe(
      'How many percent of those with a price cost less; null: it or all of them have none.',
    ),
  })
  .openapi('Market', { description: 'The listed ones of the same type, kind and area.' })

export const Insights = z
  .object({
    days: z.array(
      z.object({ day: z.iso.date().describe('In Kuwait.'), ...figures })
        .openapi('DayOfFigures', { description: 'What happened on a day.' }),
    ).describe(
      'Every day, oldest first, today’s the last; fewer than asked for while the service has not ' +
        'counted for so long.',
    ),
    totals: Figures.describe('The sums of these days.'),
    demand: Count.nullable().describe('How many look for such a listing; null: that is not known.'),
    market: orNull(Market).describe('null: fewer than five such are listed.'),
  })
  .openapi('Insights', { description: 'Figures of a listing for its owner.' })

export const InsightsQuery = z.strictObject({
  days: inQuery(z.int().min(1).max(90)).default(30).openapi({
    type: 'integer',
    minimum: 1,
    maximum: 90,
    default: 30,
    description: 'Figures of so many days, today’s included.',
  }),
})
