import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { actions, device, type Side } from './racing-actions.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { openConversation, textMessage } from '../support/conversations.ts'
import { giveMoney } from '../support/money.ts'
import { isNightly } from '../support/nightly.ts'
import { bearer, race, type RawRequest } from '../support/races.ts'
import { insertListing, insertOrganisation, makePending, proveEmail } from '../support/fixtures.ts'

const proofHeader = ({ proof }: Person): [string, string][] => proof ? [['X-Proof', proof]] : []

export const sentBy = (person: Person, { headers = [], ...shot }: RawRequest): RawRequest => ({
  ...shot,
  // Some requests already have the token of a different session.
  headers: headers.some(([name]) => name === 'Authorization')
    ? headers
    : [...headers, bearer(person), ...proofHeader(person)],
})

async function side(witness: Person): Promise<Side> {
  const person = await signUp()
  await proveEmail(person)
  const office = await insertOrganisation(person.id, 'office')
  const listing = await insertListing(office)
  const drafted = await insertListing(office, {
    status: 'draft',
    published_at: null,
    expires_at: null,
  })
  const { rows: [{ id: planId, price }] } = await database().query(
    `select id, price from public.plans where audience = 'office' and price between 1 and 90 and on_sale
     order by price limit 1`,
  )
  await database().query(
    `update public.accounts set active_identity_id = $2 where id = $1`,
    [person.id, office],
  )
  await giveMoney(office, 500 + Number(price))
  const company = await insertOrganisation(person.id, 'company')
  await makePending(company)
  const { body: { id: open } } = await person.post('/wallet/topup', { amount: 7 })
  const bought = await person.post('/plans/subscribe', { planId, payWith: 'wallet' })
  const { body: { id: report } } = await witness.post('/reports', {
    targetType: 'property',
    targetId: listing,
    reason: 'spam',
  })
  const paid = bought.body.invoice.id
  const { rows: [{ id: pair }] } = await database().query(
    'insert into public.duplicates (property_id, of_id) values ($1, $2) returning id',
    [listing, drafted],
  )
  return { ...person, office, company, listing, drafted, planId, open, paid, report, pair }
}

type Acquaintances = { one: Side; other: Side; talk: string; passwords: string; sessions: string }

export async function twoAcquaintances(): Promise<Acquaintances> {
  const witness = await signUp()
  const [one, other] = await Promise.all([side(witness), side(witness)])
  const { id: talk } = await openConversation(other, { identityId: one.office })
  for (const [who, whom] of [[one, other], [other, one]] as const) {
    await who.post(`/conversations/${talk}/messages`, textMessage('مرحبا'))
    await who.post(`/favorites/${whom.listing}`)
    await who.put('/devices', device())
    await who.post('/reviews', { identityId: whom.office, rating: 4, comment: 'تعامل ممتاز' })
  }
  const { rows: [stored] } = await database().query(
    `select
       (select jsonb_agg(sessions)::text from auth.sessions where user_id = any ($1)) as sessions,
       (select jsonb_object_agg(id, encrypted_password)::text from auth.users where id = any ($1))
         as passwords`,
    [[one.id, other.id]],
  )
  return { one, other, talk, ...stored }
}

export async function restore({ one, other, sessions, passwords }: Acquaintances) {
  for (const { id, identifier, office, company, listing, drafted, report, pair } of [one, other]) {
    await database().query('delete from private.contact_changes where account_id = $1', [id])
    await database().query(
      `update auth.users set phone = null, phone_confirmed_at = null, email = $2 where id = $1`,
      [id, identifier],
    )
    await database().query(
      `insert into auth.identities (provider_id, user_id, identity_data, provider, created_at)
       values ($1, $2, jsonb_build_object('sub', $1::text, 'email', $3::text), 'email', now())
       on conflict (provider_id, provider) do update set identity_data = excluded.identity_data`,
      [id, id, identifier],
    )
    await database().query(
      `update public.accounts set status = 'active', suspended_until = null, delete_at = null,
         email_proven = true, taken_over_at = null
       where id = $1`,
      [id],
    )
    await database().query(`update public.identities set status = 'active' where id = $1`, [office])
    await database().query(
      `update public.organisations set verified = true where identity_id = $1`,
      [office],
    )
    await database().query(
      'update public.accounts set active_identity_id = $2 where id = $1',
      [id, office],
    )
    await database().query(
      `update public.properties set status = 'active', suspended_from = null, status_reason = null,
         paused_at = null, published_at = now(), expires_at = now() + interval '1 day'
       where id = $1`,
      [listing],
    )
    await database().query(
      `update public.properties set status = 'draft', published_at = null, expires_at = null,
         confirmed_at = null where id = $1`,
      [drafted],
    )
    await database().query('delete from public.blocks where account_id = $1', [id])
    await database().query('delete from public.admin_acts where account_id = $1', [id])
    await makePending(company)
    await database().query(
      `select private.discard_documents(array(
         select documents.id from public.documents where identity_id = $1))`,
      [company],
    )
    // The races spend money, so this restores the balance.
    await database().query(
      `select private.move_money(private.system_account('adjustments'), wallets.id, 500,
         'adjustment', 'adjustment', gen_random_uuid())
       from public.wallets
       where wallets.identity_id = $1 and wallets.part = 'available' and wallets.balance < 100`,
      [office],
    )
    await database().query(`update public.duplicates set state = 'open' where id = $1`, [pair])
    // A decided report cannot be reopened, so a new one replaces it.
    await database().query(
      `with gone as (delete from public.reports where id = $1 returning *)
       insert into public.reports (id, account_id, identity_id, target_type, target_id,
         reported_identity_id, stored_content, content_hash, reason)
       select id, account_id, identity_id, target_type, target_id,
         reported_identity_id, stored_content, content_hash, reason from gone`,
      [report],
    )
  }
  await database().query(
    `delete from auth.identities where user_id = any ($1) and provider <> 'email'`,
    [[one.id, other.id]],
  )
  await database().query(
    `update auth.users set encrypted_password = value
     from jsonb_each_text($1)
     where users.id = key::uuid and encrypted_password is distinct from value`,
    [passwords],
  )
  await database().query(
    `insert into auth.sessions select (jsonb_populate_recordset(null::auth.sessions, $1)).*
     on conflict do nothing`,
    [sessions],
  )
}

export const groupsOfActions = (size: number, seed = '') => {
  const order = (name: string) => createHash('md5').update(seed + name).digest('hex')
  const names = Object.keys(actions).sort((a, b) => order(a).localeCompare(order(b)))
  return Array.from(
    { length: Math.ceil(names.length / size) },
    (_, i) => names.slice(i * size, (i + 1) * size),
  )
}

/** Returns the groups for the nth act of an admin or job: all in nightly runs, otherwise every sixth. */
export const groupsFor = (nth: number, title: string) =>
  groupsOfActions(10, title).filter((_, i) => isNightly || i % 6 === nth % 6)

export async function raceGroup(
  names: string[],
  { one, other, talk }: Acquaintances,
  more: RawRequest[],
  { make, also }: { make?: () => unknown; also?: () => unknown } = {},
) {
  const shots: RawRequest[] = []
  for (const name of names) {
    shots.push(
      sentBy(one, await actions[name]!(one, other, talk)),
      sentBy(other, await actions[name]!(other, one, talk)),
    )
  }
  for (const shot of more) shots.splice(Math.floor(Math.random() * shots.length), 0, shot)
  // Called only after all requests have been prepared.
  await make?.()
  const [replies] = await Promise.all([race(shots), also?.()])
  const failed = replies.flatMap(({ status, body }, i) =>
    status >= 500
      ? [`${shots[i]!.method ?? 'POST'} ${shots[i]!.path} ${status} ${body?.error?.code}`]
      : []
  )
  expect(failed).toEqual([])
}
