import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { database, newPhone, type Person } from './client.ts'

type Query = Pick<pg.Pool, 'query'>

export async function insertOrganisation(
  accountId: string,
  type: 'company' | 'office' = 'company',
  db: Query = database(),
): Promise<string> {
  const { rows } = await db.query(
    `insert into public.identities (account_id, type, status, display_name)
     values ($1, $2, 'active', 'شركة الديرة العقارية') returning id`,
    [accountId, type],
  )
  const licence = randomUUID().slice(0, 18).toUpperCase()
  await db.query(
    `insert into public.organisations
       (identity_id, name_ar, slug, licence_no, licence_expires_on, verified)
     values ($1, 'شركة الديرة العقارية', $2, $3, '2040-01-01', true)`,
    [rows[0].id, licence.toLowerCase(), licence],
  )
  return rows[0].id
}

/** Pretends that a code or a provider has verified the account's email. */
export const proveEmail = ({ id }: Person) =>
  database().query('update public.accounts set email_proven = true where id = $1', [id])

export async function givePhone(person: Person, phone = newPhone()) {
  await proveEmail(person)
  await database().query(
    'update auth.users set phone = $2, phone_confirmed_at = now() where id = $1',
    [person.id, `965${phone.slice(-8)}`],
  )
}

export const takePhone = (person: Person) =>
  database().query(
    'update auth.users set phone = null, phone_confirmed_at = null where id = $1',
    [person.id],
  )

export async function makePending(company: string) {
  await database().query(
    `update public.identities set status = 'pending_verification', status_reason = null
     where id = $1`,
    [company],
  )
  await database().query(
    'update public.organisations set verified = false where identity_id = $1',
    [company],
  )
}

export async function insertWaitingCompany(accountId: string): Promise<string> {
  const company = await insertOrganisation(accountId)
  await makePending(company)
  return company
}

/** Inserts a complete listing of the identity, which is active unless the columns say otherwise. */
export async function insertListing(
  identityId: string,
  columns: Record<string, unknown> = {},
  db: Query = database(),
): Promise<string> {
  const row = {
    owner_identity_id: identityId,
    owner_type: 'individual',
    type: 'SALE',
    status: 'active',
    kind: 'villa',
    usage: 'residential',
    title_ar: 'فيلا للبيع في السالمية',
    price: '185000.250',
    land_area_m2: 500,
    governorate_id: 'hawalli',
    area_id: 'salmiya',
    lat: 29.333333,
    lng: 48.077777,
    location_precision: 'block',
    published_at: new Date(),
    // The listing expires so late that the job does not warn its owner.
    expires_at: new Date(Date.now() + 30 * 86_400_000),
    ...columns,
  }
  const names = Object.keys(row)
  const { rows } = await db.query(
    `insert into public.properties (${names}) values (${names.map((_, i) => `$${i + 1}`)})
     returning id`,
    Object.values(row),
  )
  return rows[0].id
}

/** Makes a listing's whole price history older, because a listing cannot be a deal in its first week. */
export const agePrices = (id: string, by = '7 days') =>
  database().query(
    'update public.price_history set changed_at = changed_at - $2::interval where property_id = $1',
    [id, by],
  )

export const insertReviews = (subjectId: string, rating: number, authors: Person[]) =>
  database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating)
     select author, $2, $3 from unnest($1::uuid[]) as author`,
    [authors.map(({ identityId }) => identityId), subjectId, rating],
  )

export async function fingerprintOf({ id }: Person): Promise<string> {
  const { rows } = await database().query(
    `with mine as (select identities.id from public.identities where account_id = $1)
     select md5(string_agg(line, e'\\n' order by line)) as hash from (
       select accounts::text as line from public.accounts where accounts.id = $1
       union all select individual_profiles::text from public.individual_profiles
         where account_id = $1
       union all select identities::text from public.identities where account_id = $1
       union all select organisations::text from public.organisations
         where identity_id in (table mine)
       union all select properties::text from public.properties
         where owner_identity_id in (table mine)
       union all select favorites::text from public.favorites where identity_id in (table mine)
       union all select messages::text from public.messages
         where sender_identity_id in (table mine)
       union all select blocks::text from public.blocks where account_id = $1
     ) as lines`,
    [id],
  )
  return rows[0].hash
}
