create function private.refuse_obligations(account_id uuid, money text, identity_id uuid)
  returns void
  language plpgsql stable security definer set search_path = ''
as $$
declare
  available constant numeric := private.available_money(account_id, identity_id);
  owed text[] := private.obligations(account_id, money, identity_id);
begin
  if money = 'give_up' and available > private.most_given_up() and not 'money' = any (owed) then
    owed := array_append(owed, 'money');
  end if;
  if owed <> '{}' then
    perform private.refuse(409, 'account_has_obligations',
      jsonb_build_object('obligations', owed, 'available', available));
  end if;
end
$$;

create function private.request_deletion(account_id uuid, money text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  due timestamptz;
begin
  perform private.refuse_obligations(account_id, money, null);
  -- The update of the account deletes its sessions, so they are locked here, before the account.
  perform private.lock_sessions(account_id);
  perform private.lock_account_exclusively(account_id);
  perform private.lock_admins_with(account_id);
  update public.accounts
  set delete_at = now() + interval '14 days', money_at_deletion = request_deletion.money
  where accounts.id = request_deletion.account_id and private.may_act(accounts)
  returning accounts.delete_at into due;
  return case when due is not null then jsonb_build_object('deleteAt', due) end;
end
$$;
comment on function private.request_deletion is
  'Schedules the deletion of an account in 14 days. money is the decision about the wallets: '
  'refund or give_up. 409 account_has_obligations, last_admin.';

create function private.request_closing(account_id uuid, identity_id uuid, money text default null)
  returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_account_exclusively(account_id);
  identity public.identities;
begin
  if not private.may_act(account) then
    return null;
  end if;
  select * into identity from public.identities
  where identities.account_id = account.id and identities.id = request_closing.identity_id
    and identities.type <> 'individual' and identities.status <> 'closed';
  if identity.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif identity.status = 'suspended' or identity.status <> 'closing' and exists (
    select from public.reports
    where reports.reported_identity_id = identity.id and reports.status = 'open'
  ) then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
  -- A repeated request keeps the date of the first, but may change the decision about the money.
  money := coalesce(money, identity.money_at_close);
  perform private.refuse_obligations(account.id, money, identity.id);
  update public.identities
  set status = 'closing', closes_from = coalesce(identity.closes_from, identity.status),
      close_at = coalesce(identity.close_at, now() + interval '14 days'),
      money_at_close = request_closing.money
  where identities.id = identity.id
  returning * into identity;
  return jsonb_build_object('closeAt', identity.close_at, 'loses', (
    select jsonb_build_object(
      'plan', (array_agg(plans.code order by subscriptions.status))[1],
      'endsAt', max(subscriptions.ends_at))
    from public.subscriptions
    join public.plans on plans.id = subscriptions.plan_id
    where subscriptions.identity_id = identity.id and subscriptions.status in ('active', 'next')
    having count(*) > 0
  ));
end
$$;
comment on function private.request_closing is
  'Hides a company or office and schedules its closing in 14 days. money is the decision about its '
  'wallet. Returns the plan that will be lost without a refund. 404 identity_not_found, 409 '
  'account_has_obligations, status_transition_invalid if the identity is suspended or reported.';

create function private.cancel_closing(identity_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.lock_caller_exclusively();
  identity public.identities;
begin
  select * into identity from public.identities
  where identities.account_id = caller_id and identities.id = cancel_closing.identity_id
    and identities.type <> 'individual' and identities.status <> 'closed';
  if identity.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif identity.status = 'closing' then
    update public.identities
    set status = case when identity.closes_from = 'active' and (
        select private.licence_is_over(organisations) from public.organisations
        where organisations.identity_id = identity.id
      ) then 'expired' else identity.closes_from end
    where identities.id = identity.id;
  end if;
end
$$;

create function api.cancel_closing(identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('profile');
  perform private.cancel_closing(cancel_closing.identity_id);
end
$$;
comment on function api.cancel_closing is
  'Cancels the closing of one of the caller''s companies or offices within the 14 days. 404 '
  'identity_not_found, 409 licence_in_use if another company or office has been verified with its '
  'licence in the meantime.';

grant execute on function private.request_deletion, private.request_closing to backend;
grant execute on function private.cancel_closing, api.cancel_closing to authenticated;
