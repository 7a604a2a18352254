import { alarm } from '../errors/alarms.ts'
import { log } from '../errors/log.ts'
import type { Identifier } from '../input/identifiers.ts'
import { env } from '../settings/env.ts'
import { setting } from '../settings/read-setting.ts'
import { fetchOnce, jsonType } from './http-client.ts'
import { type Message, type Send, sendMail, sendSms } from './sms-mail-providers.ts'

/** Logs the complete message and shows it in the local inbox. Only for development. */
const showInInbox: Send = async (to, { text, code }) => {
  log('info', { development: 'message', to, body: text })
  if (!env.inboxUrl) return
  const response = await fetchOnce(`${env.inboxUrl}/messages`, {
    method: 'POST',
    headers: jsonType,
    body: JSON.stringify({ to, kind: to.startsWith('+') ? 'sms' : 'email', body: text, code }),
  })
  await response.body?.cancel()
}

export const smsState: 'live' | 'mock' | 'off' = sendSms ? 'live' : env.production ? 'off' : 'mock'

/** True if SMS can be sent or are off on purpose. False if a provider was chosen but cannot send. */
export const smsAsWanted = smsState !== 'off' || env.allowNoSms && !setting('SMS_PROVIDER')

export const mailWorks = Boolean(sendMail) || !env.production

export const codesAreSent = smsState !== 'off' || mailWorks

/**
 * Sends a message within four seconds. Returns false if the provider may not have sent it. Returns true if no
 * provider is configured. Both cases raise an alarm.
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
    // Only our own error messages are safe to log. Others may contain the number or the code.
    const cause = error.constructor === Error ? error.message : error.name
    const provider = setting(kind === 'phone' ? 'SMS_PROVIDER' : 'MAIL_PROVIDER') ?? 'inbox'
    void alarm(`${kind}_send_failed`, provider, { cause })
    return false
  }
}
