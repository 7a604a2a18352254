/** What a company or office looks like. */
import { z } from '@hono/zod-openapi'
import { pageOf, Time } from '../http/route.ts'
import { Listed } from '../properties/schemas.ts'

const text = z.string().nullable()
const type = z.enum(['company', 'office'])
export const OrganisationFields = z.object({
  id: z.uuid(),
  type,
  nameAr: z.string(),
  nameEn: text,
  slug: z.string(),
  logoUrl: text,
  coverUrl: text,
  aboutAr: text,
  phone: text,
  whatsapp: text,
  email: text,
  website: text,
  licenceNo: z.string(),
  licenceExpiresOn: z.iso.date(),
  governorateId: text,
  areaId: text,
  addressAr: text,
  workingHours: text,
  verified: z.boolean(),
  ratingAvg: z.number().nullable(),
  ratingCount: z.int(),
  activeListingsCount: z.int(),
  medianResponseMinutes: z.int().nullable(),
  memberSince: Time,
})

export const Organisation = OrganisationFields.openapi('Organisation')

export const OrganisationList = pageOf('OrganisationList', Organisation)

const rated = z.int().min(0)

export const ReviewSummary = z
  .object({
    average: z.number().nullable().openapi({ description: '1 to 5; null without reviews.' }),
    count: z.int(),
    histogram: z.object({ 1: rated, 2: rated, 3: rated, 4: rated, 5: rated }),
  })
  .openapi('ReviewSummary')

export const OrganisationPage = z
  .object({
    ...OrganisationFields.shape,
    listings: z.array(Listed).openapi({ description: 'The ten newest.' }),
    reviews: ReviewSummary,
  })
  .openapi('OrganisationPage')

export const OrganisationProfile = z
  .object({
    ...OrganisationFields.shape,
    status: z.string().openapi({
      description: 'active, or pending_verification after a change that has to be verified.',
    }),
    statusReason: text,
  })
  .openapi('OrganisationProfile')

/** Somebody as others see them. */
export const Party = z
  .object({
    identityId: z.uuid(),
    type: z.enum(['individual', 'company', 'office']),
    displayName: z.string(),
    avatarUrl: text,
  })
  .openapi('Party')

export const Lead = z
  .object({
    id: z.uuid(),
    kind: z.enum(['call', 'whatsapp', 'chat']),
    createdAt: Time,
    property: z.object({ id: z.uuid(), refNo: z.string(), titleAr: text, status: z.string() }),
    from: Party,
  })
  .openapi('Lead')

export const LeadPage = pageOf('LeadPage', Lead)

export const OrganisationStats = z
  .object({
    activeListings: z.int().openapi({ description: 'Publicly visible listings.' }),
    listings: z.record(z.string(), z.int()).openapi({ description: 'Count by status.' }),
    views: z.int(),
    favorites: z.int(),
    leads: z.object({
      last7Days: z.int(),
      last30Days: z.int(),
      call: z.int(),
      whatsapp: z.int(),
      chat: z.int(),
    }).openapi({ description: 'Of the last 30 days.' }),
    ratingAvg: z.number().nullable(),
    ratingCount: z.int(),
    medianResponseMinutes: z.int().nullable(),
  })
  .openapi('OrganisationStats')
