create function private.delete_due_account(account_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  account public.accounts;
begin
  -- If a sign-in has locked the user, the account is skipped, because the sign-in cancels the deletion.
  perform from auth.users where users.id = delete_due_account.account_id for update skip locked;
  if not found or not exists (
    select from public.accounts
    where accounts.id = delete_due_account.account_id and accounts.delete_at is not null
  ) then
    return false;
  end if;
  perform private.lock_auth_user(account_id);
  account := private.lock_account_exclusively(account_id);
  if account.delete_at is null
    or private.obligations(account_id, account.money_at_deletion) <> '{}' then
    return false;
  end if;
  delete from auth.users where users.id = delete_due_account.account_id;
  return found;
end
$$;

create function private.delete_due_accounts() returns bigint
  language sql
  security definer -- deletes Auth users
  set search_path = ''
as $$
  select private.for_each('delete_due_account', array(
    select accounts.id::text from public.accounts
    where accounts.delete_at <= now()
      -- A payment that arrived after the request must be settled first.
      and private.obligations(accounts.id, accounts.money_at_deletion) = '{}'
      and not private.failed_recently('delete_due_account', accounts.id::text)
    order by accounts.delete_at
    limit 100
  ), true)
$$;
comment on function private.delete_due_accounts is
  'Job: deletes Auth users whose 14 days are over. Triggers anonymise their accounts.';

create function private.close_due_identity(identity_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  account public.accounts;
  identity public.identities;
begin
  select * into account from public.accounts
  where accounts.id = (
    select identities.account_id from public.identities
    where identities.id = close_due_identity.identity_id
  )
  for no key update skip locked;
  select * into identity from public.identities
  where identities.account_id = account.id and identities.id = close_due_identity.identity_id
    and identities.close_at <= now();
  if identity.id is null
    or private.obligations(account.id, identity.money_at_close, identity.id) <> '{}' then
    return false;
  end if;
  if identity.money_at_close is not null then
    perform private.settle_wallets(account, identity.money_at_close, identity.id);
  end if;
  update public.identities set status = 'closed' where identities.id = identity.id;
  return true;
end
$$;

create function private.close_due_identities() returns bigint
  language sql
  security definer -- closes other people's identities
  set search_path = ''
as $$
  select private.for_each('close_due_identity', array(
    select identities.id::text from public.identities
    where identities.close_at <= now()
      -- A payment that arrived after the request must be settled first.
      and private.obligations(identities.account_id, identities.money_at_close, identities.id) = '{}'
      and not private.failed_recently('close_due_identity', identities.id::text)
    order by identities.close_at
    limit 100
  ), true)
$$;
comment on function private.close_due_identities is
  'Job: closes companies and offices whose closing was requested 14 days ago.';

create function private.stopped_deletions()
  returns table (subject_id text, account_id uuid, due_at timestamptz, owed text[])
  language sql stable
  security definer -- reads accounts and identities of others
  rows 10
  set search_path = ''
as $$
  select due.* from (
    select accounts.id::text, accounts.id, accounts.delete_at,
      private.obligations(accounts.id, accounts.money_at_deletion)
    from public.accounts where accounts.delete_at <= now()
    union all
    select identities.id::text, identities.account_id, identities.close_at,
      private.obligations(identities.account_id, identities.money_at_close, identities.id)
    from public.identities where identities.close_at <= now()
  ) as due (subject_id, account_id, due_at, owed)
  where due.owed <> '{}'
$$;
comment on function private.stopped_deletions is
  'Accounts and identities whose deletion or closing is due but blocked by money or an auction.';

create function private.notify_of_stopped_deletion(subject_id text) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  due record;
  is_notified boolean;
begin
  select * into due from private.stopped_deletions() as stopped
  where stopped.subject_id = notify_of_stopped_deletion.subject_id;
  perform from public.accounts where accounts.id = due.account_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  -- If an alarm exists, another run has raised it and has already notified the owner, even if an admin
  -- settled it since.
  is_notified := exists (
    select from private.alarms
    where alarms.kind = 'deletion_stopped'
      and alarms.subject_id = due.subject_id and alarms.raised_at >= due.due_at
      and alarms.settled_note is distinct from 'nothing stops it any more'
  );
  perform private.raise_alarm('deletion_stopped', due.subject_id,
    jsonb_build_object('obligations', due.owed, 'deleteAt', due.due_at));
  if is_notified then
    return true;
  end if;
  if due.subject_id <> due.account_id::text then
    perform private.notify(due.account_id, null, 'system', null, jsonb_build_object('at', now(),
      'titleAr', 'لم تُغلق صفحتك',
      'bodyAr', case when 'money' = any (due.owed)
        then 'وصل مبلغ إلى محفظتها بعد أن طلبت إغلاقها. اطلب الإغلاق من جديد واختر ما يُفعل بالمبلغ'
        else 'لها مزاد لم ينتهِ بعد. تُغلق بعد انتهائه' end,
      'titleEn', 'Your page was not closed',
      'bodyEn', case when 'money' = any (due.owed)
        then 'Money came to its wallet after you had asked for the closing. Ask for it again and say '
          'what is to be done with the money'
        else 'It has an auction that is not over. It is closed after that' end));
    return true;
  end if;
  perform private.notify(due.account_id, null, 'system', null, jsonb_build_object('at', now(),
    'titleAr', 'لم يُحذف حسابك',
    'bodyAr', case when 'money' = any (due.owed)
      then 'وصل مبلغ إلى محفظتك بعد أن طلبت حذف حسابك. اصرفه أو راسل الدعم لاسترداده، ثم اطلب الحذف '
        'من جديد'
      else 'لديك مزاد لم ينتهِ بعد. اطلب الحذف من جديد بعد انتهائه' end,
    'titleEn', 'Your account was not deleted',
    'bodyEn', case when 'money' = any (due.owed)
      then 'Money came to your wallet after you had asked for the deletion. Spend it or ask '
        'support to refund it, then ask for the deletion again'
      else 'You have an auction that is not over. Ask for the deletion again after it' end));
  return true;
end
$$;

create function private.notify_of_stopped_deletions() returns bigint
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.alarms set settled_at = now(), settled_note = 'nothing stops it any more'
  where alarms.kind = 'deletion_stopped' and alarms.settled_at is null and not exists (
    select from private.stopped_deletions() as stopped where stopped.subject_id = alarms.subject_id
  );
  return private.for_each('notify_of_stopped_deletion', array(
    select stopped.subject_id from private.stopped_deletions() as stopped
    where not exists (
        select from private.alarms
        where alarms.kind = 'deletion_stopped' and alarms.subject_id = stopped.subject_id
          and alarms.settled_at is null
      )
      and not private.failed_recently('notify_of_stopped_deletion', stopped.subject_id)
    order by stopped.due_at
    limit 100
  ));
end
$$;
comment on function private.notify_of_stopped_deletions is
  'Job: if money or an auction blocks a due deletion or closing, notifies the admins and the owner '
  'once.';

create function private.give_up_unreachable_account(account_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  owed constant text[] := private.obligations(account_id, null);
begin
  if owed = '{}' then
    perform private.request_deletion(account_id);
  else
    perform private.raise_alarm('unreachable_account', account_id::text,
      jsonb_build_object('obligations', owed));
  end if;
  return true;
end
$$;

create function private.give_up_unreachable_accounts() returns bigint
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.alarms set settled_at = now(), settled_note = 'it can be signed in to, or is deleted'
  where alarms.kind = 'unreachable_account' and alarms.settled_at is null and not exists (
    select from public.accounts
    where accounts.id::text = alarms.subject_id and accounts.unreachable_since is not null
  );
  return private.for_each('give_up_unreachable_account', array(
    select accounts.id::text from public.accounts
    where accounts.unreachable_since < now() - interval '14 days'
      and accounts.delete_at is null and private.may_act(accounts)
      and not private.has_other_way(accounts, 'email', false)
      and (private.obligations(accounts.id, null) = '{}' or not exists (
        select from private.alarms
        where alarms.kind = 'unreachable_account' and alarms.subject_id = accounts.id::text
          and alarms.settled_at is null
      ))
      and not private.failed_recently('give_up_unreachable_account', accounts.id::text)
    order by accounts.unreachable_since
    limit 100
  ), true);
end
$$;
comment on function private.give_up_unreachable_accounts is
  'Job: requests the deletion of accounts whose email was taken over by another account that '
  'proved it, and that have had no email, phone or provider for 14 days. Raises an alarm if money '
  'or an auction prevents the deletion.';

grant execute on function
  private.delete_due_accounts, private.close_due_identities, private.notify_of_stopped_deletions,
  private.give_up_unreachable_accounts
  to backend;
