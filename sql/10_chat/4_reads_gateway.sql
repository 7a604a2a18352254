-- The chat gateway (functions/chat) calls these functions. Everything that they return can also be read
-- from the lists of conversations and messages.

create function api.open_socket() returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select json_build_object('realtimeTopic', accounts.topic, 'openedAt', clock_timestamp())
    from public.accounts where accounts.id = (select private.require_account())
  );
end
$$;
comment on function api.open_socket is
  'Checks the token of the caller and returns the channel of the account and the time of the '
  'check.';

create function private.peer_of(conversation_id uuid, identity_id uuid) returns uuid
  language plpgsql stable
  security definer -- reads the row of the other side, which the caller may not read
  set search_path = ''
as $$
begin
  return (
    select participants.identity_id from public.participants
    where participants.conversation_id = peer_of.conversation_id
      and participants.identity_id <> peer_of.identity_id
  );
end
$$;

create function private.join_conversation(conversation_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_identity();
  joined public.conversations;
begin
  select conversations.* into joined
  from public.participants
  join public.conversations on conversations.id = participants.conversation_id
  where participants.conversation_id = join_conversation.conversation_id
    and participants.identity_id = caller_id;
  if joined.id is null then
    perform private.refuse(404, 'conversation_not_found');
  elsif not private.may_hear_conversation(joined.id, caller_id) then
    perform private.refuse(403, 'blocked');
  end if;
  return json_build_object(
    'conversationId', joined.id,
    'lastSeq', joined.last_seq,
    'identityId', caller_id,
    'peerId', private.peer_of(joined.id, caller_id),
    'liveTopic', private.live_topic(joined.id)
  );
end
$$;
comment on function private.join_conversation is
  'Api: Returns the newest seq, both sides and the live channel of a conversation. 404 '
  'conversation_not_found, 403 blocked.';

create function private.changed_sockets(sockets jsonb) returns json
  language plpgsql stable
  security definer -- checks the access of all accounts with an open socket
  set search_path = ''
as $$
begin
  return (
    with known as (
      select known.*
      from jsonb_to_recordset(sockets)
        as known ("accountId" uuid, "sessionId" uuid, topic text, conversations jsonb)
    ),
    -- "offset 0" makes each subquery a lookup by key. Otherwise, the planner would join whole tables.
    differing as (
      select
        known."sessionId" as session_id, null::uuid as conversation_id, null::bigint as last_seq
      from known
      left join lateral (
        select true as holds
        from public.accounts
        join auth.sessions on sessions.user_id = accounts.id
        where accounts.id = known."accountId"
          and sessions.id = known."sessionId"
          and accounts.topic::text = known.topic
        offset 0
      ) as session on true
      where session.holds is null
      union
      select known."sessionId", (joined ->> 'id')::uuid,
        case when heard.live_topic = joined ->> 'liveTopic' then heard.last_seq end
      from known
      cross join lateral jsonb_array_elements(known.conversations) as joined
      left join lateral (
        select conversations.last_seq, private.live_topic(conversations.id) as live_topic
        from public.participants
        join public.accounts
          on accounts.id = participants.account_id
          and accounts.active_identity_id = participants.identity_id
        join public.conversations on conversations.id = participants.conversation_id
        where participants.conversation_id = (joined ->> 'id')::uuid
          and participants.account_id = known."accountId"
          and private.may_hear_conversation(participants.conversation_id, participants.identity_id)
        offset 0
      ) as heard on true
      where heard.last_seq is distinct from (joined ->> 'seq')::bigint
        or heard.live_topic is distinct from joined ->> 'liveTopic'
    )
    select coalesce(
      json_agg(json_build_object(
        'sessionId', differing.session_id,
        'conversationId', differing.conversation_id,
        'lastSeq', differing.last_seq
      )),
      '[]'
    )
    from differing
  );
end
$$;
comment on function private.changed_sockets is
  'Returns the sessions and conversations whose state differs from the state in sockets. lastSeq '
  'is set if only the seq of a conversation differs.';

create function private.missed_updates(questions jsonb) returns json
  language plpgsql stable
  security definer -- reads the conversations of all accounts with an open socket
  set search_path = ''
as $$
begin
  return (
    with asking as (
      select identities.id as identity_id,
        greatest(clock_timestamp() - make_interval(secs => asking.seconds), asking."openedAt") as since
      from jsonb_to_recordset(questions)
        as asking ("accountId" uuid, seconds double precision, "openedAt" timestamptz)
      join public.accounts on accounts.id = asking."accountId"
      join public.identities on identities.account_id = accounts.id
      where private.may_act(accounts)
    ),
    changed as (
      -- Each of the two subqueries uses a different index.
      select written.conversation_id, written.identity_id
      from asking
      cross join (values (false), (true)) as lists (archived)
      cross join lateral (
        select participants.conversation_id, participants.identity_id from public.participants
        where participants.identity_id = asking.identity_id
          and participants.archived = lists.archived and not participants.unlisted
          and participants.active_at > asking.since
        order by participants.active_at desc
        limit 100
      ) as written
      union
      select acted.conversation_id, acted.identity_id
      from asking
      cross join lateral (
        select participants.conversation_id, participants.identity_id from public.participants
        where participants.identity_id = asking.identity_id
          and participants.changed_at > participants.active_at
          and participants.changed_at > asking.since
        order by participants.changed_at desc
        limit 100
      ) as acted
    )
    select coalesce(
      json_agg(
        private.conversation_updated_json(participants) || jsonb_build_object(
          'identityId', participants.identity_id, 'accountId', participants.account_id)
        order by participants.changed_at
      ),
      '[]'
    )
    from changed
    join public.participants using (conversation_id, identity_id)
    where participants.changed_at > participants.active_at
      or private.may_hear_conversation(participants.conversation_id, participants.identity_id)
  );
end
$$;
comment on function private.missed_updates is
  'Returns the conversations that changed in the given number of seconds and after openedAt. The '
  'gateway skips the updates that it has already sent.';

create function private.current_topics(channels jsonb) returns json
  language plpgsql stable
  security definer -- reads the channels of all accounts with an open socket
  set search_path = ''
as $$
begin
  return (
    select coalesce(json_agg(accounts.topic), '[]')
    from jsonb_to_recordset(channels) as known ("accountId" uuid, topic uuid)
    join public.accounts on accounts.id = known."accountId" and accounts.topic = known.topic
  );
end
$$;
comment on function private.current_topics is
  'Returns those of the given channels that are still current. A gateway that reconnects to '
  'Realtime joins only these.';

grant execute on function api.open_socket to authenticated;
grant execute on function private.join_conversation to authenticated;
grant execute on function private.changed_sockets, private.missed_updates, private.current_topics
  to backend;
