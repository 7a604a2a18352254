-- The wallet: a ledger in double entry.
--
-- Money moves by transfers whose entries sum to zero. Entries are only added; a balance is the sum
-- of its wallet's entries and never below zero. The tables enforce this themselves, against every
-- role and the owner too. System accounts are the other side: what the payment provider holds, what
-- was sold.

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
  -- NaN counts as larger than any number, so the upper bound keeps it out.
  constraint wallets_never_below_zero check (balance >= 0 and balance <= 99999999999.999),
  constraint wallets_system_account_keeps_no_balance
    check (system_account is null or balance = 0),
  constraint wallets_identity_key unique (identity_id, part)
);
comment on table public.wallets is
  'The money of an identity: what it may spend and what is held; and the system accounts '
  'opposite. Stays: books are kept.';
comment on column public.wallets.identity_id is 'Null for a system account.';
comment on column public.wallets.part is
  'available; held: being refunded to its source; system: a system account, of nobody.';
comment on column public.wallets.system_account is
  'provider: taken by the payment provider; sales: for plans; adjustments: by an admin; payouts: owed to '
  'people whose account is deleted.';
comment on column public.wallets.balance is
  'KWD: the sum of its entries, updated with each. System accounts keep none: every payment would '
  'wait for that one row.';

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
  'A movement of money, one for each source. Stays: books are kept.';
comment on column public.wallet_transfers.kind is
  'topup (of a wallet), payment (of an invoice by card), purchase (from the wallet), refund, hold, '
  'release, adjustment (by an admin), forfeit (given up, written off), payout (of a deleted account).';
comment on column public.wallet_transfers.source_id is
  'The payment, invoice, refund or decision that caused it; of a forfeit or payout its row of '
  'wallet_payouts, or the identity whose wallet is emptied.';
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
  'One side of a transfer. Never changed; those of a transfer sum to zero. Stays: books are kept.';
comment on column public.wallet_entries.amount is 'KWD; positive comes in, negative goes out.';
comment on column public.wallet_entries.balance_after is
  'What the wallet held afterwards; null for a system account.';
create index wallet_entries_transfer_idx on public.wallet_entries (transfer_id);
create index wallet_entries_wallet_idx on public.wallet_entries (wallet_id, id desc);

alter table public.wallets enable row level security;
alter table public.wallet_transfers enable row level security;
alter table public.wallet_entries enable row level security;
revoke all on public.wallets, public.wallet_transfers, public.wallet_entries
  from anon, authenticated, service_role;
grant select on public.wallets, public.wallet_transfers, public.wallet_entries
  to authenticated, service_role;
create policy "identities see their own wallet" on public.wallets for select to authenticated
  using (identity_id = (select private.identity_id()));
create policy "identities see their own entries" on public.wallet_entries
  for select to authenticated
  using (wallet_id in (
    select wallets.id from public.wallets
    where wallets.identity_id = (select private.identity_id())
  ));
create policy "identities see transfers of their own entries" on public.wallet_transfers
  for select to authenticated
  using (id in (
    select wallet_entries.transfer_id from public.wallet_entries
    join public.wallets on wallets.id = wallet_entries.wallet_id
    where wallets.identity_id = (select private.identity_id())
  ));

create table private.recounts (
  name text primary key,
  last_wallet_id uuid not null
);
comment on table private.recounts is 'How far the recount of wallets has come. Stays: one row.';
alter table private.recounts enable row level security;
create policy "nobody but functions of their owner" on private.recounts using (false);
