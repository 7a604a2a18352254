-- Who may join which channel of Realtime.
--
-- Everything that an account hears goes out through one private channel whose name is random, and
-- whether a participant hears is decided when an event is sent. Beside it each conversation has a live
-- channel for presence and typing, where the participants themselves send.
--
-- Realtime asks whether somebody may hear a channel when they join it, and not again for as long as
-- their token lives. So whenever a session or a right ends, the name of the account's channel
-- changes: topic_changed is the last event on the old one, and only those who remain may join the
-- new one. The names of live channels change by themselves then, since they are made of what
-- changed; whoever is on an old one finds the new one by looking.

create function private.hears(conversation_id uuid, identity_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads both participants and the blocks between them
  set search_path = ''
as $$
begin
  return exists (
    select from public.participants
    where participants.conversation_id = hears.conversation_id
      and participants.identity_id = hears.identity_id
      and private.is_in_order(participants.identity_id)
      and not exists (
        select from public.participants as others
        join public.blocks on blocks.account_id = others.account_id
          and blocks.blocked_account_id = participants.account_id
        where others.conversation_id = participants.conversation_id
          and others.identity_id <> participants.identity_id
      )
  );
end
$$;
comment on function private.hears is
  'Whether an identity may hear a conversation now: it takes part, is in order, is not blocked.';

create function private.live_topic(conversation_id uuid) returns text
  language plpgsql
  stable
  security definer -- reads what nobody is shown
  set search_path = ''
as $$
begin
  return (
    select conversations.id || '.' || left(
      encode(
        sha256(uuid_send(conversations.live_key)
          || string_agg(uuid_send(accounts.live_key), '' order by accounts.id)),
        'hex'),
      32)
    from public.conversations
    join public.participants on participants.conversation_id = conversations.id
    join public.accounts on accounts.id = participants.account_id
    where conversations.id = live_topic.conversation_id
    group by conversations.id
  );
end
$$;
comment on function private.live_topic is
  'Name of the channel of presence and typing of a conversation: its id, so that it can be found, '
  'and a hash of three random values, so that it is another one when one of these is.';

create function private.renew_topic(account_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant on accounts
  set search_path = ''
as $$
declare
  old_topic constant uuid := (private.take_account(account_id)).topic;
  new_topic uuid;
begin
  update public.accounts set topic = gen_random_uuid(), live_key = gen_random_uuid()
  where accounts.id = renew_topic.account_id
  returning accounts.topic into new_topic;
  if found then
    perform private.tell(old_topic, 'topic_changed',
      jsonb_build_object('old', old_topic, 'new', new_topic));
  end if;
end
$$;
comment on function private.renew_topic is
  'Gives the channel of an account a new name and says so on the old one; the live channels of its '
  'conversations have new names with it.';

create function private.may_speak(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- the caller may see neither names nor participants before this is decided
  set search_path = ''
as $$
declare
  -- One spelling only: a name is compared as it stands.
  conversation_id constant uuid := substring(may_speak.topic
    from '^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[.][0-9a-f]{32}$');
begin
  return coalesce(
    may_speak.extension in ('broadcast', 'presence')
      and may_speak.topic = private.live_topic(conversation_id)
      and private.hears(conversation_id, private.identity_id()),
    false);
end
$$;
comment on function private.may_speak is
  'Whether the caller may send to a channel: only to the live one of a conversation in which they '
  'take part as the acting identity.';

create function private.may_hear(topic text, extension text) returns boolean
  language plpgsql
  stable
  security definer -- as may_speak
  set search_path = ''
as $$
begin
  return exists (
    select from public.accounts
    where accounts.id = private.account_id() and accounts.topic::text = may_hear.topic
      and may_hear.extension = 'broadcast'
  ) or private.may_speak(may_hear.topic, may_hear.extension);
end
$$;
comment on function private.may_hear is
  'Whether the caller may hear a channel: their account''s own, or one where they may speak.';

grant execute on function private.may_speak, private.may_hear to authenticated;
