/** Codes by SMS and mail: one interface, the providers behind it, and the local inbox. */
import { alarm } from '../../_shared/alarms.ts'
import { inBackground } from '../../_shared/background.ts'
import { env } from '../../_shared/env.ts'
import type { Identifier } from '../../_shared/identifiers.ts'
import { Refusal } from '../../_shared/refusal.ts'
import type { Purpose } from '../../_shared/secrets.ts'
import { setting } from '../../_shared/read-setting.ts'
import { type Send, sendMail, sendSms } from './sms-mail-providers.ts'

// One part of an SMS in Arabic is 70 characters; nothing of a request gets into the text.
const texts: Record<Purpose, string> = {
  register: 'رمز التحقق لتفعيل حسابك',
  reset: 'رمز إعادة تعيين كلمة المرور',
  delete: 'رمز تأكيد حذف الحساب',
}

/** A code on its way to somebody; `expiresIn` seconds, as the database said. */
export type NewCode = { purpose: Purpose; code: string; expiresIn: number }

const written = ({ purpose, code, expiresIn }: NewCode) =>
  `${texts[purpose]}: ${code}\nصالح لمدة ${expiresIn / 60} دقائق`

/** Development only: the code is logged visibly and shown in the local inbox. */
const show: Send = async (to, body, code) => {
  console.log(JSON.stringify({ development: 'message', to, body }))
  if (!env.inboxUrl) return
  const response = await fetch(`${env.inboxUrl}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ to, kind: to.startsWith('+') ? 'sms' : 'email', body, code }),
    signal: AbortSignal.timeout(4000),
  })
  await response.body?.cancel()
}

/** How codes go out, for /health: nothing in it is secret. */
export const smsState: 'live' | 'mock' | 'off' = sendSms ? 'live' : env.production ? 'off' : 'mock'

/** Before a code is made: 503 where an SMS could not be sent in production. */
export function requireSms({ kind }: Identifier) {
  if (kind === 'phone' && smsState === 'off') throw new Refusal('sms_not_configured')
}

/** Sends a code once, within four seconds. 502 sms_send_failed; never tried again blindly. */
export async function sendCode({ kind, value }: Identifier, made: NewCode) {
  const send = (kind === 'phone' ? sendSms : sendMail) ?? (env.production ? undefined : show)
  if (!send) return void alarm('mail_not_configured', 'mail')
  try {
    await send(value, written(made), made.code)
  } catch (thrown) {
    const error = thrown as Error
    // Only our own words: others may repeat the number or the code.
    const cause = error.constructor === Error ? error.message : error.name
    alarm(
      `${kind}_send_failed`,
      setting(kind === 'phone' ? 'SMS_PROVIDER' : 'MAIL_PROVIDER') ?? 'inbox',
      { cause },
    )
    throw new Refusal('sms_send_failed')
  }
}

/** Sends after the answer has gone, so that its time tells nothing. */
export function sendCodeLater(identifier: Identifier, made: NewCode) {
  inBackground(
    new Promise((resolve) => setTimeout(resolve)).then(() => sendCode(identifier, made)),
  )
}
