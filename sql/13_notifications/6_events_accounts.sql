-- Notifications of what happens to an account and its identities, and what of them is deleted with
-- it.

create function private.on_identity_decided() returns trigger
  language plpgsql
  security definer -- notifies the account, whoever decided
  set search_path = ''
as $$
declare
  kind constant text := case
    when new.status = 'suspended' then 'identity_suspended'
    when old.status = 'suspended' then 'identity_restored'
    when new.status = 'active' then 'identity_verified'
    else 'identity_rejected' end;
begin
  perform private.notify(new.account_id,
    -- Nobody acts as one that is suspended.
    case when kind in ('identity_suspended', 'identity_restored')
      then private.individual_of(new.account_id) else new.id end,
    kind, new.id, jsonb_build_object('name', new.display_name, 'reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_identity_decided is
  'An admin verified, rejected, suspended or restored an identity, or said afterwards why.';

create trigger identities_notify_of_decisions
  after update of status, status_reason on public.identities
  for each row when (
    -- What its owner's email was proven after is listed in a notification of its own.
    old.status = 'pending_verification' and new.status in ('active', 'rejected')
      and new.status_reason is distinct from private.unproven_past_reason()
    or old.status <> 'suspended' and new.status = 'suspended'
    or old.status = 'suspended' and new.status = 'active'
    or new.status = old.status and new.status in ('rejected', 'suspended')
      and new.status_reason <> coalesce(old.status_reason, '')
  )
  execute function private.on_identity_decided();

create function private.on_session_begun() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
begin
  -- The first sign-in is the person who has just registered: no job notifies of it. Who comes from the
  -- same place soon after is that person again (private.finish_sign_in).
  insert into private.notification_events (kind, account_id, session_id, notified_at)
  select 'security_login', accounts.id, new.id,
    case when users.last_sign_in_at is null then clock_timestamp() end
  from auth.users
  join public.accounts on accounts.id = users.id
  where users.id = new.user_id;
  return null;
exception
  -- Nobody is kept out because the event could not be written.
  when others then
    perform private.raise_alarm('sign_in_unrecorded', sqlstate, jsonb_build_object(
      'accountId', new.user_id, 'message', private.cause_of(sqlstate, sqlerrm)));
    return null;
end
$$;
comment on function private.on_session_begun is
  'Writes the event of a sign-in; the trigger is in 90_platform.sql.';

create function private.on_password_changed() returns trigger
  language plpgsql
  security definer -- notifies the account, whoever changed it
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
  perform private.notify(new.id, null, 'security_password', null);
  return null;
end
$$;
comment on function private.on_password_changed is
  'Notifies an account that its password was changed, after what a reset proves and undoes, ends its '
  'proofs, and refuses one that was not announced at Auth; the trigger is in 90_platform.sql.';

create function private.on_session_ended() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
begin
  -- The locks that this transaction needs later come before those on devices: for a deleted user
  -- all that is deleted with it, else the account, whose channel is renamed when all sessions of
  -- the statement are gone (10_chat/6_events_lost_access.sql).
  if exists (select from auth.users where users.id = old.user_id) then
    perform private.lock_account_exclusively(old.user_id);
    perform private.lock_devices(array[old.user_id]);
  else
    perform private.lock_dependents(old.user_id, array(
      select identities.id from public.identities where identities.account_id = old.user_id
    ), true);
  end if;
  delete from public.devices where devices.session_id = old.id;
  delete from private.session_places where session_places.session_id = old.id;
  delete from private.session_proofs where session_proofs.session_id = old.id;
  return null;
end
$$;
comment on function private.on_session_ended is
  'Whoever signed out gets no more pushes: the devices of the session are deleted, from where it came, '
  'and its proof. The trigger is in 90_platform.sql.';

create function private.forget_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever is deleted
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
  'A deleted account has no notifications, devices or settings.';

create trigger accounts_forget_their_notifications
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_notifications();

create function private.withdraw_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever was notified
  set search_path = ''
as $$
begin
  delete from public.notifications where notifications.from_identity_id = new.id;
  delete from private.push_outbox where push_outbox.from_identity_id = new.id;
  return null;
end
$$;
comment on function private.withdraw_notifications is
  'Notifications that quote an identity are deleted when it is closed.';

create trigger identities_withdraw_notifications
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.withdraw_notifications();

create function private.on_review_gone() returns trigger
  language plpgsql
  security definer -- deletes what belongs to whoever was reviewed
  set search_path = ''
as $$
begin
  perform private.withdraw_notification(identities.account_id, 'review_new', old.id)
  from public.identities where identities.id = old.subject_identity_id;
  return null;
end
$$;
comment on function private.on_review_gone is
  'Nobody is notified of a review that was deleted, or that an admin hid.';

create trigger reviews_withdraw_notifications
  after delete on public.reviews
  for each row execute function private.on_review_gone();
create trigger reviews_withdraw_notifications_when_hidden
  after update of hidden_at on public.reviews
  for each row when (new.hidden_at is not null and old.hidden_at is null)
  execute function private.on_review_gone();

create function private.on_terms_changed() returns trigger
  language plpgsql
  security definer -- writes a closed table, for whoever changes a setting
  set search_path = ''
as $$
begin
  -- Nobody is told any more of what is over.
  delete from private.notification_events where notification_events.kind = 'terms_new';
  if new.value <> 'null' then
    insert into private.notification_events (kind, details)
    values ('terms_new', new.value - 'url');
  end if;
  return null;
end
$$;
comment on function private.on_terms_changed is
  'Writes the event of a new version of the terms: a job tells everybody.';

create trigger settings_tell_of_terms
  after update of value on private.settings
  for each row when (
    new.name = 'terms'
    and new.value ->> 'version' is distinct from old.value ->> 'version'
  )
  execute function private.on_terms_changed();
