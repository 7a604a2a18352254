// Prepares the calls of test/whole/mutants.test.ts: rows of the owner, in addition to the rows of
// planted-rows.ts, and arguments with their ids. A null here is passed as null.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { newEmail, newPhone, type Person } from '../support/client.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { company } from '../support/identities.ts'
import { converse, plantRows } from './planted-rows.ts'

export type People = { owner: Person; stranger: Person; administrator: Person }
export type Asked = Awaited<ReturnType<typeof prepare>>

/** Inserts the rows; returns ids and the arguments by name. `function.name` is for that function only. */
export async function prepare(client: pg.PoolClient, people: People) {
  const { owner, stranger, administrator } = people
  const one = async (sql: string, ...values: unknown[]) =>
    (await client.query(sql, values)).rows[0]?.id
  const property = await plantRows(client, owner.id, owner.identityId)
  await plantRows(client, stranger.id, stranger.identityId)
  await plantRows(client, administrator.id, administrator.identityId)
  const companyId = await insertOrganisation(owner.id, 'company', client)
  const closingId = await insertOrganisation(owner.id, 'company', client)
  await client.query(
    `update public.identities set status = 'closing', closes_from = 'active', close_at = now() + interval '1 day'
     where id = $1`,
    [closingId],
  )
  const officeId = await insertOrganisation(stranger.id, 'office', client)
  await converse(client, owner.identityId, stranger.identityId)
  await converse(client, owner.identityId, officeId)

  await client.query(
    `update public.accounts set phone = $2, email_proven = true where id = $1`,
    [owner.id, `+965${newPhone()}`],
  )
  await client.query(
    `update public.organisations set phone = '+96522223333' where identity_id = $1`,
    [
      officeId,
    ],
  )
  await client.query('insert into public.admins (account_id) values ($1)', [administrator.id])
  // Everybody gets a proof of re-authentication, which has no effect for anybody but administrators.
  await client.query(
    `update private.session_proofs set hash = '\\x01', way = 'passkey', made_at = now() + interval '1 day'
     from auth.sessions where sessions.id = session_id and sessions.user_id = any ($1)`,
    [[owner.id, stranger.id, administrator.id]],
  )
  await client.query(`select set_config('facade.proof', '01', true),
    set_config('facade.provider', '{"provider":"sandbox","mode":"test"}', true)`)

  // The rows from planted-rows.ts may include blocks between these people.
  await client.query('delete from public.blocks where account_id = any ($1)', [
    [owner.id, stranger.id, administrator.id],
  ])
  await client.query(
    'insert into public.blocks (account_id, identity_id, blocked_account_id) values ($1, $2, $3)',
    [owner.id, administrator.identityId, administrator.id],
  )
  const offered = await insertListing(officeId, { owner_type: 'office' }, client)
  const paused = await insertListing(
    owner.identityId,
    { status: 'paused', paused_at: new Date() },
    client,
  )
  await client.query(
    `insert into public.leads (property_id, owner_identity_id, identity_id, kind)
     values ($1, $2, $3, 'call')`,
    [offered, officeId, owner.identityId],
  )
  // The auction has begun and could not be withdrawn, so its beginning moves to tomorrow.
  await client.query(
    `update public.auctions
     set starts_at = now() + interval '1 day', ends_at = now() + interval '2 days'
     where property_id = $1`,
    [property],
  )
  const picture = (bucket: string, columns = '', ...values: unknown[]) =>
    one(
      `insert into public.media (account_id, identity_id, bucket, name, width, height, orientation, bytes,
         sha256${columns && `, use, property_id, position`})
       values ($1, $2::uuid, $3, $2::uuid || '/' || gen_random_uuid() || '.jpg', 1, 1, 1, 1,
         repeat('a', 64)${columns}) returning id`,
      owner.id,
      owner.identityId,
      bucket,
      ...values,
    )
  const shown = await picture('listings', `, 'listing', $4, 0`, property)
  await picture('avatars')
  await client.query(
    `insert into public.documents (account_id, identity_id, name, file, type, bytes, sha256)
     values ($1, $2::uuid, 'رخصة', $2::uuid || '/' || gen_random_uuid() || '.pdf', 'application/pdf', 1,
       repeat('a', 64))`,
    [owner.id, companyId],
  )
  const upload = (bucket: string, identityId: string) =>
    one(
      `insert into private.uploads (account_id, identity_id, bucket) values ($1, $2, $3) returning id`,
      owner.id,
      identityId,
      bucket,
    )
  const uploads = {
    listings: await upload('listings', owner.identityId),
    avatars: await upload('avatars', owner.identityId),
    documents: await upload('documents', companyId),
  }
  const review = await one(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating)
     values ($1, $2, 4) returning id`,
    stranger.identityId,
    companyId,
  )
  const report = await one('select id from public.reports where account_id = $1', stranger.id)
  await client.query('insert into public.item_claims (item_id, account_id) values ($1, $2)', [
    report,
    owner.id,
  ])
  const conversation = await one(
    `select conversation_id as id from public.messages where sender_identity_id = $1 limit 1`,
    owner.identityId,
  )
  const message = await one(
    'select id from public.messages where conversation_id = $1',
    conversation,
  )
  const plan = await one(`select id from public.plans where code = 'plus'`)
  const companyPlan = await one(`select id from public.plans where code = 'company'`)
  const again = [{ index: 0, sha256: 'a'.repeat(64), known: true }]
  const ofAccount = (table: string, column = 'id') =>
    one(`select ${column} as id from ${table} where account_id = $1 limit 1`, owner.id)
  const ofIdentity = (table: string, column = 'identity_id') =>
    one(`select id from ${table} where ${column} = $1 limit 1`, owner.identityId)

  const given: Record<string, unknown> = {
    property_id: property,
    ids: `{${paused}}`,
    identity_id: owner.identityId,
    account_id: owner.id,
    conversation_id: conversation,
    invoice_id: await ofIdentity('public.invoices'),
    review_id: await ofIdentity('public.reviews', 'author_identity_id'),
    media_id: shown,
    media_ids: `{${shown}}`,
    document_id: await ofIdentity('public.documents'),
    notification_id: await ofAccount('public.notifications'),
    device_id: await ofAccount('public.devices', 'device_id'),
    plan_id: plan,
    id: report,
    item_id: report,
    fields: 'card',
    type: 'company',
    strategy: 'standard',
    filters: {},
    filter: 'all',
    sort: 'newest',
    page_size: 20,
    archived: false,
    muted: true,
    language: 'en',
    body: 'نص',
    message: 'نص',
    comment: 'نص',
    note: 'نص',
    reason: 'spam',
    rating: 1,
    target_type: 'property',
    target_id: property,
    kind: 'call',
    action: 'pause',
    act: 'pause',
    amount: 10,
    platform: 'ios',
    push_token: 'token',
    q: 'شقة',
    pay_with: 'invoice',
    return_url: 'https://app.example/',
    starts_at: new Date(Date.now() + 3_600_000).toISOString(),
    ends_at: new Date(Date.now() + 90_000_000).toISOString(),
    bucket: 'listings',
    list: 'users',
    up_to_seq: null,
    upload_session_id: null,
    rp_id: 'localhost',
    'accept_terms.version': await one(
      `select value ->> 'version' as id from private.settings where name = 'terms'`,
    ),
    'add_passkey.credential_id': randomUUID(),
    'add_report.part': null,
    'create_conversation.identity_id': null,
    'subscribe.plan_id': companyPlan,
    'subscribe_plan.plan_id': companyPlan,
    'add_identity.fields': { ...company(), type: undefined },
    'begin_document_upload.identity_id': companyId,
    'block_identity.identity_id': stranger.identityId,
    'cancel_closing.identity_id': closingId,
    'change_plan.version': await one(
      'select private.row_version(to_jsonb(plans)) as id from public.plans where id = $1',
      plan,
    ),
    'change_setting.name': 'review_listings',
    'change_setting.value': 'true',
    'change_setting.version': await one(
      `select private.row_version(value) as id from private.settings where name = 'review_listings'`,
    ),
    'create_property.fields': { type: 'SALE', titleAr: 'عنوان جديد' },
    'create_review.identity_id': officeId,
    'create_review.property_id': offered,
    'decide_moderation.decision': 'dismiss',
    'end_session.session_id': await one(
      'select id from auth.sessions where user_id = $1',
      owner.id,
    ),
    'get_organisation.identity_id': companyId,
    'get_property_by_number.ref_no': await one(
      'select ref_no as id from public.properties where id = $1',
      property,
    ),
    'list_audit.sort': undefined,
    'list_moderation.kind': 'report',
    'list_moderation.sort': 'oldest',
    'list_users.sort': undefined,
    'refund_invoice.destination': 'wallet',
    'reply_to_review.review_id': review,
    'send_message.conversation_id': await one(
      'select conversation_id as id from public.participants where identity_id = $1',
      officeId,
    ),
    'send_message.media_id': null,
    'send_message.reply_to_id': null,
    'send_message.type': 'text',
    'set_identity_status.identity_id': officeId,
    'set_identity_status.status': 'suspended',
    'set_user_identifier.value': newEmail(),
    'set_user_status.status': 'suspended',
    'update_identity.fields': { aboutAr: 'نص' },
    'update_identity.identity_id': companyId,
    'update_me.fields': { fullName: 'اسم جديد', language: 'en' },
    'update_organisation_profile.fields': { aboutAr: 'نص' },
    'update_property.expected_version': null,
    'update_property.fields': { titleAr: 'عنوان جديد' },
    'update_review.fields': { rating: 1 },
    'update_settings.fields': { language: 'en' },
    'upload_avatar.again': 'a'.repeat(64),
    'upload_avatar.upload_id': uploads.avatars,
    'upload_documents.again': again,
    'upload_documents.upload_id': uploads.documents,
    'upload_listing_media.again': again,
    'upload_listing_media.upload_id': uploads.listings,
  }
  return { given, companyId, closingId, officeId, offered, property, message }
}

/** Makes the account an administrator with a passkey, and returns the passkey's id. */
export async function addPasskey(client: pg.PoolClient, account: string): Promise<string> {
  await client.query(
    'insert into public.admins (account_id) values ($1) on conflict do nothing',
    [account],
  )
  const { rows } = await client.query(
    `insert into private.passkeys (account_id, credential_id, rp_id, public_key, counter)
     values ($1, $2, 'localhost', '', 0) returning id`,
    [account, randomUUID()],
  )
  return rows[0].id
}
