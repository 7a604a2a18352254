create table public.claims (
  item_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  claimed_at timestamptz not null default clock_timestamp()
);
comment on table public.claims is
  'Which administrator looks at an item of the queue, for 15 minutes: a sign, and no lock. Cleaned by '
  'private.purge_claims.';
comment on column public.claims.item_id is
  'The id of the listing, identity, report, pair or payout.';
create index claims_account_idx on public.claims (account_id);
create index claims_claimed_idx on public.claims (claimed_at);
alter table public.claims enable row level security;
revoke all on public.claims from anon, authenticated, service_role;
