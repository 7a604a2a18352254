import { z } from '@hono/zod-openapi'
import { addressArgs, codeHmac, type CodePurpose, newCode } from '../../_shared/auth/secrets.ts'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { backend } from '../../_shared/database/db.ts'
import { alarm } from '../../_shared/errors/alarms.ts'
import { inBackground } from '../../_shared/errors/background.ts'
import { type MaybeError, Refusal } from '../../_shared/errors/refusal.ts'
import type { Identifier } from '../../_shared/input/identifiers.ts'
import { forInformation } from '../../_shared/input/validation.ts'
import { deliver, mailWorks, smsState } from '../../_shared/outside/messages.ts'
import { env } from '../../_shared/settings/env.ts'

// One part of an Arabic SMS holds 70 characters; setting-kinds.ts relies on these texts fitting into it. They
// follow Accept-Language and contain nothing else from the request.
const texts: Record<CodePurpose, [ar: string, en: string]> = {
  register: ['رمز التحقق لتفعيل حسابك', 'Code to activate your account'],
  reset: ['رمز إعادة تعيين كلمة المرور', 'Code to reset your password'],
  delete: ['رمز تأكيد حذف الحساب', 'Code to delete your account'],
  change: ['رمز تغيير رقمك أو بريدك', 'Code to change your phone or email'],
  prove: ['رمز تأكيد رقمك أو بريدك', 'Code to confirm your phone or email'],
  sudo: ['رمز تأكيد عمل إداري', "Code to confirm an administrator's act"],
}

export const smsFor = forInformation(z.enum(['android', 'web'])).describe(
  'Ends an SMS so that the app on Android, or the page in a browser, is offered the code. Absent, not ' +
    'one of these, or where that is not configured: a plain one.',
)
export type SmsFor = z.infer<typeof smsFor>

/** `expiresIn` is in seconds. */
type NewCode = { purpose: CodePurpose; code: string; expiresIn: number; smsFor?: SmsFor }

function lastLine(
  { kind }: Identifier,
  { code, expiresIn, smsFor }: NewCode,
  english: boolean,
): string {
  const { smsAndroidHash, smsAutofillDomain } = env
  if (kind === 'phone' && smsFor === 'android' && smsAndroidHash) return smsAndroidHash
  if (kind === 'phone' && smsFor === 'web' && smsAutofillDomain) {
    return `@${smsAutofillDomain} #${code}`
  }
  const minutes = expiresIn / 60
  return english ? `Valid for ${minutes} minutes` : `صالح لمدة ${minutes} دقائق`
}

/** Throws 503 for a phone if SMS cannot be sent, before a code is created. */
export function requireSms({ kind }: Identifier) {
  if (kind === 'phone' && smsState === 'off') throw new Refusal('sms_not_configured')
}

export function requireSending(identifier: Identifier) {
  requireSms(identifier)
  if (identifier.kind === 'email' && !mailWorks) throw new Refusal('mail_not_configured')
}

/** Sends a code within four seconds, without retrying. Throws 502 sms_send_failed if it could not be sent. */
export async function sendCode(c: ApiContext, identifier: Identifier, made: NewCode) {
  const { purpose, code } = made
  const english = c.var.english === true
  const text = `${texts[purpose][english ? 1 : 0]}: ${code}\n${lastLine(identifier, made, english)}`
  const message = { subject: english ? 'Verification code' : 'رمز التحقق', text, code }
  if (!await deliver(identifier, message)) throw new Refusal('sms_send_failed')
}

/** Sends a code after the response, so that the response time does not reveal whether an account exists. */
function sendCodeLater(c: ApiContext, identifier: Identifier, made: NewCode) {
  inBackground(
    new Promise((resolve) => setTimeout(resolve)).then(() => sendCode(c, identifier, made)),
  )
}

export type CodeAnswer = MaybeError & {
  send?: boolean
  resendAfter: number
  expiresIn: number
  /** Identifies this request for a password reset. */
  resetId?: string
  /**
   * Set at most once an hour, to the current hour, when four fifths of a service-wide limit have been used.
   */
  alarm?: string
}

/**
 * Stores a code. Raises an alarm if unusually many are sent, because an attacker may be driving up our SMS
 * bill.
 */
export async function addCode<T extends CodeAnswer>(
  name: 'register_phone' | 'request_code' | 'begin_contact_change',
  args: Record<string, unknown>,
  address: string,
): Promise<T> {
  const sms = { smsPerDay: env.smsPerDay }
  const answer = await backend<T>(name, { ...args, ...addressArgs(address), ...sms })
  if (answer.alarm) alarm('code_ceiling', answer.alarm)
  return answer
}

/** Requests a code. It is sent after the response, and only if the database finds a recipient. */
export async function requestCode(
  c: ApiContext,
  identifier: Identifier,
  purpose: CodePurpose,
  { smsFor, registrationId = null }: { smsFor?: SmsFor; registrationId?: string | null } = {},
): Promise<CodeAnswer> {
  requireSms(identifier)
  const code = newCode()
  const answer = await addCode('request_code', {
    purpose,
    identifier: identifier.value,
    registrationId,
    accountId: c.var.caller.sub ?? null,
    hmac: codeHmac(purpose, identifier.value, code),
  }, c.var.address)
  const { send, expiresIn } = answer
  if (send) sendCodeLater(c, identifier, { purpose, code, expiresIn, smsFor })
  return answer
}
