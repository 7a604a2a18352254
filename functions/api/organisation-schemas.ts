/** What a company or office looks like to everybody. SQL: sql/organisation_records.sql. */
import { z } from '@hono/zod-openapi'

const text = z.string().nullable()

export const OrganisationFields = z.object({
  id: z.uuid(),
  type: z.enum(['company', 'office']),
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
  memberSince: z.iso.datetime({ offset: true }),
})
