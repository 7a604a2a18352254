-- The system account payouts holds the money of deleted and banned accounts until it is refunded,
-- paid out, written off or returned. Each amount has a row in wallet_payouts.

create table public.wallet_payouts (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id),
  amount private.kwd not null constraint wallet_payouts_amount_is_positive check (amount > 0),
  state text not null constraint wallet_payouts_state_is_known
    check (state in ('at_provider', 'open', 'refunded', 'paid_out', 'written_off', 'returned')),
  name text,
  phone text,
  email text,
  note text constraint wallet_payouts_note_length check (char_length(note) between 1 and 500),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  identity_id uuid references public.identities (id),
  not_before timestamptz,
  constraint wallet_payouts_decided_tells_when
    check ((state in ('at_provider', 'open')) = (decided_at is null)),
  constraint wallet_payouts_decided_names_nobody
    check (decided_at is null or num_nonnulls(name, phone, email) = 0)
);
comment on table public.wallet_payouts is
  'Money owed to a deleted or banned account: one row for each payment that is refunded, and one '
  'for the remaining amount. Personal data is removed after 180 days at the latest. Never purged: '
  'financial records.';
comment on column public.wallet_payouts.id is 'Also the id of the refund, if there is one.';
comment on column public.wallet_payouts.state is
  'at_provider: a refund was requested; open: an admin has to decide; returned: the ban was lifted '
  'and the money went back to the wallet.';
comment on column public.wallet_payouts.identity_id is
  'The identity whose wallet gets the money back if a ban is lifted; null for an amount that was '
  'refunded at the provider.';
comment on column public.wallet_payouts.not_before is
  'The earliest time for an admin''s decision. For a banned account, this is 120 days after its '
  'latest payment, which can be charged back until then.';
comment on column public.wallet_payouts.note is
  'The reference of the bank transfer, or the reason for the write-off.';
create index wallet_payouts_account_idx on public.wallet_payouts (account_id);
create index wallet_payouts_identity_idx on public.wallet_payouts (identity_id);
create index wallet_payouts_created_idx on public.wallet_payouts (created_at, id)
  where state in ('at_provider', 'open');
create index wallet_payouts_name_idx on public.wallet_payouts ((private.name_order(name) collate "C"), id)
  where state in ('at_provider', 'open');
create trigger wallet_payouts_stay
  before delete or truncate on public.wallet_payouts
  for each statement execute function private.refuse_rewriting();
alter table public.wallet_payouts enable row level security;
revoke all on public.wallet_payouts from anon, authenticated, service_role;
grant select on public.wallet_payouts to service_role;
