import { z } from '@hono/zod-openapi'
import {
  displayName,
  identityType,
  organisation,
  organisationType,
  pendingChanges,
  statusReason,
} from '../accounts/schemas.ts'
import { Count, pageOf, Picture, Time } from '../http/route.ts'
import { Figures } from '../properties/schemas-insights.ts'
import { everyStatus, Listed, Property, statuses } from '../properties/schemas.ts'

export const rating = {
  ratingAvg: z.number().min(1).max(5).nullable().describe(
    'Average of its reviews, 1 to 5; null without reviews.',
  ),
  ratingCount: Count.describe('How many reviews it has.'),
}
export const medianResponseMinutes = Count.nullable().describe(
  'Median minutes until it answers in chat, over 90 days; null: fewer than five answers.',
)

export const OrganisationFields = z.object({
  id: z.uuid().describe('The id of the identity.'),
  type: organisationType,
  ...organisation,
  ...rating,
  activeListingsCount: Count.describe('How many of its listings everybody sees now.'),
  medianResponseMinutes,
  memberSince: Time,
})

const Organisation = OrganisationFields.openapi('Organisation', {
  description: 'A company or office, as everybody sees it.',
})

export const OrganisationList = pageOf('OrganisationList', Organisation)

export const ReviewSummary = z
  .object({
    average: z.number().min(1).max(5).nullable().describe('1 to 5; null without reviews.'),
    count: Count.describe('How many reviews there are.'),
    histogram: z.object({ 1: Count, 2: Count, 3: Count, 4: Count, 5: Count })
      .describe('How many reviews gave each rating.'),
  })
  .openapi('ReviewSummary', { description: 'All reviews of an identity in figures.' })

export const OrganisationPage = z
  .object({
    ...OrganisationFields.shape,
    listings: z.array(Listed).describe('The ten newest.'),
    reviews: ReviewSummary,
  })
  .openapi('OrganisationPage', { description: 'A company or office, with its newest listings.' })

export const OrganisationProfile = z
  .object({
    ...OrganisationFields.shape,
    status: z.string().describe('active, as only an active identity has this page.'),
    statusReason,
    pendingChanges,
  })
  .openapi('OrganisationProfile', { description: 'A company or office, as it sees itself.' })

/** An identity as shown to others. */
export const Party = z
  .object({
    identityId: z.uuid(),
    type: identityType,
    displayName,
    avatarUrl: Picture,
  })
  .openapi('Party', { description: 'Somebody as others see them.' })

const Lead = z
  .object({
    id: z.uuid(),
    kind: z.enum(['call', 'whatsapp', 'chat']).describe('Which way of contact was asked for.'),
    createdAt: Time,
    property: Property.pick({ id: true, refNo: true, titleAr: true })
      .extend({ status: z.enum(everyStatus).describe('As it is now.') })
      .describe('The listing that it was about.'),
    from: Party,
  })
  .openapi('Lead', { description: 'Somebody asked for a way to contact the owner of a listing.' })

export const LeadPage = pageOf('LeadPage', Lead)

export const OrganisationStats = z
  .object({
    activeListings: Count.describe('How many of its listings everybody sees now.'),
    listings: z.partialRecord(z.enum(statuses), Count)
      .describe('How many of its listings are in each status that occurs.'),
    views: Count.describe('How often its listings were looked at, each viewer once a day.'),
    favorites: Count.describe('How often its listings are saved now.'),
    leads: z.object({
      last7Days: Count.describe('Leads of the last 7 days.'),
      last30Days: Count.describe('Leads of the last 30 days.'),
      call: Count.describe('Of those of 30 days, how many asked for the phone.'),
      whatsapp: Count.describe('Of those of 30 days, how many asked for WhatsApp.'),
      chat: Count.describe('Of those of 30 days, how many opened a chat.'),
    }).describe('Who asked for a way to contact it.'),
    last30Days: Figures.describe('What happened to its listings in the last 30 days.'),
    ...rating,
    medianResponseMinutes,
  })
  .openapi('OrganisationStats', { description: 'The figures of a company or office.' })
