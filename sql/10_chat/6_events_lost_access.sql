create function private.on_sessions_ended() returns trigger
  language plpgsql
  security definer -- runs for the role of Auth, which may not write our tables
  set search_path = ''
as $$
declare
  ended_id uuid;
begin
  for ended_id in
    select gone.user_id from gone
    where gone.id::text is distinct from current_setting('private.discarded_session', true)
    group by gone.user_id
    order by gone.user_id
  loop
    perform private.renew_topic(ended_id);
  end loop;
  return null;
end
$$;
comment on function private.on_sessions_ended is
  'Renames the channels of accounts when sessions of these accounts end. The trigger is in '
  '90_platform.sql.';

create function private.discard_session(session_id uuid) returns void
  language plpgsql
  security definer -- deletes from an Auth table
  set search_path = ''
as $$
begin
  -- on_sessions_ended reads this setting, which is not set in transactions of Auth itself.
  perform set_config('private.discarded_session', discard_session.session_id::text, true);
  -- The account is locked before the session, because a transaction that ends all sessions of the account
  -- may lock them while it holds the lock on the account. If that transaction has locked this session, it
  -- will delete the session, and the statement below skips it.
  perform private.lock_account_exclusively(sessions.user_id)
  from auth.sessions where sessions.id = discard_session.session_id;
  delete from auth.sessions where sessions.id in (
    select own.id from auth.sessions as own where own.id = discard_session.session_id
    for update skip locked
  );
  delete from private.notification_events
  where notification_events.session_id = discard_session.session_id
    and notification_events.notified_at is null;
end
$$;
comment on function private.discard_session is
  'Ends a session whose tokens were never handed out. Nobody could join a channel with it, so no '
  'channel is renamed. The account is not notified of the sign-in either.';

create function private.on_identity_deactivated() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- The channel of the account itself keeps its name, because it no longer receives events of this
  -- identity.
  update public.accounts set live_key = gen_random_uuid() where accounts.id = new.account_id;
  return null;
end
$$;
comment on function private.on_identity_deactivated is
  'Renames all live channels of an account when one of its identities becomes inactive.';

create trigger identities_renew_live_keys
  after update of status on public.identities
  for each row when (old.status = 'active' and new.status <> 'active')
  execute function private.on_identity_deactivated();

create function private.on_blocked() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  newest public.participants;
begin
  -- With this lock, no message can be delivered to a side that has just been blocked.
  with locked as materialized (
    select conversations.id from public.conversations
    where conversations.id in (
      select participants.conversation_id from public.participants
      join public.participants as others on others.conversation_id = participants.conversation_id
      where participants.account_id = new.account_id
        and others.account_id = new.blocked_account_id
    )
    order by conversations.id
    for no key update
  ), renewed as (
    update public.conversations set live_key = gen_random_uuid()
    from locked
    where conversations.id = locked.id
    returning conversations.id
  )
  select participants.* into newest
  from renewed
  join public.participants on participants.conversation_id = renewed.id
    and participants.account_id = new.account_id and not participants.unlisted
  order by participants.active_at desc
  limit 1;
  if found then
    perform private.broadcast_conversation_updated(newest);
  end if;
  return null;
end
$$;
comment on function private.on_blocked is
  'Renames the live channels of all conversations with a blocked account. Sends the account that '
  'blocked it the new name for the conversation with the newest message.';

create trigger blocks_renew_live_keys
  after insert on public.blocks
  for each row execute function private.on_blocked();

grant execute on function private.discard_session to backend;
