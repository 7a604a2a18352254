-- A double-entry ledger: the entries of a transfer sum to zero and never change. Triggers enforce
-- this even for the owner of the tables. When money enters or leaves a wallet, the other entry
-- belongs to a system account.

create table public.wallets (
  id uuid primary key default gen_random_uuid(),
  identity_id uuid references public.identities (id),
  part text not null
    constraint wallets_part_is_known check (part in ('available', 'held', 'system')),
  system_account text constraint wallets_system_account_key unique,
  balance numeric not null default 0,
  created_at timestamptz not null default now(),
  constraint wallets_belongs_to_one check ((part = 'system') = (identity_id is null)),
  constraint wallets_system_account_is_named
    check ((part = 'system') = (system_account is not null)),
  constraint wallets_balance_has_three_decimals check (balance = round(balance, 3)),
  -- NaN is larger than any number in Postgres, so the upper bound excludes it.
  constraint wallets_never_below_zero check (balance >= 0 and balance <= 99999999999.999),
  constraint wallets_system_account_keeps_no_balance
    check (system_account is null or balance = 0),
  constraint wallets_identity_key unique (identity_id, part)
);
comment on table public.wallets is
  'Wallets of identities, and system accounts. Never purged: financial records.';
comment on column public.wallets.part is
  'held: money that is being refunded to its source and cannot be spent.';
comment on column public.wallets.system_account is
  'provider: money captured by payment providers; sales: money spent on purchases; adjustments: '
  'forfeits, payouts that were made and uncovered refunds; payouts: money owed to deleted or '
  'banned accounts.';
comment on column public.wallets.balance is
  'In KWD. The balance of a system account stays 0, because otherwise every payment would wait for '
  'a lock on its row.';

create table public.wallet_transfers (
  id uuid primary key default gen_random_uuid(),
  kind text not null constraint wallet_transfers_kind_is_known check (kind in (
    'topup', 'payment', 'purchase', 'refund', 'hold', 'release', 'adjustment', 'forfeit', 'payout'
  )),
  source_kind text not null constraint wallet_transfers_source_kind_is_known
    check (source_kind in (
      'charge', 'purchase', 'refund', 'hold', 'release', 'adjustment', 'forfeit', 'payout'
    )),
  source_id uuid not null,
  invoice_id uuid,
  created_at timestamptz not null default now(),
  constraint wallet_transfers_one_per_source_key unique (source_kind, source_id)
);
comment on table public.wallet_transfers is
  'Movements of money, at most one per source. Never purged: financial records.';
comment on column public.wallet_transfers.kind is
  'forfeit: money given up or written off; payout: money owed or paid out for a deleted or '
  'banned account.';
comment on column public.wallet_transfers.source_id is
  'The id of what caused the transfer. For a forfeit or payout, the id of a row of wallet_payouts '
  'or, if a wallet is emptied, a new id.';
create index wallet_transfers_invoice_idx on public.wallet_transfers (invoice_id);

create table public.wallet_entries (
  id bigint generated always as identity primary key,
  transfer_id uuid not null references public.wallet_transfers (id),
  wallet_id uuid not null references public.wallets (id),
  amount numeric not null,
  balance_after numeric,
  created_at timestamptz not null default now(),
  constraint wallet_entries_amount_has_three_decimals check (amount = round(amount, 3)),
  constraint wallet_entries_amount_range
    check (amount <> 0 and amount between -99999999999.999 and 99999999999.999)
);
comment on table public.wallet_entries is
  'The entries of transfers, one per wallet. Never purged: financial records.';
comment on column public.wallet_entries.amount is
  'In KWD; positive for money that goes into the wallet.';
comment on column public.wallet_entries.balance_after is
  'The wallet''s balance after the entry; null for a system account.';
create index wallet_entries_transfer_idx on public.wallet_entries (transfer_id);
create index wallet_entries_wallet_idx on public.wallet_entries (wallet_id, id desc);

alter table public.wallets enable row level security;
alter table public.wallet_transfers enable row level security;
alter table public.wallet_entries enable row level security;
revoke all on public.wallets, public.wallet_transfers, public.wallet_entries
  from anon, authenticated, service_role;
grant select on public.wallets, public.wallet_transfers, public.wallet_entries
  to authenticated, acting, service_role;
create policy "identities see their own wallet" on public.wallets
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
create policy "identities see their own entries" on public.wallet_entries
  for select to authenticated, acting
  using (exists (
    select from public.wallets
    where wallets.id = wallet_entries.wallet_id
      and wallets.identity_id = (select private.identity_id())
  ));
create policy "identities see transfers of their own entries" on public.wallet_transfers
  for select to authenticated, acting
  using (exists (
    select from public.wallet_entries
    join public.wallets on wallets.id = wallet_entries.wallet_id
    where wallet_entries.transfer_id = wallet_transfers.id
      and wallets.identity_id = (select private.identity_id())
  ));

create table private.recounts (
  name text primary key,
  last_wallet_id uuid not null
);
comment on table private.recounts is 'The progress of recount_wallets. Never purged: one row.';
alter table private.recounts enable row level security;
create policy "nobody but functions of their owner" on private.recounts using (false);
