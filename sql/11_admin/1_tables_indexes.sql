-- Indexes on tables of other areas that only the lists of admins need.

create index accounts_newest_idx on public.accounts (created_at desc, id desc);
create index accounts_status_idx on public.accounts (status, created_at desc, id desc);
create index accounts_email_parts_idx
  on public.accounts using gin (email extensions.gin_trgm_ops);
create index accounts_phone_parts_idx
  on public.accounts using gin (phone extensions.gin_trgm_ops);
create index identities_name_parts_idx on public.identities
  using gin ((private.search_text(display_name)) extensions.gin_trgm_ops);
create index identities_type_idx on public.identities (type, account_id) where type <> 'individual';
create index individual_profiles_name_idx
  on public.individual_profiles ((coalesce(full_name, '')), account_id);
-- Counted over an index alone, not over whole listings.
create index properties_status_idx on public.properties (status);
create index identities_status_idx on public.identities (status, type);
-- The oldest first, without reading the many that wait for nothing.
create index properties_await_review_idx on public.properties (created_at, id)
  where status = 'pending_review' or pending_changes is not null;
create index identities_await_verification_idx on public.identities (created_at, id)
  where status = 'pending_verification';
