import { randomUUID } from 'node:crypto'
import { database, guest, inboxOf, type Person, type Reply, signUp } from '../support/client.ts'
import { codeSentBy, normalizedIdentifier, requestResetCode } from '../support/codes.ts'
import { refusal } from '../support/problems.ts'
import { waitFor } from '../support/wait.ts'

export type Kind = 'phone' | 'email'
export type Proof = { currentPassword?: string; code?: string }
export type Begun = { changeId: string; code: string; body: Reply['body'] }

export const byPassword = ({ password }: Person): Proof => ({ currentPassword: password })

export const begin = (person: Person, kind: Kind, value: string, proof = byPassword(person)) =>
  person.post(`/auth/me/${kind}`, { [kind]: value, ...proof })

export async function beginChange(
  person: Person,
  kind: Kind,
  value: string,
  proof = byPassword(person),
): Promise<Begun> {
  const [code, { body }] = await codeSentBy(value, () => begin(person, kind, value, proof))
  return { changeId: body.changeId, code, body }
}

export const verify = (person: Person, kind: Kind, { changeId, code }: Omit<Begun, 'body'>) =>
  person.post(`/auth/me/${kind}/verify`, { changeId, code })

export async function change(
  person: Person,
  kind: Kind,
  value: string,
  proof = byPassword(person),
): Promise<Reply> {
  const reply = await verify(person, kind, await beginChange(person, kind, value, proof))
  if (reply.status !== 200) throw new Error(`change: ${JSON.stringify(reply.body)}`)
  return reply
}

export async function proofCode(person: Person, identifier: string): Promise<Proof> {
  const [code] = await codeSentBy(
    identifier,
    () => person.post('/auth/otp/resend', { identifier, purpose: 'change' }),
  )
  return { code }
}

export async function resetBy(identifier: string, password: string = randomUUID()) {
  const code = await requestResetCode(identifier)
  const reply = await guest.post('/auth/password/reset', {
    identifier,
    code,
    newPassword: password,
    confirmPassword: password,
  })
  if (reply.status !== 204) throw new Error(`reset: ${JSON.stringify(reply.body)}`)
  return password
}

/** Signs up a person by email, then verifies the email by requesting a change to the same address. */
export async function signUpProven(): Promise<Person> {
  const person = await signUp()
  await change(person, 'email', person.identifier)
  return person
}

export async function contactOf(person: Person) {
  const { body } = await person.get('/auth/me')
  const { email, phone, emailProven } = body.user
  return { email, phone, emailProven }
}

export async function atAuth({ id }: Pick<Person, 'id'>) {
  const { rows } = await database().query(
    `select users.email, users.phone, users.email_confirmed_at is not null as confirmed,
       users.raw_user_meta_data ->> 'email' as said,
       array(select provider || ' ' || coalesce(email, identity_data ->> 'phone', '')
         from auth.identities where user_id = users.id order by 1) as identities
     from auth.users where id = $1`,
    [id],
  )
  return rows[0]
}

export const ageChanges = ({ id }: Person, hours: number) =>
  database().query(
    `update private.contact_changes
     set done_at = done_at - make_interval(hours => $2),
         proven_at = proven_at - make_interval(hours => $2),
         created_at = created_at - make_interval(hours => $2),
         expires_at = expires_at - make_interval(hours => $2)
     where account_id = $1`,
    [id, hours],
  )

export const noticeTo = (to: string) =>
  waitFor(
    `a notice to ${to}`,
    async () => (await inboxOf(to)).find(({ code }) => !code)?.body,
  )

/** Returns whether no account, Auth user or provider identity has the identifier. */
export const isNobodys = async (identifier: string) => {
  const { rows } = await database().query(
    `select from public.accounts where email = $1 or phone = $1
     union all select from auth.users where email = $1 or phone = ltrim($1, '+')
     union all select from auth.identities where email = $1`,
    [normalizedIdentifier(identifier)],
  )
  return rows.length === 0
}

export const wrongProof = refusal(401, 'invalid_credentials')
export const tooSoon = refusal(409, 'change_too_soon')
export const notFound = refusal(404, 'change_not_found')
export const signedOut = refusal(401, 'token_invalid')
