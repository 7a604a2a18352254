-- The wallet: a ledger in double entry.
--
-- Money moves by transfers whose entries sum to zero. Entries are only added; a balance is the sum
-- of its wallet's entries and never below zero. The table holds all of it by itself: no role, not
-- even the owner, can write it otherwise. Houses are the other side: what stands at the payment
-- provider, what was sold.

create table public.wallets (
  id uuid primary key default gen_random_uuid(),
  identity_id uuid references public.identities (id),
  part text not null
    constraint wallets_part_is_known check (part in ('available', 'held', 'house')),
  house text constraint wallets_house_key unique,
  balance numeric not null default 0,
  created_at timestamptz not null default now(),
  constraint wallets_belongs_to_one check ((part = 'house') = (identity_id is null)),
  constraint wallets_house_has_a_name check ((part = 'house') = (house is not null)),
  constraint wallets_balance_has_three_decimals check (balance = round(balance, 3)),
  -- NaN counts as larger than any number, so the upper bound keeps it out.
  constraint wallets_never_below_zero check (balance >= 0 and balance <= 99999999999.999),
  constraint wallets_house_keeps_no_balance check (part <> 'house' or balance = 0),
  constraint wallets_identity_key unique (identity_id, part)
);
comment on table public.wallets is
  'The money of an identity: what it may spend and what is held back; and the houses opposite.';
comment on column public.wallets.id is 'Named by entries.';
comment on column public.wallets.identity_id is 'Whose; null for a house.';
comment on column public.wallets.part is
  'available, held (being paid back to its source), or house.';
comment on column public.wallets.house is
  'provider: taken by the payment provider; sales: for plans; adjustments: by an admin.';
comment on column public.wallets.balance is
  'KWD: the sum of its entries, kept with each of them. A house keeps none: every payment would '
  'wait for that one row.';
comment on column public.wallets.created_at is 'When it was made.';

create table public.wallet_transfers (
  id uuid primary key default gen_random_uuid(),
  kind text not null constraint wallet_transfers_kind_is_known check (kind in (
    'topup', 'payment', 'purchase', 'refund', 'hold', 'release', 'adjustment'
  )),
  source_kind text not null constraint wallet_transfers_source_kind_is_known
    check (source_kind in ('charge', 'purchase', 'refund', 'hold', 'release', 'adjustment')),
  source_id uuid not null,
  invoice_id uuid,
  created_at timestamptz not null default now(),
  constraint wallet_transfers_one_per_source_key unique (source_kind, source_id)
);
comment on table public.wallet_transfers is 'One movement of money, once for its source.';
comment on column public.wallet_transfers.id is 'Its id.';
comment on column public.wallet_transfers.kind is
  'topup (of a wallet), payment (of an invoice by card), purchase (from the wallet), refund, hold, '
  'release, adjustment (by an admin).';
comment on column public.wallet_transfers.source_kind is 'What caused it.';
comment on column public.wallet_transfers.source_id is
  'The payment, invoice, refund or decision that caused it.';
comment on column public.wallet_transfers.invoice_id is 'The invoice that it is about.';
comment on column public.wallet_transfers.created_at is 'When.';
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
  'One side of a transfer. Added, never changed: of each transfer they sum to zero.';
comment on column public.wallet_entries.id is 'Order of the entries.';
comment on column public.wallet_entries.transfer_id is 'Of which transfer.';
comment on column public.wallet_entries.wallet_id is 'On which wallet.';
comment on column public.wallet_entries.amount is 'KWD; above zero comes in, below goes out.';
comment on column public.wallet_entries.balance_after is
  'What the wallet held afterwards; null for a house.';
comment on column public.wallet_entries.created_at is 'When.';
create index wallet_entries_transfer_idx on public.wallet_entries (transfer_id);
create index wallet_entries_wallet_idx on public.wallet_entries (wallet_id, id desc);

-- What the ledger holds by itself ---------------------------------------------------------------

create function private.keep_balance() returns trigger
  language plpgsql
  security definer -- writes the balance, which nobody else can
  set search_path = ''
as $$
begin
  update public.wallets set balance = wallets.balance + new.amount
  where wallets.id = new.wallet_id and wallets.part <> 'house'
  returning wallets.balance into new.balance_after;
  return new;
end
$$;
comment on function private.keep_balance is 'Keeps wallets.balance with each entry.';

create trigger wallet_entries_keep_the_balance
  before insert on public.wallet_entries
  for each row execute function private.keep_balance();

create function private.check_transfers() returns trigger
  language plpgsql
  security definer -- looks at entries that row security hides from the caller
  set search_path = ''
as $$
begin
  if exists (
    select from added group by added.transfer_id having sum(added.amount) <> 0
  ) then
    raise exception 'the entries of a transfer sum to zero'
      using errcode = '23514', constraint = 'wallet_entries_sum_to_zero';
  end if;
  return null;
end
$$;
comment on function private.check_transfers is
  'Both sides of a transfer are written in one statement, or neither.';

create trigger wallet_entries_sum_to_zero
  after insert on public.wallet_entries
  referencing new table as added
  for each statement execute function private.check_transfers();

create trigger wallet_entries_are_only_added
  before update or delete or truncate on public.wallet_entries
  for each statement execute function private.refuse_rewriting();
create trigger wallet_transfers_are_only_added
  before update or delete or truncate on public.wallet_transfers
  for each statement execute function private.refuse_rewriting();
create trigger wallets_stay
  before delete or truncate on public.wallets
  for each statement execute function private.refuse_rewriting();

create function private.guard_wallet() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  -- One deeper than a plain update: the entry's own trigger is doing it.
  if pg_trigger_depth() < 2 or (new.id, new.part) is distinct from (old.id, old.part)
    or new.identity_id is distinct from old.identity_id or new.house is distinct from old.house then
    raise exception 'a wallet changes by its entries only' using errcode = '42501';
  end if;
  return new;
end
$$;
comment on function private.guard_wallet is 'Nothing but an entry changes a balance.';

create trigger wallets_change_by_entries
  before update on public.wallets
  for each row execute function private.guard_wallet();

create function private.begin_empty() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.balance := 0;
  return new;
end
$$;
comment on function private.begin_empty is 'A new wallet holds nothing.';

create trigger wallets_begin_empty
  before insert on public.wallets
  for each row execute function private.begin_empty();

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

-- Moving money -----------------------------------------------------------------------------------

create function private.wallet_of(identity_id uuid, part text default 'available') returns uuid
  language plpgsql
  security definer -- makes a wallet where there is none yet
  set search_path = ''
as $$
declare
  wallet_id uuid;
begin
  select wallets.id into wallet_id from public.wallets
  where wallets.identity_id = wallet_of.identity_id and wallets.part = wallet_of.part;
  if wallet_id is null then
    insert into public.wallets (identity_id, part) values (wallet_of.identity_id, wallet_of.part)
    on conflict do nothing;
    select wallets.id into wallet_id from public.wallets
    where wallets.identity_id = wallet_of.identity_id and wallets.part = wallet_of.part;
  end if;
  return wallet_id;
end
$$;
comment on function private.wallet_of is
  'A part of an identity''s wallet, made when it is missing.';

create function private.house(name text) returns uuid
  language sql
  stable
  security definer -- houses are nobody's to see
  set search_path = ''
as $$
  select wallets.id from public.wallets where wallets.house = house.name
$$;
comment on function private.house is 'The wallet of a house.';

create function private.move_money(
  from_wallet uuid, to_wallet uuid, amount numeric,
  kind text, source_kind text, source_id uuid, invoice_id uuid default null,
  missing_from uuid default null
) returns uuid
  language plpgsql
  security definer -- writes the ledger for functions that have decided it
  set search_path = ''
as $$
declare
  -- Named apart from the columns that they fill.
  made uuid := gen_random_uuid();
  available numeric;
begin
  if amount is null or amount <= 0 or amount <> round(amount, 3) then
    perform private.refuse(422, 'amount_out_of_range');
  end if;
  -- One order for everybody, so that no two transfers wait for each other.
  perform from public.wallets
  where wallets.id in (from_wallet, to_wallet) and wallets.part <> 'house'
  order by wallets.id
  for no key update;
  select wallets.balance into available from public.wallets
  where wallets.id = from_wallet and wallets.part <> 'house';
  if available < amount and missing_from is null then
    perform private.refuse(402, 'wallet_insufficient');
  end if;
  available := least(available, amount); -- of a house: all of it
  insert into public.wallet_transfers (id, kind, source_kind, source_id, invoice_id)
  values (made, move_money.kind, move_money.source_kind, move_money.source_id,
    move_money.invoice_id);
  insert into public.wallet_entries (transfer_id, wallet_id, amount)
  select made, side.wallet_id, side.amount
  from (values
    (from_wallet, -available),
    (missing_from, available - move_money.amount),
    (to_wallet, move_money.amount)
  ) as side (wallet_id, amount)
  where side.amount <> 0;
  return made;
end
$$;
comment on function private.move_money is
  'The one way in which money moves: a transfer, once for its source. 402 wallet_insufficient, '
  'unless there is a house that gives what the wallet lacks.';

create function private.adjust_wallet(identity_id uuid, amount numeric, decision_id uuid)
  returns uuid
  language plpgsql
  security definer -- an admin's correction, by SQL or in Studio
  set search_path = ''
as $$
declare
  wallet_id uuid := private.wallet_of(identity_id);
  other_side uuid := private.house('adjustments');
begin
  if amount < 0 then
    return private.move_money(
      wallet_id, other_side, -amount, 'adjustment', 'adjustment', decision_id);
  end if;
  return private.move_money(
    other_side, wallet_id, amount, 'adjustment', 'adjustment', decision_id);
end
$$;
comment on function private.adjust_wallet is
  'An admin gives or takes an amount, once for each decision.';

-- Reading ----------------------------------------------------------------------------------------

create function private.get_wallet() returns json
  language plpgsql
  stable
  security definer -- one that was never used has no row yet; shows the caller's own only
  set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  return (
    select json_build_object(
      'available', coalesce(sum(wallets.balance) filter (where wallets.part = 'available'), 0.000),
      'held', coalesce(sum(wallets.balance) filter (where wallets.part = 'held'), 0.000),
      'currency', 'KWD')
    from public.wallets
    where wallets.identity_id = owner_id
  );
end
$$;
comment on function private.get_wallet is 'The caller''s wallet; see api.get_wallet.';

create function api.get_wallet() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_wallet();
end
$$;
comment on function api.get_wallet is
  'What the acting identity may spend, and what is held while it is paid back to its source.';

create function private.list_wallet_transactions(page_cursor text, page_size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- counts rows as the pages of every list do; the caller's own only
  set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  query text := 'list_wallet_transactions ' || owner_id;
  key jsonb := private.cursor_key(query, page_cursor);
  before_id bigint := coalesce((key ->> 0)::bigint, 9223372036854775807);
begin
  return query
  with page as materialized (
    select
      wallet_entries.id, wallet_entries.transfer_id, wallet_entries.amount,
      wallet_entries.balance_after, wallet_entries.created_at, wallets.part,
      row_number() over (order by wallet_entries.id desc) as place
    from public.wallet_entries
    join public.wallets on wallets.id = wallet_entries.wallet_id
    where wallets.identity_id = owner_id and wallet_entries.id < before_id
    order by wallet_entries.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'transferId', page.transfer_id,
      'kind', wallet_transfers.kind,
      'part', page.part,
      'amount', page.amount,
      'balanceAfter', page.balance_after,
      'currency', 'KWD',
      'invoiceId', wallet_transfers.invoice_id,
      'createdAt', page.created_at
    ) order by page.place) filter (where page.place <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.id) order by page.place)
        filter (where page.place >= page_size))
  from page
  join public.wallet_transfers on wallet_transfers.id = page.transfer_id;
end
$$;
comment on function private.list_wallet_transactions is
  'A page of the caller''s ledger; see api.list_wallet_transactions.';

create function api.list_wallet_transactions(
  page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select page.items, page."nextCursor"
  from private.list_wallet_transactions(page_cursor, page_size) as page;
end
$$;
comment on function api.list_wallet_transactions is
  'What came into and went out of the wallet of the acting identity, newest first.';

grant execute on function private.get_wallet, private.list_wallet_transactions to authenticated;
grant execute on function api.get_wallet, api.list_wallet_transactions to authenticated;
