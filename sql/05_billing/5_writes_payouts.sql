create function private.return_to_payments(
  account public.accounts, identity_id uuid, amount numeric, reason text,
  not_before timestamptz default null
) returns void
  language plpgsql
  security definer -- writes refunds of an account that the caller has locked
  set search_path = ''
as $$
declare
  paid record;
  part numeric;
  left_over numeric := amount;
  payout public.wallet_payouts;
begin
  payout.account_id := account.id;
  payout.identity_id := return_to_payments.identity_id;
  payout.not_before := return_to_payments.not_before;
  select individual_profiles.full_name into payout.name from public.individual_profiles
  where individual_profiles.account_id = account.id;
  payout.phone := account.phone;
  payout.email := case when account.email_proven then account.email end;
  payout.created_at := now();
  for paid in
    select invoices, payments
    from public.invoices
    join public.payments on payments.invoice_id = invoices.id
    where invoices.identity_id = return_to_payments.identity_id
      and payments.captured_at is not null and private.went_to_wallet(invoices, payments)
    order by payments.captured_at desc, payments.id
  loop
    exit when left_over = 0;
    part := least(left_over, case (paid.payments).state
      when 'surplus' then private.surplus_room(paid.payments)
      else private.refund_room(paid.invoices) end);
    continue when part = 0;
    payout.id := gen_random_uuid();
    payout.amount := part;
    payout.state := 'at_provider';
    insert into public.refunds (id, invoice_id, payment_id, destination, amount, reason)
    values (payout.id, (paid.invoices).id, (paid.payments).id, 'source', part,
      return_to_payments.reason);
    insert into public.wallet_payouts select payout.*;
    left_over := left_over - part;
  end loop;
  if left_over > 0 then
    payout.id := gen_random_uuid();
    payout.amount := left_over;
    payout.state := 'open';
    insert into public.wallet_payouts select payout.*;
  end if;
end
$$;
comment on function private.return_to_payments is
  'Requests refunds of the identity''s payments, newest first, each up to the amount not yet '
  'refunded. An admin decides about the rest.';

create function private.chargeable_until(account_id uuid) returns timestamptz
  language sql stable
  security definer -- reads payments of an account that the caller has locked
  set search_path = ''
as $$
  select max(payments.captured_at) + interval '120 days'
  from public.payments
  join public.invoices on invoices.id = payments.invoice_id
  where invoices.account_id = chargeable_until.account_id
$$;
comment on function private.chargeable_until is
  'When the latest payment of an account can no longer be charged back, which is after 120 days.';

create function private.settle_wallets(account public.accounts, money text, identity_id uuid)
  returns void
  language plpgsql
  security definer -- moves money of an account or identity that the caller is ending
  set search_path = ''
as $$
declare
  given_up numeric := case money when 'give_up' then private.most_given_up() else 0 end;
  wallet record;
  part numeric;
begin
  -- Payments, refunds and purchases lock the account first, so they wait for this transaction.
  for wallet in
    select wallets.id, wallets.identity_id, wallets.balance
    from public.wallets
    join public.identities on identities.id = wallets.identity_id
    where identities.account_id = account.id and wallets.part = 'available' and wallets.balance > 0
      and identities.id = coalesce(settle_wallets.identity_id, identities.id)
    order by wallets.id
    for no key update of wallets
  loop
    part := least(wallet.balance, given_up);
    given_up := given_up - part;
    if part > 0 then
      perform private.move_money(wallet.id, private.system_account('adjustments'), part,
        'forfeit', 'forfeit', gen_random_uuid());
    end if;
    if wallet.balance > part then
      perform private.move_money(wallet.id, private.system_account('payouts'),
        wallet.balance - part, 'payout', 'payout', gen_random_uuid());
      perform private.return_to_payments(account, wallet.identity_id, wallet.balance - part,
        case when identity_id is null then 'account deleted' else 'identity closed' end,
        case when account.status = 'banned' then private.chargeable_until(account.id) end);
    end if;
  end loop;
end
$$;
comment on function private.settle_wallets is
  'Empties the wallets of an account, or of one identity. money is the owner''s choice: refund or '
  'give_up. With give_up, the owner forfeits at most private.most_given_up, and the rest is '
  'refunded.';

create function private.settle_deleted_account() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.settle_wallets(old, old.money_at_deletion, null);
  return null;
end
$$;
comment on function private.settle_deleted_account is 'Empties the wallets of a deleted account.';

create trigger accounts_leave_no_money
  after update of status on public.accounts
  for each row when (
    new.status = 'deleted' and old.status <> 'deleted' and old.money_at_deletion is not null
  )
  execute function private.settle_deleted_account();

create function private.empty_banned_wallets(account public.accounts) returns void
  language plpgsql
  security definer -- moves money of an account that the caller has locked
  set search_path = ''
as $$
declare
  wallet record;
begin
  for wallet in
    select wallets.id, wallets.identity_id, wallets.balance
    from public.wallets
    join public.identities on identities.id = wallets.identity_id
    where identities.account_id = account.id and wallets.part = 'available' and wallets.balance > 0
    order by wallets.id
    for no key update of wallets
  loop
    perform private.move_money(wallet.id, private.system_account('payouts'), wallet.balance,
      'payout', 'payout', gen_random_uuid());
    perform private.return_to_payments(account, wallet.identity_id, wallet.balance,
      'account banned', private.chargeable_until(account.id));
  end loop;
end
$$;
comment on function private.empty_banned_wallets is
  'Empties the wallets of a banned account by requesting refunds. An admin decides about the rest, '
  'at the earliest 120 days after the latest payment.';

create function private.end_payout(payout_id uuid, state text, note text default null) returns void
  language sql
  security definer -- writes a row that the caller has locked
  set search_path = ''
as $$
  update public.wallet_payouts
  set state = end_payout.state, note = end_payout.note, decided_at = now(),
      name = null, phone = null, email = null
  where wallet_payouts.id = payout_id
$$;

create function private.lock_payouts(account_id uuid) returns void
  language plpgsql
  security definer -- locks payouts, which no client may read
  set search_path = ''
as $$
begin
  perform from public.wallet_payouts where wallet_payouts.account_id = lock_payouts.account_id
  order by wallet_payouts.id for no key update;
end
$$;
comment on function private.lock_payouts is
  'Locks all payouts of the account, because a refund of one payment may reduce the payout of '
  'another.';

create function private.return_payouts(payment public.payments, identity_id uuid, amount numeric)
  returns void
  language plpgsql
  security definer -- moves money owed to a deleted account; the caller has locked the invoice
  set search_path = ''
as $$
declare
  owner_id constant uuid := (
    select identities.account_id from public.identities
    where identities.id = return_payouts.identity_id
  );
  payout public.wallet_payouts;
  part numeric;
  left_over numeric := amount;
begin
  perform private.lock_payouts(owner_id);
  for payout in
    select wallet_payouts.* from public.wallet_payouts
    left join public.refunds on refunds.id = wallet_payouts.id
    where wallet_payouts.state = 'open'
      and wallet_payouts.account_id = owner_id
    order by refunds.payment_id is not distinct from payment.id desc, wallet_payouts.created_at,
      wallet_payouts.id
  loop
    exit when left_over = 0;
    part := least(payout.amount, left_over);
    left_over := left_over - part;
    if part < payout.amount then
      update public.wallet_payouts set amount = payout.amount - part
      where wallet_payouts.id = payout.id;
      payout.id := gen_random_uuid();
      insert into public.wallet_payouts (id, account_id, amount, state)
      values (payout.id, payout.account_id, part, 'open');
    end if;
    perform private.move_money(private.system_account('payouts'),
      private.wallet_of(return_payouts.identity_id), part, 'payout', 'payout', payout.id);
    perform private.end_payout(payout.id, 'refunded');
  end loop;
end
$$;
comment on function private.return_payouts is
  'After a refund made at the provider, moves its amount from the open payouts to the wallet, '
  'starting with the payout of the same payment.';

create function private.take_back_payouts(account_id uuid) returns void
  language plpgsql
  security definer -- moves money back to wallets; the caller has locked the account
  set search_path = ''
as $$
declare
  payout public.wallet_payouts;
begin
  if not exists (
    select from public.accounts
    where accounts.id = take_back_payouts.account_id and accounts.status in ('active', 'suspended')
  ) then
    return;
  end if;
  perform private.lock_payouts(account_id);
  for payout in
    select wallet_payouts.* from public.wallet_payouts
    join public.identities on identities.id = wallet_payouts.identity_id
    where wallet_payouts.account_id = take_back_payouts.account_id
      and wallet_payouts.state = 'open' and identities.status <> 'closed'
    order by wallet_payouts.id
  loop
    perform private.move_money(private.system_account('payouts'),
      private.wallet_of(payout.identity_id), payout.amount, 'payout', 'payout', payout.id);
    perform private.end_payout(payout.id, 'returned');
  end loop;
end
$$;
comment on function private.take_back_payouts is
  'Moves the open payouts of an account back to its wallets, once the account is no longer banned.';

create function private.on_lifted_ban() returns trigger
  language plpgsql
  security definer -- moves money, whichever role lifts the ban
  set search_path = ''
as $$
begin
  perform private.take_back_payouts(new.id);
  return null;
end
$$;
comment on function private.on_lifted_ban is
  'Moves the open payouts back to the wallets when a ban is lifted.';

create trigger accounts_get_their_money_back
  after update of status on public.accounts
  for each row when (old.status = 'banned' and new.status <> 'banned')
  execute function private.on_lifted_ban();

create function private.decide_payout(payout public.wallet_payouts, state text, note text) returns void
  language plpgsql
  security definer -- moves money owed to a deleted account, for an admin
  set search_path = ''
as $$
declare
  kind constant text := case state when 'paid_out' then 'payout' else 'forfeit' end;
begin
  perform private.move_money(private.system_account('payouts'),
    private.system_account('adjustments'), payout.amount, kind, kind, payout.id);
  perform private.end_payout(payout.id, state, note);
end
$$;
