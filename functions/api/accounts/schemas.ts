import { z } from '@hono/zod-openapi'
import { officePhone } from '../../_shared/input/identifiers.ts'
import {
  normalized,
  text as sent,
  typed,
  typedPlainly,
  upTo,
  visible,
} from '../../_shared/input/texts.ts'
import { Count, describedAs, orNull, Picture, Time } from '../http/route.ts'

const phoneNumber = /^\+965[0-9]{8}$/
const officeNumber = /^\+965([0-9]{8}|18[0-9]{5})$/
const emailProven = z.boolean().describe(
  'Whether a code or a provider has proven who owns the email.',
)

export const TermsVersion = z.string().regex(/^[!-~]{1,40}$/).openapi({ example: '2026-12' })

export const User = z
  .object({
    id: z.uuid(),
    email: z.email().nullable().describe('In lower case; null where the account has none.'),
    emailProven,
    phone: z.string().regex(phoneNumber).nullable()
      .describe('A Kuwaiti mobile with country code; null where the account has none.')
      .openapi({ example: '+96551234567' }),
    fullName: z.string().nullable().describe('As the person writes it; null until it is given.'),
    providers: z.array(z.enum(['apple', 'google'])).describe('Who can sign this account in.'),
    avatarUrl: Picture,
    language: z.enum(['ar', 'en']).describe('The language of codes, mails and pushes.'),
    termsVersion: TermsVersion.nullable().describe(
      'The terms that the person last accepted; compare `terms` of `GET /meta/app`. null: none.',
    ),
    createdAt: Time,
  })
  .openapi('User', { description: 'An account, as its owner sees it.' })

export const identityType = z.enum(['individual', 'company', 'office']).describe(
  'A person, a company (developer or firm) or an office (brokerage).',
)
export const identityStatus = z.enum([
  'active',
  'pending_verification',
  'rejected',
  'expired',
  'suspended',
  'closing',
  'closed',
]).describe(
  'Only `active` ones act and are seen. `pending_verification` awaits an administrator, `expired` ' +
    'is a licence that has run out, `closing` one that its owner closes.',
)
export const statusReason = z.string().nullable().describe(
  'Why it was rejected or suspended, or its last change refused, in the words of the administrator; ' +
    'else null.',
)

export const displayName = z.string().describe(
  'The name that others see; of a company or office its Arabic name.',
)

export const Identity = z
  .object({
    id: z.uuid(),
    type: identityType,
    status: identityStatus,
    displayName,
    avatarUrl: Picture,
  })
  .openapi('Identity', { description: 'One of those that an account can act as.' })

const OwnIdentity = z
  .object({
    ...Identity.shape,
    unread: Count.describe(
      'Unread messages of its conversations, `unreadTotal` of `GET /conversations` while it acts; 0 ' +
        'unless it is `active`.',
    ),
  })
  .openapi('OwnIdentity', { description: 'One of those that the calling account can act as.' })

export const realtimeTopic = z.string().describe(
  'Name of the private Realtime channel of the account, which carries all that its owner hears; ' +
    'only the server sends there. Opaque, and not for ever: after the event topic_changed, take ' +
    'it from an answer again.',
)

const identities = {
  user: User,
  activeIdentity: orNull(OwnIdentity).describe(
    'The identity that the account acts as; null if it lost it.',
  ),
  identities: z.array(OwnIdentity).describe('All identities of the account, of any status.'),
}

export const resendAfter = Count.describe('Seconds until another code can be asked for.')

export const Switched = z.object(identities).openapi('Switched', {
  description: 'The account and who it acts as from now on.',
})

export const Me = z
  .object({
    ...identities,
    realtimeTopic,
  })
  .openapi('Me', { description: 'The calling account and who it acts as.' })

export const Session = z
  .object({
    accessToken: z.string().describe(
      'For `Authorization: Bearer`, until `expiresAt`; also for Realtime and Storage.',
    ),
    refreshToken: z.string().describe('For `POST /auth/refresh`, once.'),
    tokenType: z.literal('bearer'),
    expiresIn: Count.describe('Seconds for which the access token is still good.'),
    expiresAt: Time.describe('When the access token ends.'),
    deletionCancelled: z.literal(true).optional().describe(
      'There if this sign-in took back a deletion of the account that was asked for.',
    ),
    ...Me.shape,
  })
  .openapi('Session', { description: 'The tokens of a sign-in, and who has signed in.' })

export const SessionRecord = z
  .object({
    id: z.uuid(),
    current: z.boolean().describe('Whether it is the calling one.'),
    createdAt: Time.describe('When it was signed in.'),
    lastUsedAt: Time.describe('When it last signed in or refreshed: up to an hour old.'),
    address: z.string().nullable().describe(
      'From where it last did so: an IPv4 address, or the /64 of an IPv6 one; null: unknown.',
    ).openapi({ example: '2001:db8:0:1::/64' }),
    userAgent: z.string().nullable().describe(
      'What the client said of itself then, its first 200 characters; null: nothing.',
    ),
    // A union, because with nullable() only the object would carry the description.
    device: z.union([
      z.object({
        deviceId: z.string().describe('As the app chose it.'),
        platform: z.enum(['ios', 'android', 'web']),
        appVersion: z.string().nullable().describe('As the app said; null: it did not.'),
      }),
      z.null(),
    ]).describe('The device that it registered for pushes; null: none.'),
  })
  .openapi('SessionRecord', { description: 'Where an account is signed in.' })

const text = z.string().nullable()
// A name before an @ can look like the host, and bidirectional marks can make a URL display in reverse.
const misleading = /^https:\/\/[^/?#]*@|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/i
const website = typed(300)
  .check(upTo(300))
  .pipe(z.url({ protocol: /^https$/ }).refine((url) => !misleading.test(url)))
  .openapi({ format: 'uri', pattern: '^https://.+$' })

export const organisation = {
  nameAr: z.string().describe('The name on the licence, in Arabic.'),
  nameEn: text.describe('The name in English; null where there is none.'),
  slug: z.string().describe('A short name for addresses of pages, unique, set by the server.'),
  logoUrl: Picture,
  coverUrl: z.url().nullable().describe('Address of the wide picture on top; null without one.'),
  aboutAr: text.describe('What it says of itself, in Arabic.'),
  phone: z.string().regex(officeNumber).nullable().openapi({ example: '+96522334455' }).describe(
    'A Kuwaiti number with country code, shown to everybody: eight digits, or seven that begin with 18.',
  ),
  whatsapp: z.string().regex(officeNumber).nullable().openapi({ example: '+96599887766' }).describe(
    'The number for WhatsApp, with country code.',
  ),
  email: z.email().nullable().describe('An address for customers, shown to everybody.'),
  website: z.url({ protocol: /^https$/ }).nullable().describe('An https address.'),
  licenceNo: z.string().describe(
    'The number of the commercial licence: digits, letters A–Z, / and -. No two share one.',
  ),
  licenceExpiresOn: z.iso.date().describe('The last day on which the licence is valid, in Kuwait.'),
  governorateId: text.openapi({ example: 'hawalli' }).describe(
    'An id of `GET /meta/governorates`.',
  ),
  areaId: text.openapi({ example: 'salmiya' }).describe('An id of `GET /meta/areas`.'),
  addressAr: text.describe('The rest of the address, in Arabic.'),
  workingHours: text.describe('In its own words.'),
  verified: z.boolean().describe('Whether an administrator has seen the licence.'),
}

const PendingIdentityChanges = z
  .object({
    nameAr: organisation.nameAr,
    nameEn: organisation.nameEn,
    licenceNo: organisation.licenceNo,
    licenceExpiresOn: organisation.licenceExpiresOn,
  })
  .partial()
  .openapi('PendingIdentityChanges', {
    description: 'Changes of what was verified; until an administrator decides the old goes on.',
  })
export const pendingChanges = orNull(PendingIdentityChanges).describe(
  'What waits for an administrator; the old, sent again, takes it back. null: nothing.',
)

const closeAt = Time.nullable().describe('When a `closing` one is closed; else null.')

export const Closing = z
  .object({
    closeAt: Time.describe('When it is carried out.'),
    loses: z.union([
      z.object({
        plan: z.string().describe('The code of its plan.'),
        endsAt: Time.describe('Until when that is paid.'),
      }),
      z.null(),
    ]).describe('What was paid and ends with it, without a refund; null: nothing.'),
  })
  .openapi('Closing', { description: 'The closing of a company or office that was requested.' })

/** An identity in any state, for its owner and admins. A company or office has every field. */
export const IdentityRecord = z
  .object({
    ...Identity.shape,
    statusReason,
    createdAt: Time,
    ...z.object({ ...organisation, pendingChanges, closeAt }).partial().shape,
  })
  .openapi('IdentityRecord', {
    description:
      'An identity as its owner sees it. What follows `createdAt` is there for companies and ' +
      'offices only.',
  })

// The number is normalized first and then checked, as in the database.
const phone = typedPlainly(20).overwrite(officePhone).check(upTo(20)).regex(officeNumber)
  .openapi({ example: '+96522334455' })
const line = (most: number) =>
  normalized(most, 'NFC').overwrite((text) => text.replace(/\s+/g, ' ').trim()).check(upTo(most))
const name = visible(120).check(upTo(120)).min(2)

// An empty string removes the value.
const place = sent(60).openapi({ pattern: '^[A-Za-z0-9_-]{0,60}$' })

const optional = describedAs(organisation, {
  nameEn: name.nullish(),
  aboutAr: sent(4000).nullish(),
  phone: phone.nullish(),
  whatsapp: phone.nullish(),
  email: typedPlainly(254).pipe(z.email().max(254)).openapi({
    format: 'email',
    maxLength: 254,
  }).nullish(),
  website: website.nullish(),
  governorateId: place.nullish(),
  areaId: place.nullish(),
  addressAr: line(300).nullish(),
  workingHours: line(300).nullish(),
})
const required = describedAs(organisation, {
  nameAr: name,
  licenceNo: typedPlainly(40).check(upTo(40)).min(3),
  licenceExpiresOn: z.iso.date(),
})

export const organisationType = z.enum(['company', 'office']).describe(
  'A company (developer or firm) or an office (brokerage).',
)

export const NewIdentity = z.strictObject({
  type: organisationType,
  ...required,
  ...optional,
})

const picture = z.uuid().nullish().describe(
  'A picture that this identity has uploaded; null removes the current one.',
)

export const IdentityChanges = z.strictObject({
  nameAr: required.nameAr.optional(),
  licenceNo: required.licenceNo.optional(),
  licenceExpiresOn: required.licenceExpiresOn.optional(),
  ...optional,
  logoMediaId: picture,
  coverMediaId: picture,
})
