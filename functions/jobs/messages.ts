// Sends messages about account changes to the account's phone or email. Failed messages are retried.
import { backend } from '../_shared/database/db.ts'
import { codesAreSent, deliver } from '../_shared/outside/messages.ts'
import { env } from '../_shared/settings/env.ts'

type Queued = { id: string; to: string; body: string }

/** Job: sends a batch of messages one by one, which is fast enough for their small number. */
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

/** Job: stores in the database whether we can send codes. This decides how users prove their identity. */
export const tellOfCodes = () => backend<number>('set_codes_are_sent', { areSent: codesAreSent })
