import { randomUUID } from 'node:crypto'
import { database, guest, inboxOf, newPhone, type Person, personOf, type Reply } from './client.ts'
import { waitUntil } from './wait.ts'

export type Attempt = { phone: string; password: string; registrationId: string; code: string }

export async function codeSentBy(to: string, act: () => Promise<Reply>): Promise<[string, Reply]> {
  // Skips notices to the same person, which have no code.
  const codes = async () => (await inboxOf(to)).filter(({ code }) => code)
  const before = (await codes()).length
  const reply = await act()
  if (reply.status >= 400) throw new Error(`no code: ${JSON.stringify(reply.body)}`)
  await waitUntil(`a code to ${to}`, async () => (await codes()).length > before)
  return [(await codes())[0]!.code, reply]
}

export async function registerPhone(phone = newPhone()): Promise<Attempt> {
  const password = randomUUID()
  const [code, { body }] = await codeSentBy(
    phone,
    () => guest.post('/auth/register', { identifier: phone, password }),
  )
  return { phone, password, registrationId: body.registrationId, code }
}

export async function requestResetCode(identifier: string): Promise<string> {
  const [code] = await codeSentBy(
    identifier,
    () => guest.post('/auth/password/forgot', { identifier }),
  )
  return code
}

export async function signUpByPhone(phone = newPhone()): Promise<Person> {
  const { code, password } = await registerPhone(phone)
  const { status, body } = await verifyCode(phone, code)
  if (status !== 200) throw new Error(`verify: ${JSON.stringify(body)}`)
  return personOf(body, phone, password)
}

export const verifyCode = (identifier: string, code: unknown, registrationId?: string) =>
  guest.post('/auth/register/verify-otp', { identifier, code, registrationId })

export const wrongCode = (code: string, by = 1) =>
  String((Number(code) + by) % 1_000_000).padStart(6, '0')

export const normalizedIdentifier = (identifier: string) =>
  identifier.includes('@') ? identifier : `+965${identifier.slice(-8)}`

export async function ageCodes(identifier: string, seconds: number) {
  const values = [normalizedIdentifier(identifier), seconds]
  await database().query(
    `update private.codes set created_at = created_at - make_interval(secs => $2)
     where identifier = $1`,
    values,
  )
  await database().query(
    `update private.registrations set created_at = created_at - make_interval(secs => $2)
     where phone = $1`,
    values,
  )
}

export async function codeTries(identifier: string): Promise<number[]> {
  const { rows } = await database().query(
    'select tries from private.codes where identifier = $1 order by created_at desc',
    [normalizedIdentifier(identifier)],
  )
  return rows.map((row) => row.tries)
}

export async function countSessions(accountId: string): Promise<number> {
  const { rows } = await database().query(
    'select count(*)::int from auth.sessions where user_id = $1',
    [accountId],
  )
  return rows[0].count
}

/** Ages refresh tokens beyond the ten seconds in which Auth accepts a token more than once. */
export async function ageRefreshTokens(accountId: string) {
  await database().query(
    `with rows as (
       update auth.refresh_tokens set updated_at = updated_at - interval '1 minute'
       where user_id = $1::text
     )
     update auth.sessions set refreshed_at = refreshed_at - interval '1 minute'
     where user_id = $1::uuid`,
    [accountId],
  )
}

export async function countAccounts(identifier: string): Promise<number> {
  const { rows } = await database().query(
    'select count(*)::int from public.accounts where email = $1 or phone = $1',
    [normalizedIdentifier(identifier)],
  )
  return rows[0].count
}
