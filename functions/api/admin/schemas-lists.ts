import { z } from '@hono/zod-openapi'
import { inQuery } from '../../_shared/input/numbers.ts'
import { text, typedPlainly, upTo } from '../../_shared/input/texts.ts'
import { identityStatus, identityType } from '../accounts/schemas.ts'
import { InvoiceState, providerNames } from '../billing/schemas.ts'
import { Cursor, Limit, sortBy, Time } from '../http/route.ts'
import { codeOf, RefNo, Type } from '../properties/schemas.ts'
import {
  accountStatuses,
  eventKinds,
  EventOutcome,
  moderationKinds,
  reportReasons,
  reportTargets,
} from './schemas.ts'

const times = {
  since: Time.optional().describe('Not before this moment.'),
  until: Time.optional().describe('Before this moment.'),
}
const page = { cursor: Cursor.optional(), limit: Limit }
const word = text(60).min(1)
const part = text(120).min(3)
const yesOrNo = (description: string) =>
  z.enum(['true', 'false']).transform((given) => given === 'true').optional()
    .openapi({ type: 'boolean', description })
const amount = (description: string) =>
  inQuery(z.number().min(0).max(99_999_999_999.999)).optional().openapi({ description })
const order = (more = '') =>
  `The order of the page; with \`-\` backwards. Equals follow each other by id. ${more}`.trim()

export const UserQuery = z.strictObject({
  q: part.optional().describe(
    'A part of an email, phone or name, the id of an account or identity, or the number of a listing or ' +
      'an invoice, for whose it is.',
  ),
  status: z.enum(accountStatuses).optional().describe('Accounts in this state.'),
  type: identityType.optional().describe(
    'Accounts with an identity of this type; with `identityStatus`, in that state.',
  ),
  identityStatus: identityStatus.optional().describe('Accounts with an identity in this state.'),
  isAdmin: yesOrNo('true: administrators only; false: all others.'),
  toBeDeleted: yesOrNo('true: whose deletion was asked for; false: all others.'),
  ...times,
  signedInSince: Time.optional().describe('Who last signed in not before this moment.'),
  signedInUntil: Time.optional().describe('Who last signed in before this moment, or never.'),
  sort: sortBy('name', 'email', 'phone', 'lastSignInAt', 'suspendedUntil', 'deleteAt')
    .default('newest').describe(order(
      'No name, email, phone or sign-in is the least; no end of a suspension or date of deletion ' +
        'the greatest.',
    )),
  ...page,
})

export const ModerationQuery = z.strictObject({
  kind: z.enum(moderationKinds).optional().describe('Only what awaits this kind of decision.'),
  q: part.optional().describe(
    'A part of the title of a listing, the name of a company or office, or the note of a report.',
  ),
  accountId: z.uuid().optional().describe('Of the owner, or of the reporter.'),
  listingType: Type.optional().describe('Listings of this type, and changes of such.'),
  listingKind: word.optional().describe(`Listings of this kind. ${codeOf('kind')}`),
  areaId: word.optional().describe('Listings in this area.'),
  refNo: RefNo.optional().openapi({ type: 'string', example: 'KW-104233' }).describe(
    'The listing of this number.',
  ),
  priceMin: amount('Listings that cost this or more.'),
  priceMax: amount('Listings that cost this or less.'),
  identityType: z.enum(['company', 'office']).optional().describe('Identities of this type.'),
  licenceNo: typedPlainly(40).check(upTo(40)).min(3).optional().describe(
    'The identity with this licence.',
  ),
  licenceExpiresBefore: z.iso.date().optional().describe(
    'Identities whose licence ends before this day.',
  ),
  targetType: z.enum(reportTargets).optional().describe('Reports of this kind of thing.'),
  targetId: z.uuid().optional().describe('Reports of this thing.'),
  reportReason: z.enum(reportReasons).optional().describe('Reports for this reason.'),
  ...times,
  sort: sortBy('name', 'price', 'licenceExpiresOn', 'reports').default('oldest').describe(order(
    '`name` is of listings, companies and offices; `price` of listings, of which one without is ' +
      'the least; `reports` how many open ones are about the same.',
  )),
  ...page,
})

export const AuditQuery = z.strictObject({
  actorId: z.uuid().optional().describe('What this administrator did.'),
  actorRole: word.optional().describe('What was done by this role of the database.').openapi({
    example: 'facade',
  }),
  action: word.optional().describe('What was done.').openapi({ example: 'account.status' }),
  targetType: word.optional().describe('What it was done to.').openapi({ example: 'account' }),
  targetId: z.uuid().optional().describe('What was done to this account, identity, listing …'),
  ...times,
  sort: sortBy().default('newest').describe('The order of the page.'),
  ...page,
})

export const StatsQuery = z.strictObject({
  days: inQuery(z.int().min(1).max(90)).optional().openapi({
    type: 'integer',
    minimum: 1,
    maximum: 90,
    description: 'Figures of so many days, today’s included.',
  }),
})

export const PaymentEventQuery = z.strictObject({
  outcome: EventOutcome.optional().describe('Events with this outcome.'),
  provider: z.enum(providerNames).optional().describe('Events of this provider.'),
  kind: z.enum(eventKinds).optional().describe('Events of this kind.'),
  paymentId: z.uuid().optional().describe('Events of this payment.'),
  invoiceId: z.uuid().optional().describe('Events of the payments of this invoice.'),
  invoiceNumber: z.string().min(1).max(40).optional().describe('The same, by its number.').openapi({
    example: 'INV-2026-000123',
  }),
  invoiceState: InvoiceState.optional().describe('Events of invoices that have this state now.'),
  currency: z.string().regex(/^[A-Z]{3}$/).optional().describe('Events in this currency.'),
  amountMin: amount('Events about this amount or more.'),
  amountMax: amount('Events about this amount or less.'),
  processed: yesOrNo('true: those that were dealt with; false: all others.'),
  ...times,
  sort: sortBy('amount', 'processedAt').default('newest').describe(order(
    'No amount is the least, not processed the greatest.',
  )),
  ...page,
})
