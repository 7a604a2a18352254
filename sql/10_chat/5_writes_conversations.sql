create function private.check_openings(account_id uuid) returns void
  language plpgsql
  security definer -- reads the conversations of all identities of an account
  set search_path = ''
as $$
declare
  rate private.rates;
  allowed integer := private.unproven_limit('conversations', account_id);
  opened timestamptz[];
begin
  select * into rate from private.rates where rates.rule = 'conversations';
  allowed := coalesce(allowed, rate.max, 1000000);
  if allowed >= 1000000 then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('conversations ' || account_id, 0));
  opened := array(
    select conversations.created_at from public.conversations
    where conversations.opened_by = check_openings.account_id
      and conversations.created_at > clock_timestamp() - make_interval(secs => rate.seconds)
      and not exists (
        select from public.participants
        join public.messages on messages.conversation_id = participants.conversation_id
          and messages.sender_identity_id = participants.identity_id
        where participants.conversation_id = conversations.id
          and participants.account_id <> conversations.opened_by
      )
    order by conversations.created_at
  );
  if cardinality(opened) >= allowed then
    perform private.refuse_rate(concat_ws(',', allowed, 0, greatest(1, ceil(extract(epoch from
      opened[cardinality(opened) - allowed + 1] + make_interval(secs => rate.seconds)
      - clock_timestamp())))));
  end if;
end
$$;
comment on function private.check_openings is
  'Raises 429 if too many conversations that the account opened in the last day are unanswered.';

create function private.list_conversation_for(conversation_id uuid, identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
declare
  side public.participants;
  moment constant timestamptz := clock_timestamp();
begin
  -- The conversation is locked before its sides, as in all functions that write messages.
  perform from public.conversations
  join public.participants on participants.conversation_id = conversations.id
  where conversations.id = list_conversation_for.conversation_id
    and participants.identity_id = list_conversation_for.identity_id and participants.unlisted
  for no key update of conversations;
  if found then
    update public.participants set unlisted = false, active_at = moment, changed_at = moment
    where participants.conversation_id = list_conversation_for.conversation_id
      and participants.identity_id = list_conversation_for.identity_id
    returning participants.* into side;
    perform private.broadcast_conversation_updated(side);
  end if;
end
$$;
comment on function private.list_conversation_for is
  'Adds a conversation that the other side opened to the list of this identity, if it is not there '
  'yet.';

create function private.open_conversation(
  caller_id uuid, property_id uuid, identity_id uuid, out id uuid, out created boolean
)
  language plpgsql
  security definer -- writes for both sides
  set search_path = ''
as $$
declare
  caller_account_id uuid := private.account_id();
  peer public.identities := private.conversation_peer(caller_id, property_id, identity_id);
  moment timestamptz;
  pair text := least(caller_id, peer.id) || ' ' || greatest(caller_id, peer.id)
    || coalesce(' ' || open_conversation.property_id, '');
begin
  if private.are_blocked(caller_account_id, peer.account_id) then
    perform private.refuse(403, 'blocked');
  end if;
  select conversations.id into id from public.conversations where conversations.pair_key = pair;
  if found then
    created := false;
    perform private.list_conversation_for(id, caller_id);
    return;
  end if;
  perform private.require_proof();
  perform private.require_welcome(caller_account_id, peer.account_id);
  -- The account of the other side is locked too: a deletion of that account reads its conversations more
  -- than once and must find the same ones each time.
  perform private.lock_owner(peer.id);
  peer := private.conversation_peer(caller_id, property_id, identity_id);
  perform private.check_open_to_chat(open_conversation.property_id, caller_id);
  perform private.check_openings(caller_account_id);
  insert into public.conversations as made (pair_key, property_id, opened_by)
  values (pair, open_conversation.property_id, caller_account_id)
  on conflict do nothing
  returning made.id into id;
  created := found;
  if created then
    moment := clock_timestamp();
    insert into public.participants
      (conversation_id, identity_id, account_id, unlisted, active_at, changed_at)
    values (id, caller_id, caller_account_id, false, moment, moment),
      (id, peer.id, peer.account_id, true, moment, moment);
  else
    -- A concurrent transaction created the conversation. Only a new statement can see it.
    select conversations.id into id from public.conversations
    where conversations.pair_key = pair;
    perform private.list_conversation_for(id, caller_id);
  end if;
end
$$;

create function private.create_conversation(
  property_id uuid default null, identity_id uuid default null, message text default null,
  client_message_id text default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  hits jsonb;
  caller_id uuid;
  opened record;
  written boolean;
begin
  perform private.require_terms();
  -- The call may write a message, so it is counted as a message.
  hits := private.count_message();
  caller_id := private.lock_identity();
  opened := private.open_conversation(
    caller_id, create_conversation.property_id, create_conversation.identity_id);
  if opened.created then
    -- This event is for the other devices of the caller. The first message notifies the other side.
    perform private.broadcast_conversation_updated(participants) from public.participants
    where participants.conversation_id = opened.id and participants.identity_id = caller_id;
  end if;
  if message is not null then
    written := private.write_message(caller_id, opened.id,
      coalesce(create_conversation.client_message_id, gen_random_uuid()::text), 'text',
      create_conversation.message, null, null) ->> 'created';
  end if;
  if not coalesce(written, opened.created) then
    perform private.uncount_message(hits);
  end if;
  return json_build_object(
    'created', opened.created,
    'conversation', private.conversation_json(opened.id, caller_id)
  );
end
$$;
comment on function private.create_conversation is
  'Api: Opens a conversation with an identity or with the owner of a listing, and writes the '
  'message, if one is given; it is stored once per clientMessageId. Returns {created, '
  'conversation}. Two identities have one conversation per listing. 404 property_not_found, '
  'identity_not_found; 403 terms_not_accepted, blocked, account_unproven, recipient_proven_only; '
  '409 property_state_conflict for a new conversation about a listing that is no longer listed or '
  'does not allow chat, awaiting_answer as in api.send_message; 422 for an identity of the caller, '
  'message_empty, message_too_long, idempotency_mismatch; 429 rate_limited for a new conversation '
  'if 60 conversations opened in the last day (5 without a proven phone or email) are unanswered.';

grant execute on function private.create_conversation to authenticated;
