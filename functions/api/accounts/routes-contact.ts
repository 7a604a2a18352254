import { z } from '@hono/zod-openapi'
import { addressArgs, bannedHash, codeHmac, newCode } from '../../_shared/auth/secrets.ts'
import { isDecoy, putContact } from '../../_shared/auth/supabase-auth.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call } from '../../_shared/database/db.ts'
import {
  invalidField,
  type MaybeError,
  Refusal,
  throwIfError,
} from '../../_shared/errors/refusal.ts'
import { Code, Identifier, Password } from '../../_shared/input/identifiers.ts'
import { mailWorks } from '../../_shared/outside/messages.ts'
import { area, body, Count, json, mine, route, send, sendNothing } from '../http/route.ts'
import { never } from '../http/together.ts'
import { addCode, type CodeAnswer, requireSending, sendCode, type SmsFor, smsFor } from './codes.ts'
import { callerAsUser, type User as Me, verifyOwnCode, verifyPassword } from './reauthenticate.ts'
import { resendAfter, User } from './schemas.ts'

const tags = ['accounts']

const proof = {
  currentPassword: Password.optional(),
  code: Code.optional().describe(
    'Of `POST /auth/otp/resend` with purpose `change`: it proves a change of the phone or email that ' +
      'it was sent to, and of the other one where that is not proven.',
  ),
}
const oneProof = (given: { currentPassword?: string; code?: string }) =>
  given.currentPassword === undefined || given.code === undefined
const oneProofOnly = { error: 'invalid', path: ['code'] }
const neverBoth = never({ currentPassword: {}, code: {} })

const proofs =
  'Proven by `currentPassword` or `code`. Where the account has neither phone nor email, a ' +
  'sign-in by its provider within the last five minutes is proof enough.'

const ContactChange = z.object({
  changeId: z.uuid().describe('Names this change, in this session.'),
  resendAfter,
  expiresIn: Count.describe('Seconds until the code ends.'),
  emailLeaves: z.literal(true).optional().describe(
    'The email of the account is not proven and leaves it when the phone is.',
  ),
}).openapi('ContactChange', { description: 'A change of phone or email that awaits its code.' })

const Changed = z.object({
  user: User,
  closes: z.array(z.object({
    listings: Count.describe('How many listings go with it.'),
  })).optional().describe(
    'Accounts that had this email without proving it, and have neither phone nor email now: they are ' +
      'deleted in 14 days unless they add one.',
  ),
}).openapi('ContactChanged', { description: 'The account with its new phone or email.' })

const begins = (kind: 'phone' | 'email') => ({
  ...mine,
  tags,
  method: 'post' as const,
  description:
    `A code goes to the new ${kind}; go on with \`POST /auth/me/${kind}/verify\`. ${proofs} The same ` +
    'call with the same value from the same session sends the code again, and needs no proof. At most ' +
    '5 a day; after a change of the other one, its removal or a reset by it, the proven one stays for ' +
    '72 hours (`retryAt`).',
  errors: [
    'invalid_credentials',
    `${kind}_taken`,
    'change_too_soon',
    'identifier_unchanged',
    'otp_resend_too_soon',
    'otp_locked',
    'sms_send_failed',
    kind === 'phone' ? 'sms_not_configured' : 'mail_not_configured',
  ] as const,
  responses: { 202: json(ContactChange, 'A code is on its way to the new one.') },
})

const beginPhone = route({
  ...begins('phone'),
  operationId: 'begin_phone_change',
  path: '/me/phone',
  summary: 'Add or change my phone: a code goes to the new one',
  request: body(
    z.strictObject({
      phone: Identifier.refine(({ kind }) => kind === 'phone', { error: 'identifier_invalid' })
        .openapi({ type: 'string', description: 'A Kuwaiti mobile.', example: '51234567' }),
      ...proof,
      smsFor,
    }).refine(oneProof, oneProofOnly).openapi(neverBoth),
  ),
})
const beginEmail = route({
  ...begins('email'),
  operationId: 'begin_email_change',
  path: '/me/email',
  summary: 'Add, change or prove my email: a code goes to it',
  request: body(
    z.strictObject({
      email: Identifier.refine(({ kind }) => kind === 'email', { error: 'identifier_invalid' })
        .openapi({ type: 'string', description: 'An email.', example: 'noura@example.com' }),
      ...proof,
      smsFor,
    }).refine(oneProof, oneProofOnly).openapi(neverBoth),
  ),
})

const verifies = (kind: 'phone' | 'email') =>
  route({
    ...mine,
    tags,
    operationId: `verify_${kind}_change`,
    method: 'post',
    path: `/me/${kind}/verify`,
    summary: `Verify my new ${kind} with the code: the account has it from now on`,
    description:
      'Other sessions, codes and changes of the account end with it. The same call again, within ten ' +
      'minutes, answers the same: so do after a 503.',
    errors: [
      'change_not_found',
      'otp_invalid',
      'otp_expired',
      'otp_locked',
      `${kind}_taken`,
    ],
    request: body(z.strictObject({
      changeId: z.uuid().describe('From the beginning of this change.'),
      code: Code,
    })),
    responses: { 200: json(Changed, 'Changed.') },
  })
const verifyPhone = verifies('phone')
const verifyEmail = verifies('email')

const removes = {
  ...mine,
  tags,
  method: 'delete' as const,
  errors: ['invalid_credentials', 'last_identifier', 'change_too_soon', 'otp_locked'] as const,
  responses: { 204: { description: 'Gone.' } },
}
const proofBody = {
  body: {
    required: false,
    content: {
      'application/json': {
        schema: z.strictObject(proof).refine(oneProof, oneProofOnly).openapi(neverBoth),
      },
    },
  },
}

const removePhone = route({
  ...removes,
  operationId: 'remove_phone',
  path: '/me/phone',
  summary: 'Remove my phone',
  description: `It signs this account in no more, and other sessions end. ${proofs}`,
  request: proofBody,
})
const removeProvider = route({
  ...removes,
  operationId: 'remove_provider',
  path: '/me/providers/{provider}',
  summary: 'Remove Google or Apple from my account',
  description:
    `It signs this account in no more, and other sessions end. ${proofs} It comes back by a sign-in with ` +
    "the account's own proven email.",
  request: {
    params: z.strictObject({ provider: z.enum(['apple', 'google']) }),
    ...proofBody,
  },
})

type Proof = { currentPassword?: string; code?: string }

/**
 * Returns what the caller re-authenticated with: 'password', 'provider', or the phone or email that received
 * the code.
 */
async function prove(c: ApiContext, user: Me, { currentPassword, code }: Proof): Promise<string> {
  if (currentPassword !== undefined) {
    await verifyPassword(c, user, currentPassword)
    return 'password'
  }
  if (code === undefined) return 'provider'
  try {
    return await verifyOwnCode(c, user, 'change', code)
  } catch (error) {
    if (error instanceof Refusal && ['otp_invalid', 'otp_expired'].includes(error.code)) {
      throw new Refusal('invalid_credentials')
    }
    throw error
  }
}

const sessionOf = ({ var: { caller } }: ApiContext) => ({
  accountId: caller.sub!,
  sessionId: caller.sessionId!,
})

type Begun = CodeAnswer & { changeId: string; emailLeaves?: true }

async function begin(
  c: ApiContext,
  identifier: Identifier,
  { smsFor, ...given }: Proof & { smsFor?: SmsFor },
) {
  if (isDecoy(identifier)) throw invalidField(identifier.kind, 'identifier_invalid')
  const user = await callerAsUser(c)
  requireSending(identifier)
  const change = { ...sessionOf(c), ...identifier }
  const open = await backend<string | null>('open_contact_change', change)
  const changeId = open ?? crypto.randomUUID()
  const code = newCode()
  const begun = await addCode<Begun>('begin_contact_change', {
    ...change,
    changeId,
    proof: open ? null : await prove(c, user, given),
    hmac: codeHmac('prove', changeId, code),
    bannedHash: bannedHash(identifier.value),
  }, c.var.address)
  throwIfError(begun)
  const { resendAfter, expiresIn, emailLeaves } = begun
  await sendCode(c, identifier, { purpose: 'prove', code, expiresIn, smsFor })
  return send(c, JSON.stringify({ changeId, resendAfter, expiresIn, emailLeaves }), 202)
}

type Verified = MaybeError & { value: string; done: boolean }
type Outcome = { done: boolean; taken: boolean; closes: unknown[] | null }

async function verify(
  c: ApiContext,
  kind: 'phone' | 'email',
  { changeId, code }: { changeId: string; code: string },
) {
  const session = sessionOf(c)
  await call(c, 'check_session', {}, { rate: 'profile' })
  const verified = await backend<Verified>('verify_contact_change', {
    ...session,
    kind,
    changeId,
    hmac: codeHmac('prove', changeId, code),
    ...addressArgs(c.var.address),
  })
  throwIfError(verified)
  if (!verified.done) await putContact(session.accountId, { kind, value: verified.value })
  // Auth's response may be late or lost, so the database decides whether the change took place.
  const { accountId } = session
  const outcome = await backend<Outcome | null>('contact_change_outcome', { accountId, changeId })
  const { user } = JSON.parse(await call(c, 'get_me', {}))
  if (!outcome) throw new Refusal('change_not_found')
  const { done, taken, closes } = outcome
  if (!done && taken) {
    const code = `${kind}_taken` as const
    throw new Refusal(code, { fields: [{ path: kind, code }] })
  }
  if (!done) throw new Refusal('service_unavailable', { retryAfter: 2 })
  return send(c, JSON.stringify({ user, ...(closes && { closes }) }))
}

export const contact = area()
  .openapi(beginPhone, (c) => {
    const { phone, ...given } = c.req.valid('json')
    return begin(c, phone, given)
  })
  .openapi(beginEmail, (c) => {
    const { email, ...given } = c.req.valid('json')
    return begin(c, email, given)
  })
  .openapi(verifyPhone, (c) => verify(c, 'phone', c.req.valid('json')))
  .openapi(verifyEmail, (c) => verify(c, 'email', c.req.valid('json')))
  .openapi(removePhone, async (c) => {
    const proof = await prove(c, await callerAsUser(c), c.req.valid('json') ?? {})
    await backend('remove_phone', { ...sessionOf(c), proof, mailWorks })
    return sendNothing(c)
  })
  .openapi(removeProvider, async (c) => {
    const proof = await prove(c, await callerAsUser(c), c.req.valid('json') ?? {})
    await backend('remove_provider', {
      ...sessionOf(c),
      ...c.req.valid('param'),
      proof,
      mailWorks,
    })
    return sendNothing(c)
  })
