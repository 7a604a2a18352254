create function private.keep_balance() returns trigger
  language plpgsql
  security definer -- writes balances, which no client may write
  set search_path = ''
as $$
begin
  update public.wallets set balance = wallets.balance + new.amount
  where wallets.id = new.wallet_id and wallets.system_account is null
  returning wallets.balance into new.balance_after;
  return new;
end
$$;
comment on function private.keep_balance is 'Adds each new entry to the balance of its wallet.';

create trigger wallet_entries_keep_the_balance
  before insert on public.wallet_entries
  for each row execute function private.keep_balance();

create function private.check_transfers() returns trigger
  language plpgsql security definer set search_path = ''
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
  'Refuses a statement whose entries do not sum to zero for each transfer.';

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
  language plpgsql set search_path = ''
as $$
begin
  -- pg_trigger_depth() is 2 if the trigger of an entry updates the wallet, and 1 for a direct
  -- update.
  if pg_trigger_depth() < 2 or (new.id, new.part) is distinct from (old.id, old.part)
    or new.identity_id is distinct from old.identity_id
    or new.system_account is distinct from old.system_account then
    raise exception 'a wallet changes by its entries only' using errcode = '42501';
  end if;
  return new;
end
$$;
comment on function private.guard_wallet is
  'Refuses all changes of a wallet, except for a change of its balance by a new entry.';

create trigger wallets_change_by_entries
  before update on public.wallets
  for each row execute function private.guard_wallet();

create function private.start_at_zero() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.balance := 0;
  return new;
end
$$;
comment on function private.start_at_zero is 'Sets the balance of a new wallet to zero.';

create trigger wallets_begin_empty
  before insert on public.wallets
  for each row execute function private.start_at_zero();
