// For test/whole/matrix.test.ts: the tables that only functions may read and write, all in schema private.
import type { Table } from './matrix-outcomes.ts'

export const closed = (of: string | null, plant?: string): Table => ({ of, plant })

export const ofListing = '(select owner_identity_id from public.properties where id = property_id)'

export const closedTables: Record<string, Table> = {
  'private.timestamps': closed(
    null,
    `insert into private.timestamps (name, at) values (gen_random_uuid(), now())`,
  ),
  'private.alarms': closed(
    null,
    `insert into private.alarms (kind, subject_id) values ('planted', gen_random_uuid())`,
  ),
  'private.invoice_numbers': closed(null),
  'private.recounts': closed(
    null,
    `insert into private.recounts (name, last_wallet_id)
     values (gen_random_uuid(), gen_random_uuid())`,
  ),
  'private.sandbox_charges': closed(
    null,
    `insert into private.sandbox_charges (reference, amount, currency, title, return_url)
     values (gen_random_uuid(), 1, 'KWD', '', '')`,
  ),
  'private.sandbox_refunds': closed(
    null,
    `insert into private.sandbox_refunds (charge_id, reference, amount)
     select id, gen_random_uuid(), 1 from private.sandbox_charges limit 1`,
  ),
  'private.unmatched_refunds': closed(
    null,
    `insert into private.unmatched_refunds (provider, refund_ref, answer)
     values ('tap', gen_random_uuid(), '{}')`,
  ),
  'private.apple_tokens': closed(
    'account_id',
    `insert into private.apple_tokens (account_id, client_id, sealed_token)
     values (:account, gen_random_uuid(), '')`,
  ),
  'private.announced_sign_ins': closed(
    null,
    `insert into private.announced_sign_ins (provider, subject)
     values ('google', gen_random_uuid())`,
  ),
  'private.social_tokens': closed(
    null,
    'insert into private.social_tokens (key, expires_at) values (gen_random_uuid(), now())',
  ),
  'private.announced_passwords': closed(
    'account_id',
    'insert into private.announced_passwords (account_id) values (:account)',
  ),
  'private.uploads': closed(
    'identity_id',
    `insert into private.uploads (account_id, identity_id, bucket)
     values (:account, :identity, 'listings')`,
  ),
  'private.upload_sessions': closed(
    'identity_id',
    `insert into private.upload_sessions (identity_id, id) values (:identity, gen_random_uuid())`,
  ),
  'private.media_scans': closed(
    null,
    `insert into private.media_scans (bucket) values (gen_random_uuid())`,
  ),
  'private.file_moves': closed(
    'identity_id',
    'insert into private.file_moves (identity_id) values (:identity)',
  ),
  'private.stray_files': closed(
    null,
    `insert into private.stray_files (bucket, name) values ('listings', gen_random_uuid())`,
  ),
  'private.sms_sent': closed(
    null,
    `insert into private.sms_sent (hour, sent)
     values (now() - random() * interval '9 years', 0)`,
  ),
  'private.codes': closed(
    'account_id',
    `insert into private.codes (purpose, identifier, account_id, hmac)
     values ('reset', gen_random_uuid(), :account, '\\x00')`,
  ),
  'private.contact_changes': closed(
    'account_id',
    `insert into private.contact_changes (account_id, act, kind, done_at)
     values (:account, 'reset', 'phone', now())`,
  ),
  'private.contact_messages': closed(
    'account_id',
    `insert into private.contact_messages (account_id, sent_to, body)
     values (:account, gen_random_uuid(), '')`,
  ),
  'private.email_claims': closed(
    null,
    'insert into private.email_claims (email) values (gen_random_uuid())',
  ),
  'private.email_registrations': closed(
    'account_id',
    `insert into private.email_registrations (account_id, subject) values (:account, gen_random_uuid())`,
  ),
  'private.feed_places': closed(
    'account_id',
    `insert into private.feed_places (account_id, taken_to) values (:account, now())
     on conflict (account_id) do update set taken_to = excluded.taken_to`,
  ),
  'private.idempotency_keys': closed(
    'account_id',
    `insert into private.idempotency_keys (account_id, key, request_hash)
     values (:account, gen_random_uuid(), '\\x00')`,
  ),
  'private.notification_events': closed(
    ofListing,
    `insert into private.notification_events (kind, property_id) values ('favorite_price_drop', :property)`,
  ),
  'private.deferred_notifications': closed(
    'account_id',
    `insert into private.deferred_notifications (account_id, kind, details) values (:account, 'system', '{}')`,
  ),
  'private.expiry_warnings': closed(
    ofListing,
    `insert into private.expiry_warnings (property_id, expires_at) values (:property, now())
     on conflict do nothing`,
  ),
  'private.known_addresses': closed(
    'account_id',
    `insert into private.known_addresses (account_id, mark, known_until)
     values (:account, '', now()) on conflict do nothing`,
  ),
  'private.session_clients': closed(
    '(select user_id from auth.sessions where id = session_id)',
    `insert into private.session_clients (session_id)
     select id from auth.sessions where user_id = :account on conflict do nothing`,
  ),
  'private.sessions_left': closed(
    'account_id',
    `insert into private.sessions_left (session_id, account_id) values (gen_random_uuid(), :account)`,
  ),
  'private.session_proofs': closed(
    '(select user_id from auth.sessions where id = session_id)',
    `insert into private.session_proofs (session_id, hash, way)
     select id, '', 'password' from auth.sessions where user_id = :account on conflict do nothing`,
  ),
  'private.passkeys': closed(
    null,
    `with someone as (
       insert into auth.users (id, email)
       values (gen_random_uuid(), gen_random_uuid() || '@example.com') returning id
     ), admin as (
       insert into public.admins (account_id) select id from someone returning account_id
     )
     insert into private.passkeys (account_id, credential_id, rp_id, public_key, counter)
     select account_id, account_id, 'localhost', '', 0 from admin`,
  ),
  'private.passkey_challenges': closed(
    '(select user_id from auth.sessions where id = session_id)',
    `insert into private.passkey_challenges (session_id, adding, challenge)
     select id, true, '' from auth.sessions where user_id = :account on conflict do nothing`,
  ),
  'private.push_outbox': closed(
    'account_id',
    `with device as (
       insert into public.devices (account_id, device_id, session_id, platform, push_token)
       values (:account, gen_random_uuid(), gen_random_uuid(), 'ios', gen_random_uuid())
       returning *
     )
     insert into private.push_outbox (account_id, device_id, collapse_key, category, title, body,
       data, exempt, due_at, expires_at)
     select account_id, device_id, 'x', 'account', 'x', 'x', '{}', false, now(), now() from device`,
  ),
  'private.office_ranks': closed(
    'identity_id',
    'insert into private.office_ranks (identity_id, rating, since) values (:identity, 3.5, now())',
  ),
  'private.property_counters': closed(
    ofListing,
    'insert into private.property_counters (property_id) values (:property) on conflict do nothing',
  ),
  'private.property_views': closed(
    'identity_id',
    'insert into private.property_views (property_id, identity_id) values (:property, :identity)',
  ),
  'private.property_days': closed(
    ofListing,
    'insert into private.property_days (property_id, day) values (:property, now())',
  ),
  // Our code writes rows of this table at commit, and the test never commits.
  'private.listing_places': closed(
    ofListing,
    `insert into private.listing_places (property_id, sorted_at) values (:property, now())`,
  ),
  'private.publications': closed(
    ofListing,
    `insert into private.publications (property_id, type, published_at, since)
      values (:property, 'SALE', now(), now())`,
  ),
  'private.licence_warnings': closed(
    'identity_id',
    `insert into private.licence_warnings (identity_id, licence_expires_on, days)
     values (:identity, now(), 0) on conflict do nothing`,
  ),
  'private.response_measures': closed(
    'identity_id',
    `insert into private.response_measures (identity_id) values (:identity)
     on conflict do nothing`,
  ),
  'private.banned_contacts': closed(
    'account_id',
    `insert into private.banned_contacts (account_id, value)
     values (:account, cast(gen_random_uuid() as text))`,
  ),
  'private.closed_licences': closed(
    'account_id',
    `insert into private.closed_licences (identity_id, account_id, licence_no)
     values (:identity, :account, 'L-1') on conflict do nothing`,
  ),
  'private.suspensions': closed(
    'account_id',
    `insert into private.suspensions (property_id, account_id, listing, pictures)
     values (gen_random_uuid(), :account, '{}', '{}')`,
  ),
  'private.duplicate_checks': closed(
    ofListing,
    'insert into private.duplicate_checks (property_id) values (:property)',
  ),
  'private.review_notices': closed(
    'author_account_id',
    `insert into private.review_notices (author_account_id, subject_identity_id)
     values (:account, :identity)`,
  ),
  'private.review_totals': closed(
    'identity_id',
    'insert into private.review_totals (identity_id) values (:identity)',
  ),
  'private.area_prices': closed(null),
  'private.area_price_history': closed(
    null,
    `insert into private.area_price_history (area_id, type, kind, month, listings)
     values ('salmiya', 'SALE', 'villa', '2020-01-01', 1) on conflict do nothing`,
  ),
  'private.property_cards': closed(ofListing),
  'private.listed_records': closed(ofListing),
  'private.landmarks': closed(null),
  'private.reading_words': closed(null),
  'private.search_documents': closed(ofListing),
  'private.search_names': closed(null),
  'private.suggestions': closed(null),
  'private.suggest_hidden': closed(
    null,
    'insert into private.suggest_hidden (word) values (md5(cast(random() as text)))',
  ),
  'private.kind_groups': closed(null),
  'private.search_vocabulary': closed(
    null,
    `insert into private.search_vocabulary (word, listings, writers)
     values (translate(cast(gen_random_uuid() as text), '0123456789-', 'ghijklmnopq'), 1, '{1}')`,
  ),
  'private.search_word_changes': closed(
    null,
    `insert into private.search_word_changes (writer, added, removed) values (1, '{planted}', '{}')`,
  ),
  'private.needed_rows': closed(null),
  'private.rates': closed(null),
  'private.rate_hits': closed(
    null,
    `insert into private.rate_hits (rule, subject, hits, expires_at)
     values ('favorites', gen_random_uuid(), '{}', now())`,
  ),
  'private.registrations': closed(
    null,
    `insert into private.registrations (id, phone, sealed_password)
     values (gen_random_uuid(), '+96550000000', '')`,
  ),
  'private.settings': closed(null),
}
