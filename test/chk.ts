/**
 * Views in schema chk: our tables by the names that the checks of invariants.ts read. Made in a
 * transaction that is rolled back, never by a migration. Areas that do not exist yet are empty.
 */
export const chk = `
create schema chk;
create view chk.exposed_schema as select unnest(array['api', 'public']) as name;
create view chk.own_schema as select unnest(array['api', 'private', 'public']) as name;
create view chk.reviewed_function as select null::text as signature where false;
create view chk.auth_user as select id, email, phone, created_at from auth.users;
create view chk.session as select id, user_id, created_at from auth.sessions;
create view chk.account as
  select id, email, phone, status, created_at from public.accounts;
create view chk.profile as select account_id from public.individual_profiles;
create view chk.identity as
  select id, account_id, type, status, display_name from public.identities;
create view chk.active_identity as
  select id as account_id, active_identity_id as identity_id from public.accounts;
create view chk.property as
  select id, owner_identity_id, type, kind as category, area_m2 as area, title_ar as title, price,
    property_income, status, created_at, deleted_at
  from public.properties;
create view chk.review as
  select id, author_identity_id, subject_identity_id as subject_id from public.reviews;
create view chk.device as select push_token as token, account_id, session_id from public.devices;
create view chk.media as
  select id, identity_id as owner_identity_id, property_id, bucket, name as path, position,
    created_at
  from public.media where removed_at is null;
create view chk.object as
  select bucket_id as bucket, name as path, (metadata ->> 'size')::bigint as size,
    metadata ->> 'mimetype' as mime, created_at
  from storage.objects where bucket_id in ('avatars', 'listings');
create view chk.audit as select actor_id, action, target_id, at from public.audit;
create view chk.favorite as select identity_id, property_id from public.favorites;
create view chk.conversation as select id, pair_key from public.conversations;
create view chk.participant as
  select conversation_id, account_id, unread, last_read_seq from public.participants;
create view chk.message as
  select messages.id, conversation_id, account_id as sender_id, client_message_id as client_id, seq,
    body, messages.created_at
  from public.messages
  -- Not by participants: whether the sender is one of them is what an invariant asks.
  left join public.identities on identities.id = sender_identity_id;
create view chk.invoice as
  select id, account_id, identity_id, total as amount, currency, state as status, paid_with, paid_at
  from public.invoices;
create view chk.invoice_event as
  select invoice_id, from_state as from_status, to_state as to_status, at
  from public.invoice_events where from_state is not null;
create view chk.invoice_allowed as
  select from_state as from_status, to_state as to_status from private.invoice_steps();
create view chk.charge as
  select id, invoice_id, provider_ref, amount, currency,
    case state when 'starting' then 'open' else state end as status
  from public.payments;
create view chk.webhook_event as
  select provider, event_key, payment_id as charge_id, outcome, received_at, processed_at
  from public.payment_events;
-- A house keeps no balance of its own: it is its entries.
create view chk.wallet as
  select wallets.id, identities.account_id, part = 'house' as house,
    case when part = 'house' then (
      select coalesce(sum(amount), 0) from public.wallet_entries where wallet_id = wallets.id
    ) else balance end as balance
  from public.wallets
  left join public.identities on identities.id = wallets.identity_id;
create view chk.entry as
  select md5(wallet_entries.id::text)::uuid as id, wallet_id, transfer_id, wallet_entries.amount, source_kind,
    -- What a refund takes is held against the payment that it takes it from.
    case when source_kind = 'refund' and destination = 'source' then refunds.payment_id
      else source_id end as source_id,
    wallet_entries.created_at
  from public.wallet_entries
  join public.wallet_transfers on wallet_transfers.id = transfer_id
  left join public.refunds on refunds.id = source_id;
create view chk.base as select * from (values
  ('entry', 'public.wallet_entries'::regclass), ('transfer', 'public.wallet_transfers'),
  ('invoice', 'public.invoices'), ('payment event', 'public.payment_events')
) as bases (name, rel);
`
