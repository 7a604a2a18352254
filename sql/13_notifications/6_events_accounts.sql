create function private.on_identity_decided() returns trigger
  language plpgsql
  security definer -- notifies the account, for any role that decides
  set search_path = ''
as $$
declare
  kind constant text := case
    when new.status = 'suspended' then 'identity_suspended'
    when old.status = 'suspended' then 'identity_restored'
    when new.status = 'active' then 'identity_verified'
    else 'identity_rejected' end;
begin
  perform private.make_notification(new.account_id,
    -- Nobody can act as a suspended identity, so the account's individual identity is notified.
    case when kind in ('identity_suspended', 'identity_restored')
      then private.individual_of(new.account_id) else new.id end,
    kind, new.id, jsonb_build_object('name', new.display_name, 'reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_identity_decided is
  'Notifies the account of an admin''s decision about an identity, or of a reason that was added '
  'later.';

create trigger identities_notify_of_decisions
  after update of status, status_reason on public.identities
  for each row when (
    -- If suspend_unproven_past rejects an identity, it sends another notification.
    old.status = 'pending_verification' and new.status in ('active', 'rejected')
      and new.status_reason is distinct from private.unproven_past_reason()
    or old.status <> 'suspended' and new.status = 'suspended'
    or old.status = 'suspended' and new.status = 'active'
    or new.status = old.status and new.status in ('rejected', 'suspended')
      and new.status_reason <> coalesce(old.status_reason, '')
  )
  execute function private.on_identity_decided();

create function private.on_session_begun() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- There is no notification of the first sign-in, right after registration, or of another one from the
  -- same address and client soon afterwards (private.finish_sign_in).
  insert into private.notification_events (kind, account_id, session_id, notified_at)
  select 'security_login', accounts.id, new.id,
    case when users.last_sign_in_at is null then clock_timestamp() end
  from auth.users
  join public.accounts on accounts.id = users.id
  where users.id = new.user_id;
  return null;
exception
  -- A sign-in must not fail because its event could not be written.
  when others then
    perform private.raise_alarm('sign_in_unrecorded', sqlstate, jsonb_build_object(
      'accountId', new.user_id, 'message', private.cause_of(sqlstate, sqlerrm)));
    return null;
end
$$;
comment on function private.on_session_begun is
  'Stores an event for a new sign-in. The trigger is in 90_platform.sql.';

create function private.on_password_changed() returns trigger
  language plpgsql
  security definer -- notifies the account of the change
  set search_path = ''
as $$
declare
  announced private.announced_passwords;
begin
  if session_user = 'supabase_auth_admin' then
    if private.is_same_password(new.id, old.encrypted_password, new.encrypted_password)
      or new.deleted_at is not null and new.encrypted_password is null
    then
      return null;
    end if;
    announced := private.take_announced_password(new.id);
    if announced.id is null then
      perform private.refuse_password(new.id);
    elsif announced.identifier is not null then
      perform private.finish_reset(new.id, announced.identifier);
    end if;
  end if;
  delete from private.session_proofs where session_proofs.session_id in (
    select sessions.id from auth.sessions where sessions.user_id = new.id
  );
  perform private.make_notification(new.id, null, 'security_password', null);
  return null;
end
$$;
comment on function private.on_password_changed is
  'Refuses a password that was set directly at Auth, without an announcement by the facade. '
  'Otherwise applies the effects of a reset, deletes administrators'' proofs and notifies the '
  'account. The trigger is in 90_platform.sql.';

create function private.on_session_ended() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Devices come last in the order of locks, so the rows that this transaction needs later are locked
  -- before them: the account, whose channel will be renamed (10_chat/6_events_lost_access.sql), or all
  -- dependent rows if the user is being deleted.
  if exists (select from auth.users where users.id = old.user_id) then
    perform private.lock_account_exclusively(old.user_id);
    perform private.lock_devices(array[old.user_id]);
  else
    perform private.lock_dependents(old.user_id, array(
      select identities.id from public.identities where identities.account_id = old.user_id
    ), true);
  end if;
  delete from public.devices where devices.session_id = old.id;
  delete from private.session_clients where session_clients.session_id = old.id;
  delete from private.session_proofs where session_proofs.session_id = old.id;
  delete from private.passkey_challenges where passkey_challenges.session_id = old.id;
  return null;
end
$$;
comment on function private.on_session_ended is
  'Deletes the devices, client, proof and challenges of an ended session. The trigger is in 90_platform.sql.';

create function private.forget_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of the deleted account
  set search_path = ''
as $$
begin
  delete from private.notification_events where notification_events.account_id = new.id;
  delete from public.devices where devices.account_id = new.id;
  delete from public.notifications where notifications.account_id = new.id;
  delete from public.account_settings where account_settings.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_notifications is
  'Deletes notifications, devices and settings of a deleted account.';

create trigger accounts_forget_their_notifications
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_notifications();

create function private.withdraw_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of other accounts
  set search_path = ''
as $$
begin
  with gone as (
    delete from public.notifications where notifications.from_identity_id = new.id
    returning notifications.account_id, notifications.read_at
  )
  insert into private.notification_events (kind, account_id)
  select distinct 'notifications_withdrawn', gone.account_id from gone where gone.read_at is null;
  delete from private.push_outbox where push_outbox.from_identity_id = new.id;
  return null;
end
$$;
comment on function private.withdraw_notifications is
  'Deletes the notifications and pushes that quote the closed identity. A job then updates the '
  'devices of accounts that had not read them.';

create trigger identities_withdraw_notifications
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.withdraw_notifications();

create function private.on_review_gone() returns trigger
  language plpgsql
  security definer -- deletes rows of the account of the reviewed identity
  set search_path = ''
as $$
begin
  perform private.withdraw_notification(identities.account_id, 'review_new', old.id)
  from public.identities where identities.id = old.subject_identity_id;
  return null;
end
$$;
comment on function private.on_review_gone is
  'Deletes the notification of a review that was deleted or hidden.';

create trigger reviews_withdraw_notifications
  after delete on public.reviews
  for each row execute function private.on_review_gone();
create trigger reviews_withdraw_notifications_when_hidden
  after update of hidden_at on public.reviews
  for each row when (new.hidden_at is not null and old.hidden_at is null)
  execute function private.on_review_gone();

create function private.on_terms_changed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.notification_events where notification_events.kind = 'terms_new';
  if new.value <> 'null' then
    insert into private.notification_events (kind, details)
    values ('terms_new', new.value - 'url');
  end if;
  return null;
end
$$;
comment on function private.on_terms_changed is 'Queues the notification of new terms.';

create trigger settings_tell_of_terms
  after update of value on private.settings
  for each row when (
    new.name = 'terms'
    and new.value ->> 'version' is distinct from old.value ->> 'version'
  )
  execute function private.on_terms_changed();

create function private.on_push_preferences() returns trigger
  language plpgsql
  security definer -- writes push_outbox, for any role that changes the settings
  set search_path = ''
as $$
begin
  perform private.apply_push_preferences(new.account_id);
  return null;
end
$$;
comment on function private.on_push_preferences is 'Applies changed preferences to waiting pushes.';

create trigger account_settings_rule_waiting_pushes
  after update of notifications, quiet_from, quiet_to on public.account_settings
  for each row when (
    (old.notifications, old.quiet_from, old.quiet_to)
      is distinct from (new.notifications, new.quiet_from, new.quiet_to)
  )
  execute function private.on_push_preferences();
