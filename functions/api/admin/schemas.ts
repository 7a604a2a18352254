/** Records and decisions of admins. */
import { z } from '@hono/zod-openapi'
import { Identity, IdentityRecord, identityStatus, identityType } from '../accounts/schemas.ts'
import { Cursor, Limit, Time } from '../http/route.ts'
import { Property, statuses, Type } from '../properties/schemas.ts'

export const accountStatuses = [
  'active',
  'suspended',
  'banned',
  'deletion_requested',
  'deleted',
] as const

/** Why an admin does something, on one line. */
export const Reason = z.string().normalize('NFKC')
  .overwrite((text) => text.replace(/\s+/g, ' ').trim())
  .min(2).max(500)

export const AdminUser = z
  .object({
    id: z.uuid(),
    email: z.string().nullable(),
    emailProven: z.boolean(),
    phone: z.string().nullable(),
    fullName: z.string().nullable(),
    avatarUrl: z.string().nullable(),
    language: z.enum(['ar', 'en']),
    status: z.enum(accountStatuses),
    statusReason: z.string().nullable(),
    suspendedUntil: Time.nullable(),
    deleteAt: Time.nullable(),
    isAdmin: z.boolean(),
    createdAt: Time,
    lastSignInAt: Time.nullable(),
    identities: z.array(Identity),
  })
  .openapi('AdminUser')

export const AuditEntry = z
  .object({
    id: z.int(),
    at: Time,
    actor: z.object({ id: z.uuid(), fullName: z.string().nullable() }).nullable().openapi({
      description: 'null for a change made in Studio, by SQL or by a job.',
    }),
    actorRole: z.string().openapi({ description: 'The database role.' }),
    action: z.string().openapi({ example: 'account.status' }),
    targetType: z.string().openapi({ example: 'account' }),
    targetId: z.uuid().nullable(),
    reason: z.string().nullable(),
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
  })
  .openapi('AuditEntry')

const count = z.int()
const listingStatuses = [...statuses, 'deleted'] as const
const byStatus = <T extends string>(states: readonly T[]) =>
  z.partialRecord(z.enum(states), count).openapi({ description: 'Only statuses that occur.' })

export const AdminUserPage = z
  .object({
    user: AdminUser,
    identities: z.array(IdentityRecord),
    sessions: count,
    listings: byStatus(listingStatuses),
    audit: z.array(AuditEntry),
  })
  .openapi('AdminUserPage')

export const UserStatus = z.strictObject({
  status: z.enum(['active', 'suspended', 'banned']),
  reason: Reason,
  until: Time.optional().openapi({ description: 'When the suspension ends.' }),
})

export const IdentityStatus = z.strictObject({
  status: z.enum(['active', 'rejected', 'suspended']),
  reason: Reason,
})

const decisions = ['approve', 'reject', 'suspend', 'restore', 'uphold', 'dismiss'] as const
export const moderationKinds = ['listing', 'changes', 'identity', 'report'] as const

const reportTargets = ['property', 'identity', 'message', 'review'] as const
const reportReasons = [
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
  targetType: z.enum(reportTargets),
  targetId: z.uuid(),
  reason: z.enum(reportReasons),
})

export const Report = z
  .object({
    id: z.uuid(),
    ...ReportFields.shape,
    note: z.string().nullable(),
    status: z.enum(['open', 'upheld', 'dismissed']),
    createdAt: Time,
  })
  .openapi('Report')

const Reported = z.object({
  ...ReportFields.shape,
  note: z.string().nullable(),
  reporter: z.object({ accountId: z.uuid(), identityId: z.uuid(), displayName: z.string() }),
  target: z
    .object({
      accountId: z.uuid(),
      identityId: z.uuid(),
      displayName: z.string(),
      status: z.string().nullable(),
      text: z.string().nullable(),
    })
    .nullable()
    .openapi({ description: 'Whom the report is about, and its visible content.' }),
})

const WaitingIdentity = z.object({
  accountId: z.uuid(),
  fullName: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  record: IdentityRecord,
}).openapi({ description: 'The company or office with its licence, and whose it is.' })

export const ModerationItem = z
  .object({
    id: z.uuid(),
    kind: z.enum(moderationKinds),
    since: Time,
    decisions: z.array(z.enum(decisions)),
    listing: z.union([Property, z.null()]),
    changes: z.record(z.string(), z.unknown()).nullable().openapi({
      description: 'What the owner wants to change; until the decision the listing stays as it is.',
    }),
    identity: WaitingIdentity.nullable(),
    report: Reported.nullable(),
  })
  .openapi('ModerationItem')

export const Decision = z.strictObject({
  decision: z.enum(decisions),
  reason: Reason.optional().openapi({ description: 'Required to reject, suspend and uphold.' }),
})

export const Decided = z
  .object({
    id: z.uuid(),
    kind: z.enum(['listing', 'identity', 'report']),
    status: z.string(),
    decisions: z.array(z.enum(decisions)),
  })
  .openapi('Decided')

const times = { since: Time.optional(), until: Time.optional() }
const page = { cursor: Cursor.optional(), limit: Limit }
const newestFirst = z.enum(['newest', 'oldest']).default('newest')

export const UserQuery = z.strictObject({
  q: z.string().min(3).max(120).optional().openapi({
    description: 'A part of an email, phone or name, or the id of an account or identity.',
  }),
  status: z.enum(accountStatuses).optional(),
  type: identityType.optional().openapi({
    description: 'Accounts with an identity of this type; with `identityStatus`, in that state.',
  }),
  identityStatus: identityStatus.optional(),
  isAdmin: z.enum(['true', 'false']).transform((given) => given === 'true').optional()
    .openapi({ type: 'boolean' }),
  ...times,
  sort: z.enum(['newest', 'oldest', 'name']).default('newest'),
  ...page,
})

export const ModerationQuery = z.strictObject({
  kind: z.enum(moderationKinds).optional(),
  accountId: z.uuid().optional().openapi({ description: 'Of the owner, or of the reporter.' }),
  listingType: Type.optional(),
  areaId: z.string().min(1).max(60).optional(),
  identityType: z.enum(['company', 'office']).optional(),
  targetType: z.enum(reportTargets).optional(),
  reportReason: z.enum(reportReasons).optional(),
  ...times,
  sort: z.enum(['oldest', 'newest']).default('oldest'),
  ...page,
})

export const AuditQuery = z.strictObject({
  actorId: z.uuid().optional(),
  action: z.string().min(1).max(60).optional(),
  targetType: z.string().min(1).max(60).optional(),
  targetId: z.uuid().optional(),
  ...times,
  sort: newestFirst,
  ...page,
})

export const AdminStats = z
  .object({
    users: z.object({ total: count, byStatus: byStatus(accountStatuses) }),
    newUsers: count.openapi({ description: 'In the last 7 days.' }),
    identities: z.object({
      total: count,
      byType: z.record(z.string(), z.record(z.string(), count)),
    }),
    listings: z.object({ total: count, byStatus: byStatus(listingStatuses) }),
    waiting: z.object({ identities: count, listings: count, changes: count, reports: count }),
  })
  .openapi('AdminStats')
