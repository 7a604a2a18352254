create table public.item_claims (
  item_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  claimed_at timestamptz not null default clock_timestamp()
);
comment on table public.item_claims is
  'Which administrator is looking at which item of the queue. A claim lasts 15 minutes and is only '
  'a hint to other administrators: nothing is locked. Cleaned by private.purge_claims.';
comment on column public.item_claims.item_id is
  'The id of the listing, identity, report, pair of duplicates or payout.';
create index item_claims_account_idx on public.item_claims (account_id);
create index item_claims_claimed_idx on public.item_claims (claimed_at);
alter table public.item_claims enable row level security;
revoke all on public.item_claims from anon, authenticated, service_role;
