/** Messages by SMS and mail, or in the local inbox where no provider is configured. */
import { alarm } from './alarms.ts'
import { env } from './env.ts'
import { fetchOnce, jsonType } from './http-client.ts'
import type { Identifier } from './identifiers.ts'
import { setting } from './read-setting.ts'
import { type Message, type Send, sendMail, sendSms } from './sms-mail-providers.ts'

/** Development only: the message is logged in clear and shown in the local inbox. */
const showInInbox: Send = async (to, { text, code }) => {
  console.log(JSON.stringify({ development: 'message', to, body: text }))
  if (!env.inboxUrl) return
  const response = await fetchOnce(`${env.inboxUrl}/messages`, {
    method: 'POST',
    headers: jsonType,
    body: JSON.stringify({ to, kind: to.startsWith('+') ? 'sms' : 'email', body: text, code }),
  })
  await response.body?.cancel()
}

/** How SMS go out, for /health: nothing in it is secret. */
export const smsState: 'live' | 'mock' | 'off' = sendSms ? 'live' : env.production ? 'off' : 'mock'

/** Whether an SMS can be sent, or nobody wants one: what was chosen and cannot send is a failure. */
export const smsAsWanted = smsState !== 'off' || env.allowNoSms && !setting('SMS_PROVIDER')

/** Whether a mail can be sent. */
export const mailWorks = Boolean(sendMail) || !env.production

/** Whether a code reaches anybody: without it nobody can prove a phone or email. */
export const codesAreSent = smsState !== 'off' || mailWorks

/**
 * Sends a message within four seconds; false: it may not have gone out, which is an alarm. Where none
 * can be sent in production it is an alarm alone.
 */
export async function deliver({ kind, value }: Identifier, message: Message): Promise<boolean> {
  const send = (kind === 'phone' ? sendSms : sendMail) ?? (env.production ? undefined : showInInbox)
  if (!send) {
    void alarm(kind === 'phone' ? 'sms_not_configured' : 'mail_not_configured', kind)
    return true
  }
  try {
    await send(value, message)
    return true
  } catch (thrown) {
    const error = thrown as Error
    // Only our own texts: others may repeat the number or the code.
    const cause = error.constructor === Error ? error.message : error.name
    const provider = setting(kind === 'phone' ? 'SMS_PROVIDER' : 'MAIL_PROVIDER') ?? 'inbox'
    void alarm(`${kind}_send_failed`, provider, { cause })
    return false
  }
}
