-- Notifications of what happens to an account and its identities, and what of them goes with it.

create function private.on_identity_decided() returns trigger
  language plpgsql
  security definer -- tells the account, whoever decided
  set search_path = ''
as $$
begin
  perform private.notify(new.account_id, new.id,
    case new.status when 'active' then 'identity_verified' else 'identity_rejected' end, new.id,
    jsonb_build_object('name', new.display_name, 'reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_identity_decided is 'An admin verified or rejected an identity.';

create trigger identities_decisions_are_told
  after update of status on public.identities
  for each row when (
    old.status = 'pending_verification' and new.status in ('active', 'rejected')
  )
  execute function private.on_identity_decided();

create function private.on_session_begun() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
declare
  place jsonb := jsonb_build_object(
    'address', host(new.ip), 'device', left(new.user_agent, 200));
begin
  -- The first sign-in is the person who has just registered: kept as told. Whoever comes from the
  -- same place within a quarter of an hour is that person again.
  insert into private.news (kind, account_id, session_id, facts, told_at)
  select 'security_login', accounts.id, new.id, place,
    case when users.last_sign_in_at is null then clock_timestamp() end
  from auth.users
  join public.accounts on accounts.id = users.id
  where users.id = new.user_id and not exists (
    select from private.news as first
    where first.account_id = users.id and first.kind = 'security_login'
      and first.told_at > clock_timestamp() - interval '15 minutes' and first.facts = place
  );
  return null;
exception
  -- Nobody is kept out because the notice of it failed.
  when others then
    raise warning 'sign-in of % was not noted: % %', new.user_id, sqlstate, sqlerrm;
    return null;
end
$$;
comment on function private.on_session_begun is 'Notes a sign-in; the trigger is in 90_platform.sql.';

create function private.on_password_changed() returns trigger
  language plpgsql
  security definer -- tells the account, whoever changed it
  set search_path = ''
as $$
begin
  perform private.notify(
    new.id, null, 'security_password', null, jsonb_build_object('at', clock_timestamp()));
  return null;
end
$$;
comment on function private.on_password_changed is
  'A new password is told to its account; the triggers are in 90_platform.sql.';

create function private.on_session_ended() returns trigger
  language plpgsql
  security definer -- writes a closed table, for Auth's role
  set search_path = ''
as $$
begin
  -- Before its devices is locked what else will be: of who is deleted all that goes, else the account,
  -- whose channel gets another name when all sessions of the statement are gone
  -- (10_chat/6_events_lost_access.sql).
  if exists (select from auth.users where users.id = old.user_id) then
    perform private.take_account(old.user_id);
  else
    perform private.take_what_follows(old.user_id, array(
      select identities.id from public.identities where identities.account_id = old.user_id
    ), true);
  end if;
  delete from public.devices where devices.session_id = old.id;
  return null;
end
$$;
comment on function private.on_session_ended is
  'Signed out is no push: the devices of the session go. The trigger is in 90_platform.sql.';

create function private.forget_notifications() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever is going
  set search_path = ''
as $$
begin
  delete from private.news where news.account_id = new.id;
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

create function private.forget_words() returns trigger
  language plpgsql
  security definer -- deletes rows of whoever was told
  set search_path = ''
as $$
begin
  delete from public.notifications where notifications.from_identity_id = new.id;
  delete from private.push_outbox where push_outbox.from_identity_id = new.id;
  return null;
end
$$;
comment on function private.forget_words is
  'What an identity wrote or offered goes from the notifications of others when it is closed.';

create trigger identities_forget_their_words
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.forget_words();
