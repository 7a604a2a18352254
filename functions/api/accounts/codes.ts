/** One-time codes: requested, written and sent. */
import { z } from '@hono/zod-openapi'
import { alarm } from '../../_shared/alarms.ts'
import { inBackground } from '../../_shared/background.ts'
import type { ApiContext } from '../../_shared/context.ts'
import { addressArgs, codeHmac, type CodePurpose, newCode } from '../../_shared/crypto.ts'
import { backend } from '../../_shared/db.ts'
import { env } from '../../_shared/env.ts'
import type { Identifier } from '../../_shared/identifiers.ts'
import { deliver, mailWorks, smsState } from '../../_shared/messages.ts'
import { type MaybeError, Refusal } from '../../_shared/refusal.ts'

// One part of an SMS in Arabic is 70 characters (setting-kinds.ts counts on that); nothing of a
// request gets into the text.
const texts: Record<CodePurpose, string> = {
  register: 'رمز التحقق لتفعيل حسابك',
  reset: 'رمز إعادة تعيين كلمة المرور',
  delete: 'رمز تأكيد حذف الحساب',
  change: 'رمز تغيير رقمك أو بريدك',
  prove: 'رمز تأكيد رقمك أو بريدك',
  sudo: 'رمز تأكيد عمل إداري',
}

/** What reads the code of an SMS by itself, wherever one is asked for. */
export const smsFor = z.enum(['android', 'web']).optional().describe(
  'Ends an SMS so that the app on Android, or the page in a browser, is offered the code. Absent, or ' +
    'where that is not configured: a plain one.',
)
export type SmsFor = z.infer<typeof smsFor>

/** A code to be sent; it expires in so many seconds. */
type NewCode = { purpose: CodePurpose; code: string; expiresIn: number; smsFor?: SmsFor }

function lastLine({ kind }: Identifier, { code, expiresIn, smsFor }: NewCode): string {
  const { smsAndroidHash, smsAutofillDomain } = env
  if (kind === 'phone' && smsFor === 'android' && smsAndroidHash) return smsAndroidHash
  if (kind === 'phone' && smsFor === 'web' && smsAutofillDomain) {
    return `@${smsAutofillDomain} #${code}`
  }
  return `صالح لمدة ${expiresIn / 60} دقائق`
}

/** Before a code is made: 503 where an SMS could not be sent in production. */
export function requireSms({ kind }: Identifier) {
  if (kind === 'phone' && smsState === 'off') throw new Refusal('sms_not_configured')
}

/** As requireSms, of mails too. */
export function requireSending(identifier: Identifier) {
  requireSms(identifier)
  if (identifier.kind === 'email' && !mailWorks) throw new Refusal('mail_not_configured')
}

/** Sends a code within four seconds, and never a second time: 502 sms_send_failed. */
export async function sendCode(identifier: Identifier, made: NewCode) {
  const { purpose, code } = made
  const text = `${texts[purpose]}: ${code}\n${lastLine(identifier, made)}`
  const message = { subject: 'رمز التحقق', text, code }
  if (!await deliver(identifier, message)) throw new Refusal('sms_send_failed')
}

/** Sends after the answer has gone, so that its time reveals nothing. */
function sendCodeLater(identifier: Identifier, made: NewCode) {
  inBackground(
    new Promise((resolve) => setTimeout(resolve)).then(() => sendCode(identifier, made)),
  )
}

/** What the database says of a code: whether to send it, and the times for the client. */
export type CodeAnswer = MaybeError & {
  send?: boolean
  resendAfter: number
  expiresIn: number
  /** Names the attempt to reset a password. */
  resetId?: string
  /** An hour in which the service sends four fifths of the codes that it may. */
  alarm?: string
}

/** Adds a code by one of the functions that count it; somebody may be running up the bill. */
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

/** Requests another code, which is sent after the answer if there is anybody to send it to. */
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
  if (send) sendCodeLater(identifier, { purpose, code, expiresIn, smsFor })
  return answer
}
