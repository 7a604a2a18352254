/** Codes by SMS and mail: one interface, the providers behind it, and the local inbox. */
import { env } from './env.ts'
import type { Identifier } from './identifiers.ts'
import { Refusal } from './problem.ts'
import { type Send, sendMail, sendSms } from './providers.ts'

// One part of an SMS in Arabic is 70 characters; nothing of a request gets into the text.
const texts = {
  register: (code: string) => `رمز التحقق لتفعيل حسابك: ${code}\nصالح لمدة 5 دقائق`,
  reset: (code: string) => `رمز إعادة تعيين كلمة المرور: ${code}\nصالح لمدة 5 دقائق`,
  delete: (code: string) => `رمز تأكيد حذف الحساب: ${code}\nصالح لمدة 5 دقائق`,
}

export type Purpose = keyof typeof texts

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
export async function sendCode({ kind, value }: Identifier, purpose: Purpose, code: string) {
  const send = (kind === 'phone' ? sendSms : sendMail) ?? (env.production ? undefined : show)
  if (!send) return console.error(JSON.stringify({ alert: 'mail_not_configured' }))
  try {
    await send(value, texts[purpose](code), code)
  } catch (thrown) {
    const error = thrown as Error
    // Only our own words: others may repeat the number or the code.
    const cause = error.constructor === Error ? error.message : error.name
    console.error(JSON.stringify({ alert: `${kind}_send_failed`, cause }))
    throw new Refusal('sms_send_failed')
  }
}

type Runtime = { EdgeRuntime?: { waitUntil(promise: Promise<unknown>): void } }

/** Sends after the answer has gone, so that its time tells nothing. */
export function sendCodeLater(identifier: Identifier, purpose: Purpose, code: string) {
  const sending = new Promise((resolve) => setTimeout(resolve))
    .then(() => sendCode(identifier, purpose, code))
    .catch(() => {})
  const runtime = (globalThis as Runtime).EdgeRuntime
  if (runtime) runtime.waitUntil(sending)
}
