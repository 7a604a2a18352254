create function private.wallet_of(identity_id uuid, part text default 'available') returns uuid
  language plpgsql
  security definer -- adds the wallet if it is missing
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

create function private.system_account(name text) returns uuid
  language sql stable
  security definer -- reads a system account, which no client may read
  set search_path = ''
as $$
  select wallets.id from public.wallets where wallets.system_account = system_account.name
$$;

create function private.move_money(
  from_wallet uuid, to_wallet uuid, amount numeric,
  kind text, source_kind text, source_id uuid, invoice_id uuid default null,
  missing_from uuid default null
) returns uuid
  language plpgsql
  security definer -- writes the ledger, which no client may write
  set search_path = ''
as $$
declare
    made uuid := gen_random_uuid();
  available numeric;
begin
  if amount is null or amount <= 0 or amount <> round(amount, 3) then
    perform private.refuse(422, 'amount_out_of_range');
  end if;
  -- Wallets are locked in the order of their ids, so that two transfers cannot deadlock.
  perform from public.wallets
  where wallets.id in (from_wallet, to_wallet) and wallets.system_account is null
  order by wallets.id
  for no key update;
  select wallets.balance into available from public.wallets
  where wallets.id = from_wallet and wallets.system_account is null;
  if available < amount and missing_from is null then
    perform private.refuse(402, 'wallet_insufficient');
  end if;
  available := least(available, amount); -- available is null for a system account, which pays the full amount
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
  'The only function that moves money between wallets. missing_from is a system account that pays '
  'whatever from_wallet lacks.';
