-- Indexes on tables of other areas that only the lists and figures for admins need.

create index accounts_newest_idx on public.accounts (created_at desc, id desc);
create index accounts_status_idx on public.accounts (status, created_at desc, id desc);
create index accounts_to_be_deleted_idx on public.accounts (created_at desc, id desc)
  where delete_at is not null;
create index accounts_email_parts_idx
  on public.accounts using gin (email extensions.gin_trgm_ops);
create index accounts_phone_parts_idx
  on public.accounts using gin (phone extensions.gin_trgm_ops);
create index identities_name_parts_idx on public.identities
  using gin ((private.search_text(display_name)) extensions.gin_trgm_ops);
create index identities_type_idx on public.identities (type, account_id) where type <> 'individual';
create index individual_profiles_name_idx on public.individual_profiles
  ((private.name_order(full_name) collate "C"), account_id);
create index individual_profiles_last_sign_in_idx
  on public.individual_profiles (last_sign_in_at, account_id);
create index accounts_email_idx on public.accounts ((coalesce(email, '')), id);
create index accounts_phone_idx on public.accounts ((coalesce(phone, '')), id);
create index accounts_suspended_until_order_idx
  on public.accounts ((coalesce(suspended_until, 'infinity')), id);
create index accounts_delete_at_order_idx
  on public.accounts ((coalesce(delete_at, 'infinity')), id);
-- The next four serve the daily figures. Messages are stored in the order in which they were sent, so a
-- BRIN index of a few pages is enough to find those of the last days.
create index properties_published_idx on public.properties (published_at)
  where published_at is not null;
create index payments_captured_idx on public.payments (captured_at) where captured_at is not null;
create index refunds_settled_idx on public.refunds (settled_at) where settled_at is not null;
create index messages_created_idx on public.messages using brin (created_at)
  with (autosummarize = on);
-- Listings are counted with an index-only scan of this index.
create index properties_status_idx on public.properties (status);
create index identities_status_idx on public.identities (status, type, account_id);
-- Finds the listings that wait for a review, oldest first, without reading all the others.
create index properties_await_review_idx on public.properties (created_at, id)
  where status = 'pending_review' or pending_changes is not null;
create index properties_await_review_price_idx
  on public.properties ((coalesce(price::numeric, '-Infinity')), id)
  where status = 'pending_review' or pending_changes is not null;
create index properties_await_review_name_idx
  on public.properties ((private.name_order(title_ar) collate "C"), id)
  where status = 'pending_review' or pending_changes is not null;
create index identities_await_verification_name_idx
  on public.identities ((private.name_order(display_name) collate "C"), id)
  where status = 'pending_verification' or pending_changes is not null;
create index identities_await_verification_idx on public.identities (created_at, id)
  where status = 'pending_verification' or pending_changes is not null;
