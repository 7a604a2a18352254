// Sends messages about changes of an account to its phone or email; failed ones are tried again.
import { backend } from '../_shared/database/db.ts'
import { codesAreSent, deliver } from '../_shared/outside/messages.ts'
import { env } from '../_shared/settings/env.ts'

type Queued = { id: string; to: string; body: string }

/** Job: sends a batch of messages one by one, because there are few. */
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

/** Job: stores in the database whether codes are sent, which decides how users prove their identity. */
export const tellOfCodes = () => backend<number>('set_codes_are_sent', { areSent: codesAreSent })
