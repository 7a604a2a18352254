import { z } from '@hono/zod-openapi'
import {
  addressArgs,
  bannedHash,
  codeHmac,
  newCode,
  seal,
  unknownPassword,
  unseal,
} from '../../_shared/auth/secrets.ts'
import { createUser, isDecoy } from '../../_shared/auth/supabase-auth.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend, call, setRateHeaders } from '../../_shared/database/db.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import {
  type Detail,
  type MaybeError,
  Refusal,
  throwIfError,
} from '../../_shared/errors/refusal.ts'
import { Code, Identifier, NewPassword, PersonName } from '../../_shared/input/identifiers.ts'
import { validationError } from '../../_shared/input/validation.ts'
import { area, body, Count, json, route, send, withoutToken } from '../http/route.ts'
import { addCode, type CodeAnswer, requestCode, requireSms, sendCode, smsFor } from './codes.ts'
import { isFreeName } from './free-names.ts'
import { resendAfter, Session, TermsVersion } from './schemas.ts'
import { openSession } from './session.ts'

const tags = ['sign-in']

const Registration = z.strictObject({
  identifier: Identifier,
  password: NewPassword,
  confirmPassword: z.string().max(288).optional().describe('The same password; need not be sent.'),
  fullName: PersonName.optional(),
  termsVersion: TermsVersion.optional().describe(
    'The present terms (`GET /meta/app`), where the person has accepted them.',
  ),
  smsFor,
}).refine(({ password, confirmPassword }) => (confirmPassword ?? password) === password, {
  error: 'password_mismatch',
  path: ['confirmPassword'],
}).openapi('Registration', { description: 'A new account, by email or Kuwaiti phone.' })

const Registered = z.union([
  z.object({ accountId: z.uuid(), status: z.literal('active').describe('Of an email.') }),
  z.object({
    status: z.literal('awaiting_otp').describe('Of a phone.'),
    registrationId: z.uuid().describe('Secret id of this registration.'),
    otp: z.object({
      resendAfter,
      expiresIn: Count.describe('Seconds until the code ends.'),
    }).describe('The code that was sent.'),
  }),
]).openapi('Registered', {
  description: 'An email has its account at once; a phone is verified first.',
})

const register = {
  ...withoutToken,
  tags,
  method: 'post',
  summary: 'Register by email (active at once) or phone (a code is sent)',
  description:
    'An email is an account at once: sign in next. For a Kuwaiti phone a code of six digits is ' +
    'sent by SMS, and the account is made when it is verified (`POST ' +
    '/auth/register/verify-otp`) within the hour. At most 600 an hour from one address, where one ' +
    'whose identifier has an account counts as five.',
  errors: [
    'email_taken',
    'phone_taken',
    'terms_outdated',
    'otp_resend_too_soon',
    'rate_limited',
    'sms_send_failed',
    'sms_not_configured',
  ],
  // Exempt from the limit on refused requests: each of these must reach the database, which counts it as an
  // attempt on the phone.
  unlimited: true,
  request: body(Registration),
  responses: {
    201: json(Registered, 'An account, or a registration that awaits its code.'),
  },
} as const

const registerShort = route({ ...register, operationId: 'register', path: '/register' })
const registerLong = route({
  ...register,
  operationId: 'register_individual',
  path: '/register/individual',
})

const verify = route({
  ...withoutToken,
  tags,
  operationId: 'verify_otp',
  method: 'post',
  path: '/register/verify-otp',
  summary: 'Verify the phone with the code: the account is created and signed in',
  description:
    'Takes the code that a registration sent, once and within 5 minutes; after 5 wrong ones it ' +
    'is locked. Send `registrationId` along: it makes the account the one of this very ' +
    'registration, with its password and name. Without it, and if several people tried this ' +
    'number, the account has no password until it is reset.',
  errors: [
    'otp_invalid',
    'otp_expired',
    'otp_locked',
    'phone_taken',
    'invalid_credentials',
    'rate_limited',
  ],
  unlimited: true,
  request: body(z.strictObject({
    identifier: Identifier,
    code: Code,
    registrationId: z.uuid().optional().describe('From the registration that this code is of.'),
  })),
  responses: { 200: json(Session, 'Signed in.') },
})

const resend = route({
  tags,
  operationId: 'resend_otp',
  method: 'post',
  path: '/otp/resend',
  summary: 'Send a new code; the previous one becomes invalid',
  description:
    'Every 45 seconds at most, and some an hour: see the rates of the introduction. The answer ' +
    'is the same for an identifier that nobody has. `registrationId` names the registration ' +
    'that the code is for. A code to delete an account, or to change its phone or email, needs its ' +
    'token, and goes to its own phone or email only; of a change only to one that is proven. So does one ' +
    'for `POST /auth/sudo` (`sudo`), of administrators without a passkey.',
  errors: [
    'otp_resend_too_soon',
    'sms_not_configured',
    'token_missing',
    'token_expired',
    'admin_only',
    'passkey_required',
    'rate_limited',
  ],
  unlimited: true,
  request: body(z.strictObject({
    identifier: Identifier,
    purpose: z.enum(['register', 'reset', 'delete', 'change', 'sudo']).describe(
      'What the code is for.',
    ),
    registrationId: z.uuid().optional().describe('The registration that it is for.'),
    smsFor,
  })),
  responses: {
    202: json(
      z.object({ resendAfter }).openapi('CodeSent', {
        description: 'A code is on its way, if there is anybody to send it to.',
      }),
      'The same whether or not there is anybody to send it to.',
    ),
  },
})

type Given = z.output<typeof Registration>

/** `rate` contains the limit, the remaining count and the seconds until the reset, separated by commas. */
type Counted = MaybeError & { rate: string }

async function registerEmail(c: ApiContext, given: Given) {
  const { identifier } = given
  if (isDecoy(identifier)) throw new Refusal('identifier_invalid')
  const claim = { email: identifier.value }
  const claimed = await backend<Counted>('claim_email', {
    ...claim,
    bannedHash: bannedHash(identifier.value),
    address: c.var.address,
  })
  setRateHeaders(c, claimed.rate.split(','))
  throwIfError(claimed)
  try {
    const accountId = await createUser(given)
    return { accountId, status: 'active' }
  } catch (error) {
    await backend('release_email', claim)
    throw error
  }
}

async function registerPhone(
  c: ApiContext,
  { identifier, password, fullName, termsVersion, smsFor }: Given,
) {
  requireSms(identifier)
  const phone = identifier.value
  const registrationId = crypto.randomUUID()
  const code = newCode()
  const answer = await addCode<CodeAnswer & Counted>('register_phone', {
    phone,
    registrationId,
    sealedPassword: await seal(password, phone),
    fullName: fullName ?? null,
    termsVersion,
    hmac: codeHmac('register', phone, code),
    bannedHash: bannedHash(phone),
  }, c.var.address)
  setRateHeaders(c, answer.rate.split(','))
  throwIfError(answer)
  const { resendAfter, expiresIn } = answer
  await sendCode(c, identifier, { purpose: 'register', code, expiresIn, smsFor })
  return { status: 'awaiting_otp', registrationId, otp: { resendAfter, expiresIn } }
}

type Verified = MaybeError & {
  codeId: string
  fullName: string | null
  termsVersion: string | null
  sealedPassword: string | null
}

/** Creates the user with the password from the registration, or a random one. Returns that password. */
async function createVerifiedUser(identifier: Identifier, verified: Verified): Promise<string> {
  const { sealedPassword, fullName, termsVersion, codeId } = verified
  const password = sealedPassword && await unseal(sealedPassword, identifier.value) ||
    unknownPassword()
  try {
    await createUser({ identifier, password, fullName, termsVersion })
  } catch (error) {
    await backend('release_code', { codeId })
    throw error
  }
  return password
}

/**
 * Records an attempt even if the request is refused: the person may next type a code that somebody else
 * requested for this phone.
 */
async function refuseMalformed(c: ApiContext, code: ErrorCode, detail: Detail): Promise<never> {
  const given = await c.req.json().catch(() => undefined)
  const { data: identifier } = Identifier.safeParse(Object(given).identifier)
  if (identifier?.kind === 'phone') {
    await backend('add_refused_registration', { phone: identifier.value })
  }
  throw new Refusal(code, detail)
}

export const registration = area()
for (const one of [registerShort, registerLong]) {
  registration.openapi(
    one,
    async (c) => {
      const given = c.req.valid('json')
      if (given.fullName && !await isFreeName(given.fullName)) {
        return await refuseMalformed(c, 'validation_failed', {
          fields: [{ path: 'fullName', code: 'invalid' }],
        })
      }
      const { termsVersion: version } = given
      const outdated = version && await backend<Detail | null>('outdated_terms', { version })
      if (outdated) return await refuseMalformed(c, 'terms_outdated', outdated)
      const by = given.identifier.kind === 'phone' ? registerPhone : registerEmail
      return send(c, JSON.stringify(await by(c, given)), 201)
    },
    (result, c) =>
      result.success ? undefined : refuseMalformed(c, ...validationError(result.error)),
  )
}
registration.openapi(verify, async (c) => {
  const { identifier, code, registrationId } = c.req.valid('json')
  if (identifier.kind === 'email') throw new Refusal('otp_invalid', { attemptsLeft: 0 })
  const verified = await backend<Verified>('verify_code', {
    purpose: 'register',
    identifier: identifier.value,
    hmac: codeHmac('register', identifier.value, code),
    ...addressArgs(c.var.address),
    registrationId,
  })
  throwIfError(verified)
  const password = await createVerifiedUser(identifier, verified)
  return send(c, await openSession(c, identifier, password))
})
registration.openapi(resend, async (c) => {
  const { identifier, purpose, registrationId, smsFor } = c.req.valid('json')
  if (purpose === 'delete' || purpose === 'change' || purpose === 'sudo') {
    const { role, ignored } = c.var.caller
    if (role === 'anon') throw new Refusal(ignored ?? 'token_missing')
    await call(c, purpose === 'sudo' ? 'require_admin_without_passkey' : 'check_session', {})
  }
  const answer = await requestCode(c, identifier, purpose, { registrationId, smsFor })
  throwIfError(answer)
  return send(c, JSON.stringify({ resendAfter: answer.resendAfter }), 202)
})
