-- What the chat gateway asks for the sockets that it holds (functions/chat). Clients of Realtime may
-- ask the same: it tells nothing that the lists do not.

create function api.open_socket() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (
    select json_build_object('realtimeTopic', accounts.topic)
    from public.accounts where accounts.id = (select private.require_account())
  );
end
$$;
comment on function api.open_socket is 'The channel of the calling account, if it may come in.';

create function private.join_conversation(conversation_id uuid) returns json
  language plpgsql
  stable
  security definer -- by key, where the policy of conversations would gather all of the caller's
  set search_path = ''
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
  elsif not private.hears(joined.id, caller_id) then
    perform private.refuse(403, 'blocked');
  end if;
  return json_build_object(
    'conversationId', joined.id,
    'lastSeq', joined.last_seq
  );
end
$$;
comment on function private.join_conversation is 'See api.join_conversation.';

create function api.join_conversation(conversation_id uuid) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.join_conversation(join_conversation.conversation_id);
end
$$;
comment on function api.join_conversation is
  'The newest number of a conversation for who may hear it now: 404 conversation_not_found, '
  '403 blocked.';

create function private.recent_news(seconds double precision) returns json
  language plpgsql
  stable
  security definer -- by account, whichever of its identities acts
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  return (
    with recent as (
      select participants as part, participants.active_at
      from public.participants
      where participants.account_id = caller_id
        and participants.unread > 0
        and participants.active_at > clock_timestamp() - make_interval(secs => recent_news.seconds)
      order by participants.active_at desc
      limit 100
    )
    select coalesce(
      json_agg(
        private.conversation_update(recent.part)
          || jsonb_build_object('identityId', (recent.part).identity_id)
        order by recent.active_at
      ),
      '[]'
    )
    from recent
  );
end
$$;
comment on function private.recent_news is 'See api.recent_news.';

create function api.recent_news(seconds double precision) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.recent_news(recent_news.seconds);
end
$$;
comment on function api.recent_news is
  'The events conversation_updated of the last seconds whose messages are still unread: for who '
  'could not hear them.';

create function private.socket_standing(sockets jsonb) returns json
  language plpgsql
  stable
  security definer -- looks at the rights of everybody whose socket is open
  set search_path = ''
as $$
begin
  return (
    with known as (
      select known.*
      from jsonb_to_recordset(sockets)
        as known ("accountId" uuid, "sessionId" uuid, topic text, conversations jsonb)
    ),
    differing as (
      select known."sessionId" as session_id, null::uuid as conversation_id
      from known
      where not exists (
        select from public.accounts
        join auth.sessions on sessions.user_id = accounts.id
        where accounts.id = known."accountId"
          and sessions.id = known."sessionId"
          and accounts.topic::text = known.topic
      )
      union
      select known."sessionId", (joined ->> 'id')::uuid
      from known, jsonb_array_elements(known.conversations) as joined
      where not exists (
        select from public.participants
        join public.accounts
          on accounts.id = participants.account_id
          and accounts.active_identity_id = participants.identity_id
        join public.conversations on conversations.id = participants.conversation_id
        where participants.conversation_id = (joined ->> 'id')::uuid
          and participants.account_id = known."accountId"
          and private.hears(participants.conversation_id, participants.identity_id)
          and conversations.last_seq = (joined ->> 'seq')::bigint
      )
    )
    select coalesce(
      json_agg(json_build_object(
        'sessionId', differing.session_id, 'conversationId', differing.conversation_id
      )),
      '[]'
    )
    from differing
  );
end
$$;
comment on function private.socket_standing is
  'Of the sessions and conversations that a gateway holds sockets for, those of which it knows '
  'something else than what is so now: topic, newest number, who acts and hears. It asks about '
  'these anew.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.join_conversation, private.recent_news to authenticated;
grant execute on function api.open_socket, api.join_conversation, api.recent_news to authenticated;
grant execute on function private.socket_standing to backend;
