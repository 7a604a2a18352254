/** Accounts, identities and sessions as clients see them. */
import { z } from '@hono/zod-openapi'
import { normalizeTyped } from '../../_shared/identifiers.ts'
import { Time } from '../http/route.ts'

export const User = z
  .object({
    id: z.uuid(),
    email: z.string().nullable(),
    phone: z.string().nullable().openapi({ example: '+96551234567' }),
    fullName: z.string().nullable(),
    avatarUrl: z.string().nullable(),
    language: z.enum(['ar', 'en']),
    createdAt: Time,
  })
  .openapi('User')

export const identityType = z.enum(['individual', 'company', 'office'])
export const identityStatus = z.enum([
  'active',
  'pending_verification',
  'rejected',
  'expired',
  'suspended',
  'closed',
])

export const Identity = z
  .object({
    id: z.uuid(),
    type: identityType,
    status: identityStatus,
    displayName: z.string(),
    avatarUrl: z.string().nullable(),
  })
  .openapi('Identity')

export const realtimeTopic = z.string().openapi({
  description:
    'Name of the private Realtime channel of the account, which carries all that its owner hears; ' +
    'only the server sends there. Opaque, and not for ever: after the event topic_changed, take ' +
    'it from an answer again.',
})

const identities = {
  user: User,
  // As a union: beside nullable() the description would be the object's alone.
  activeIdentity: z.union([Identity, z.null()]).openapi({
    description: 'The identity that the account acts as; null if it lost it.',
  }),
  identities: z.array(Identity),
}

export const Switched = z.object(identities).openapi('Switched')

export const Me = z
  .object({
    ...identities,
    realtimeTopic,
  })
  .openapi('Me')

export const Session = z
  .object({
    accessToken: z.string(),
    refreshToken: z.string(),
    tokenType: z.literal('bearer'),
    expiresIn: z.int().openapi({ description: 'Seconds.' }),
    expiresAt: Time,
    ...Me.shape,
  })
  .openapi('Session')

const text = z.string().nullable().optional()

/** One's own identity in any state; of a company or office with all its fields. */
export const IdentityRecord = z
  .object({
    ...Identity.shape,
    statusReason: z.string().nullable(),
    createdAt: Time,
    nameAr: z.string().optional(),
    nameEn: text,
    slug: z.string().optional(),
    logoUrl: text,
    coverUrl: text,
    aboutAr: text,
    phone: text,
    whatsapp: text,
    email: text,
    website: text,
    licenceNo: z.string().optional(),
    licenceExpiresOn: z.iso.date().optional(),
    governorateId: text,
    areaId: text,
    addressAr: text,
    workingHours: text,
    verified: z.boolean().optional(),
  })
  .openapi('IdentityRecord')

// Normalized first, then checked, as the database does.
const phone = z.string().overwrite(normalizeTyped).regex(/^\+965[0-9]{8}$/)
  .openapi({ example: '+96522334455' })
const name = z.string().normalize('NFKC').overwrite((text) => text.replace(/\s+/g, ' ').trim())
  .min(2).max(120)

const optional = {
  nameEn: name.nullish(),
  aboutAr: z.string().max(4000).nullish(),
  phone: phone.nullish(),
  whatsapp: phone.nullish(),
  email: z.string().trim().pipe(z.email().max(254)).openapi({ format: 'email' }).nullish(),
  website: z.url({ protocol: /^https$/ }).max(300).nullish(),
  governorateId: z.string().max(60).nullish(),
  areaId: z.string().max(60).nullish(),
  addressAr: z.string().max(300).nullish(),
  workingHours: z.string().max(300).nullish(),
}
const required = {
  nameAr: name,
  licenceNo: z.string().trim().min(3).max(40).openapi({
    description: 'Digits, letters A–Z, / and -.',
  }),
  licenceExpiresOn: z.iso.date(),
}

export const NewIdentity = z.strictObject({
  type: z.enum(['company', 'office']),
  ...required,
  ...optional,
})

const picture = z.uuid().nullish().openapi({
  description: 'A picture that this identity has uploaded; null removes the current one.',
})

export const IdentityChanges = z.strictObject({
  nameAr: required.nameAr.optional(),
  licenceNo: required.licenceNo.optional(),
  licenceExpiresOn: required.licenceExpiresOn.optional(),
  ...optional,
  logoMediaId: picture,
  coverMediaId: picture,
})
