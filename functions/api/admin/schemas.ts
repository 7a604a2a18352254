import { z } from '@hono/zod-openapi'
import { Identifier } from '../../_shared/input/identifiers.ts'
import { normalized, upTo } from '../../_shared/input/texts.ts'
import {
  displayName,
  Identity,
  IdentityRecord,
  identityStatus,
  identityType,
  User,
} from '../accounts/schemas.ts'
import { InvoiceState } from '../billing/schemas.ts'
import { Count, Money, orNull, pageFields, Time } from '../http/route.ts'
import { never } from '../http/together.ts'
import { Document } from '../media/routes-documents.ts'
import { codeOf, everyStatus, Property } from '../properties/schemas.ts'
import { Administrator, Note } from './schemas-notes.ts'

export const accountStatuses = ['active', 'suspended', 'banned', 'deleted'] as const

export const Reason = normalized(500)
  .overwrite((text) => text.replace(/\s+/g, ' ').trim())
  .min(2).check(upTo(500))
  .describe('Why; kept in the audit trail, and shown to the person concerned.')

export const PayoutList = z.object({
  items: z.array(z.object({
    id: z.uuid().describe('By which the moderation list has it.'),
    amount: Money,
    state: z.enum(['at_provider', 'open']).describe(
      'at_provider: it goes back to its payment; open: an administrator decides.',
    ),
    notBefore: Time.nullable().describe('When it is decided at the earliest; null: at once.'),
  })).describe('What is neither paid nor returned.'),
}).openapi('PayoutList', { description: 'Money that is owed to an account.' })

const { email, emailProven, phone, fullName } = User.shape

export const AdminUser = z
  .object({
    ...User.omit({ providers: true }).shape,
    emailProven,
    status: z.enum(accountStatuses).describe(
      'Whether it is locked; `deleteAt` stands beside it, whatever it is.',
    ),
    statusReason: z.string().nullable().describe('Why it is suspended or banned; else null.'),
    suspendedUntil: Time.nullable().describe('When the suspension ends by itself; null: never.'),
    deleteAt: Time.nullable().describe(
      'When the deletion that was asked for is carried out, locked or not (14 days; signing in takes ' +
        'it back); else null.',
    ),
    isAdmin: z.boolean().describe('Whether it may use `/admin`.'),
    lastSignInAt: Time.nullable().describe('null: it never signed in.'),
    identities: z.array(Identity).describe('Oldest first.'),
  })
  .openapi('AdminUser', { description: 'An account, as administrators see it.' })

export const AuditEntry = z
  .object({
    id: z.int().min(1).describe('Grows with every entry.'),
    at: Time.describe('When it was done.'),
    actor: z.object({ id: z.uuid(), fullName }).nullable().describe(
      'The administrator, by the name of then; null for a change made in Studio, by SQL or by a job.',
    ),
    said: z.object({ id: z.uuid(), fullName }).nullable().describe(
      'Whom a row of `admin_acts` named as the one whose act it is, by the name of then: nothing proves it. ' +
        'Else null.',
    ),
    actorRole: z.string().describe(
      'The login at the database: `facade` is the API and its jobs, others are Studio and SQL.',
    ),
    action: z.string().describe('What was done.').openapi({ example: 'account.status' }),
    targetType: z.string().describe('What it was done to.').openapi({ example: 'account' }),
    targetId: z.uuid().nullable().describe('null where the target has no id.'),
    reason: z.string().nullable().describe('The reason that the administrator gave; else null.'),
    before: z.record(z.string(), z.unknown()).nullable().describe(
      'The values that changed, as they were; null where there were none.',
    ),
    after: z.record(z.string(), z.unknown()).nullable().describe(
      'The same values since then; null where there are none.',
    ),
  })
  .openapi('AuditEntry', { description: 'Something that an administrator did.' })

const byStatus = <T extends string>(states: readonly T[]) =>
  z.partialRecord(z.enum(states), Count).describe('How many are in each status that occurs.')

export const AdminUserPage = z
  .object({
    user: AdminUser,
    identities: z.array(IdentityRecord).describe('In full, oldest first.'),
    sessions: Count.describe('How many sessions are open.'),
    listings: byStatus(everyStatus),
    audit: z.array(AuditEntry).describe('What administrators did to it, newest first.'),
  })
  .openapi('AdminUserPage', { description: 'An account with what a decision needs.' })

export const UserStatus = z.strictObject({
  status: z.enum(['active', 'suspended', 'banned']).describe('`active` lifts a suspension or ban.'),
  reason: Reason,
  until: Time.optional().describe('When the suspension ends; without it, it has no end.'),
})

const documentIds = z.array(z.uuid()).max(100).describe(
  'Of a company or office that waits: the ids of the `documents` that were looked at; without it none ' +
    'were. If it has others by now, nothing is decided (409 documents_changed, with its `documentIds`).',
)

const kindOnly = (kind: Identifier['kind'], example: string) =>
  Identifier.refine((given) => given.kind === kind, { error: 'identifier_invalid' })
    .openapi({ type: 'string', description: `The new ${kind}.`, example })

const setting = {
  removeOther: z.boolean().optional().describe(
    'Whether the other one, and Google and Apple, sign in to it no more.',
  ),
  reason: Reason,
}
export const UserIdentifier = z.union([
  z.strictObject({ phone: kindOnly('phone', '51234567'), ...setting }),
  z.strictObject({ email: kindOnly('email', 'noura@example.com'), ...setting }),
])

export const IdentityStatus = z.strictObject({
  status: z.enum(['active', 'rejected', 'suspended']).describe(
    '`active` verifies it, or lifts a suspension.',
  ),
  reason: Reason,
  documentIds: documentIds.optional(),
})

const decisions = [
  'approve',
  'reject',
  'suspend',
  'restore',
  'uphold',
  'dismiss',
  'paid_out',
  'written_off',
] as const
export const moderationKinds = [
  'listing',
  'changes',
  'identity',
  'report',
  'duplicate_suspected',
  'wallet_payout',
] as const

const allowed = z.array(z.enum(decisions)).describe('What can be decided on it now.')

export const reportTargets = ['property', 'identity', 'message', 'review'] as const
export const reportReasons = [
  'spam',
  'fraud',
  'wrong_price',
  'not_available',
  'duplicate',
  'offensive',
  'impersonation',
  'illegal',
  'other',
] as const

export const ReportFields = z.strictObject({
  targetType: z.enum(reportTargets).describe('What kind of thing is reported.'),
  targetId: z.uuid().describe('The id of the reported thing.'),
  reason: z.enum(reportReasons).describe(codeOf('reportReason')),
})
export const part = z.enum(['picture'])
const partReported = part.nullable().describe(
  'Of a message, if only its picture was reported; else null.',
)
const note = z.string().nullable().describe('In the words of the reporter; null without any.')

export const Report = z
  .object({
    id: z.uuid(),
    ...ReportFields.shape,
    part: partReported,
    note,
    status: z.enum(['open', 'upheld', 'dismissed']).describe('`upheld`: the report was right.'),
    createdAt: Time,
  })
  .openapi('Report', { description: 'A report, as its reporter sees it.' })

const pictures = z.array(z.object({
  id: z.uuid(),
  url: z.string().describe(
    'Its address; while it is suspended a path of this API, for administrators.',
  ),
}))

const ReportedContent = z.object({
  displayName,
  fields: z.record(z.string(), z.unknown()).describe(
    'What its author writes and chooses, by the names of its record: of a listing all of it, of a company ' +
      'or office its page, of a message `type` and `body`, of a review `rating` and `comment`.',
  ),
  pictures: pictures.describe('In their order; also those that were taken away since then.'),
}).openapi('ReportedContent', { description: 'What a report is about, at one moment.' })

const Reported = z.object({
  ...ReportFields.shape,
  part: partReported,
  note,
  reporter: z.object({ accountId: z.uuid(), identityId: z.uuid(), displayName })
    .describe('Who reported it.'),
  target: z
    .object({
      accountId: z.uuid(),
      identityId: z.uuid(),
      displayName,
      status: z.string().nullable().describe(
        'Of a listing or identity its status, of a review `shown` or `hidden`, of a message null, as of ' +
          'a review that is gone.',
      ),
      text: z.string().nullable().describe(
        'The title of a listing, the text of a message or review; null of an identity, and of what is gone.',
      ),
    })
    .describe('Whom the report is about, and its visible content now.'),
  then: orNull(ReportedContent).describe(
    'What was reported, as it stood then; null when it is emptied.',
  ),
  now: orNull(ReportedContent).describe('The same as it stands now; null: it is gone.'),
})

const WaitingIdentity = z.object({
  accountId: z.uuid().describe('The account that it belongs to.'),
  fullName,
  email,
  phone,
  record: IdentityRecord,
  documents: z.array(Document).describe('What it has sent of its licence, the oldest first.'),
  claims: z.array(z.object({ accountId: z.uuid(), identity: Identity })).describe(
    'Who else claims its licence number: the one that holds it, being `active`, `expired` or ' +
      '`suspended`, and then those that wait, the oldest first; 20 at most.',
  ),
  earlierDecisions: z.array(AuditEntry).describe(
    'Every decision about it, other companies and offices of the account, and all with its licence ' +
      'number, also closed ones, the newest first; 50 at most.',
  ),
  lastDecision: orNull(AuditEntry).describe(
    'What was last decided about it, as before it was corrected; null: nothing yet.',
  ),
}).describe('The company or office with its licence, and whose it is.')

const WaitingPayout = z.object({
  accountId: z.uuid().describe('The account that is deleted.'),
  amount: Money,
  name: z.string().nullable().describe('Who is owed it; null after 180 days.'),
  phone: z.string().nullable().describe('Proven; null without one, and after 180 days.'),
  email: z.string().nullable().describe('Proven; null without one, and after 180 days.'),
})

export const claimedBy = Administrator.extend({
  until: Time.describe('15 minutes after it was last claimed.'),
}).nullable().describe('Which administrator looks at it; null: none says so.')

export const ModerationItem = z
  .object({
    id: z.uuid().describe('Of the listing, identity, report, pair or payout: for `decide`.'),
    kind: z.enum(moderationKinds).describe('Which of the fields below it has.'),
    since: Time.describe('Since when it waits.'),
    decisions: allowed,
    version: z.int().nullable().describe(
      'Of kind `listing`, `changes`, `identity` and `duplicate_suspected`: what is shown here, with pictures ' +
        'and documents. For `decide`.',
    ),
    listing: orNull(Property).describe(
      'Of kind `listing` and `changes`; of `duplicate_suspected` the one that was published later.',
    ),
    of: orNull(Property).describe(
      'Of kind `duplicate_suspected`: the one that it repeats. Of kind `listing`: one of the same ' +
        'account that it repeats and that is suspended or was; null: none, or it is gone.',
    ),
    changes: z.record(z.string(), z.unknown()).nullable().describe(
      'What the owner wants to change, of kind `changes` and `identity`; until the decision the listing or ' +
        'page stays as it is.',
    ),
    before: z.record(z.string(), z.unknown()).nullable().describe(
      'The fields of `changes` as they are now, also those that others are not shown. The pictures of ' +
        'now are in `listing`.',
    ),
    pictures: pictures.nullable().describe(
      'The pictures as they would be, of `changes` that have `media`.',
    ),
    identity: WaitingIdentity.nullable(),
    report: Reported.nullable().describe('Of kind `report`.'),
    payout: WaitingPayout.nullable().describe('Of kind `wallet_payout`.'),
    claimedBy,
    notes: z.array(Note).describe('What administrators noted about it, newest first; 20 at most.'),
  })
  .openapi('ModerationItem', { description: 'Something that awaits a decision.' })

export const ModerationPage = pageFields(ModerationItem).extend({
  reasons: z.array(z.object({
    code: z.string().describe('Its name in the table of reasons.'),
    textAr: z.string().describe('To be sent as `reason`, which people read.'),
    textEn: z.string().describe('The same in English.'),
    kinds: z.array(z.enum(moderationKinds)).describe('What it is usual for.'),
  })).describe('Usual reasons, in their order; rows that administrators change.'),
}).openapi('ModerationPage', { description: 'A page of what awaits a decision.' })

export const Decision = z.strictObject({
  decision: z.enum(decisions).describe('One of the `decisions` of the item.'),
  reason: Reason.optional().describe('Required to reject, suspend, uphold and write off.'),
  note: Reason.optional().describe('Of `paid_out`, required: the reference of the transfer.'),
  version: z.int().optional().describe(
    'Of a listing, its changes, a pair or an identity: the `version` that was looked at. If it is another by now, ' +
      'nothing is decided (409 version_conflict).',
  ),
  documentIds: documentIds.optional(),
  everywhere: z.boolean().optional().describe(
    'To uphold a report about a message with a picture: hides all messages of its sender that have the ' +
      'same picture.',
  ),
}).openapi(never(
  { decision: { enum: ['reject', 'suspend', 'uphold', 'written_off'] }, reason: null },
  { decision: { enum: ['paid_out'] }, note: null },
))

export const Decided = z
  .object({
    id: z.uuid().describe('Of the listing, identity, report, pair or payout.'),
    kind: z.enum(['listing', 'identity', 'report', 'duplicate_suspected', 'wallet_payout'])
      .describe('What was decided on.'),
    status: z.string().describe('The status that it has now.'),
    decisions: allowed,
  })
  .openapi('Decided', { description: 'What a decision led to.' })

export const eventKinds = ['payment', 'refund', 'look_up', 'other'] as const

export const EventOutcome = z.enum([
  'received',
  'paid',
  'failed',
  'refunded',
  'surplus',
  'pending',
  'repeated',
  'mismatch',
  'unmatched',
  'ignored',
]).describe('What came of it: `mismatch` needs attention, `unmatched` belongs to no payment.')

export const PaymentEvent = z.object({
  id: z.int().min(1).describe('Grows with every event.'),
  provider: z.string().describe('Who reported it.').openapi({ example: 'tap' }),
  eventKey: z.string().describe('The reference of the provider and a hash of what was signed.'),
  kind: z.enum(eventKinds).describe('`look_up`: the provider was asked; it did not report it.'),
  paymentId: z.uuid().nullable().describe('null: it belongs to none that is known.'),
  invoiceId: z.uuid().nullable().describe('The invoice of the payment; null without one.'),
  invoiceNumber: z.string().nullable().describe('As people quote it; null without an invoice.')
    .openapi({ example: 'INV-2026-000123' }),
  invoiceState: InvoiceState.nullable().describe('The state of the invoice now.'),
  status: z.string().nullable().describe('What the provider answered when it was asked.'),
  amount: z.number().nullable().describe('As the provider says, in `currency`.'),
  currency: z.string().nullable().describe('As the provider says; `KWD` unless it is wrong.'),
  outcome: EventOutcome,
  receivedAt: Time.describe('When it came.'),
  processedAt: Time.nullable().describe('When it was dealt with; null: not yet.'),
}).openapi('PaymentEvent', { description: 'What a payment provider reported.' })

const moneyOfDay = z.object({
  number: Count.describe('How many there were.'),
  amount: Money.openapi({ description: 'Their sum, in dinars.' }),
})

export const AdminStats = z
  .object({
    users: z.object({
      total: Count,
      byStatus: byStatus(accountStatuses),
      toBeDeleted: Count.describe('Whose deletion was asked for, in whatever status.'),
    }).describe('Accounts.'),
    newUsers: Count.describe('Accounts made in the last 7 days.'),
    identities: z.object({
      total: Count,
      byType: z.partialRecord(identityType, byStatus(identityStatus.options))
        .describe('By type, then by status.'),
    }).describe('Identities, by type and status.'),
    listings: z.object({ total: Count, byStatus: byStatus(everyStatus) }).describe('Listings.'),
    waiting: z.object({
      identities: Count.describe('Companies and offices that await verification, also of changes.'),
      listings: Count.describe('Listings that await publishing.'),
      changes: Count.describe('Published listings with changes to be approved.'),
      reports: Count.describe('Open reports.'),
      payouts: Count.describe('Amounts of deleted accounts to be paid out.'),
    }).describe('What awaits a decision.'),
    byDay: z.array(z.object({
      day: z.iso.date().describe('In Kuwait.'),
      accounts: Count.describe('Accounts made.'),
      listings: z.object({ SALE: Count, RENT: Count, EXCHANGE: Count }).describe(
        'Listings that were published for the first time, by type.',
      ),
      messages: Count.describe('Messages sent.'),
      leads: Count.describe('Contacts asked for.'),
      payments: moneyOfDay.describe('What was paid at providers.'),
      refunds: moneyOfDay.describe('What was given back, to wallets and sources.'),
      reports: z.object({
        made: Count.describe('Made that day.'),
        decided: Count.describe('Decided that day.'),
        medianHours: z.number().min(0).nullable().describe(
          'How long half of those that were decided that day had waited at most; null: none was.',
        ),
      }).describe('Reports.'),
    })).describe('Each of the last `days`, the oldest first, today the last; none without `days`.'),
  })
  .openapi('AdminStats', { description: 'The figures of the whole marketplace.' })
