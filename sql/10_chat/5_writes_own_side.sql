create function private.update_conversation(
  conversation_id uuid, muted boolean, archived boolean, up_to_seq bigint
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id constant uuid := private.require_identity();
  own public.participants := private.require_participant(
    update_conversation.conversation_id, caller_id);
begin
  if (archived is true) <> (up_to_seq is not null) then
    perform private.refuse_field(
      'upToSeq', case when up_to_seq is null then 'required' else 'unknown' end);
  end if;
  -- With this lock, no message can arrive between reading and archiving.
  perform from public.conversations where conversations.id = own.conversation_id
  for no key update;
  own := private.require_participant(own.conversation_id, caller_id);
  if archived and exists (
    select from public.messages
    where messages.conversation_id = own.conversation_id and messages.seq > up_to_seq
      and messages.sender_identity_id <> caller_id and messages.hidden_at is null
  ) then
    archived := false;
  end if;
  update public.participants
  set muted = coalesce(update_conversation.muted, own.muted),
    archived = coalesce(update_conversation.archived, own.archived),
    changed_at = private.next_change(own.changed_at)
  where participants.conversation_id = own.conversation_id
    and participants.identity_id = own.identity_id
    and (coalesce(update_conversation.muted, own.muted),
      coalesce(update_conversation.archived, own.archived)) <> (own.muted, own.archived);
  return private.conversation_json(own.conversation_id, own.identity_id);
end
$$;

create function api.update_conversation(
  conversation_id uuid, muted boolean default null, archived boolean default null,
  up_to_seq bigint default null
) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('reads');
  return private.update_conversation(conversation_id, muted, archived, up_to_seq);
end
$$;
comment on function api.update_conversation is
  'Mutes, unmutes, archives or unarchives a conversation for the side of the caller only, and '
  'returns it. This is possible even if one side has blocked the other. up_to_seq is the newest '
  'message that the caller has seen: if the other side has written since, the conversation is not '
  'archived. 404 conversation_not_found.';

create function private.broadcast_own_side() returns trigger
  language plpgsql
  security definer -- broadcasts, regardless of which role changes the row
  set search_path = ''
as $$
begin
  -- Blocks do not matter, because the event goes only to the account that made the change.
  perform private.broadcast_to_account(new.account_id, 'conversation_updated',
    private.conversation_updated_json(new) || jsonb_build_object('identityId', new.identity_id));
  return null;
end
$$;
comment on function private.broadcast_own_side is
  'Sends a change of muted or archived to all devices of the account.';

-- "of muted" also matches the update for archiving, which sets both columns. It excludes new messages,
-- which may unarchive a conversation too, but have their own event.
create trigger participants_broadcast_own_side
  after update of muted on public.participants
  for each row when ((old.muted, old.archived) is distinct from (new.muted, new.archived))
  execute function private.broadcast_own_side();

grant execute on function private.update_conversation to authenticated;
grant execute on function api.update_conversation to authenticated;
