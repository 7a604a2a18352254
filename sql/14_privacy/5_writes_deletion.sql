create function private.request_deletion(account_id uuid, money text default null) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  available constant numeric := private.available_money(account_id);
  owed text[] := private.obligations(account_id, money);
  due timestamptz;
begin
  if money = 'give_up' and available > private.most_given_up() and not 'money' = any (owed) then
    owed := array_append(owed, 'money');
  end if;
  if owed <> '{}' then
    perform private.refuse(409, 'account_has_obligations',
      jsonb_build_object('obligations', owed, 'available', available));
  end if;
  -- The change of the account deletes its sessions, so they are locked first.
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
  'Schedules the deletion of an account in 14 days. money decides about the wallets: refund or '
  'give_up. 409 account_has_obligations, last_admin.';

grant execute on function private.request_deletion to backend;
