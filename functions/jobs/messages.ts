/** Sends what tells a phone or email that an account was changed; what fails is tried again. */
import { backend } from '../_shared/db.ts'
import { env } from '../_shared/env.ts'
import { codesAreSent, deliver } from '../_shared/messages.ts'

type Queued = { id: string; to: string; body: string }

/** Job: a batch, one after another: there are few. */
export async function sendContactMessages(): Promise<number> {
  const { smsPerDay } = env
  const messages = await backend<Queued[]>('take_contact_messages', { smsPerDay })
  let sent = 0
  for (const { id, to, body } of messages) {
    const kind = to.startsWith('+') ? 'phone' : 'email'
    if (!await deliver({ kind, value: to }, { subject: 'تنبيه أمني لحسابك', text: body })) continue
    await backend('finish_contact_message', { id })
    sent++
  }
  return sent
}

/** Job: tells the database whether codes are sent, on which what is asked of people depends. */
export const tellOfCodes = () => backend<number>('set_codes_are_sent', { areSent: codesAreSent })
