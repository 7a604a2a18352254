create function private.require_welcome(writer_id uuid, reader_id uuid) returns void
  language plpgsql stable
  security definer -- reads the settings of the recipient
  set search_path = ''
as $$
begin
  if exists (
    select from public.account_settings
    where account_settings.account_id = reader_id and account_settings.who_may_write = 'proven'
  ) and not exists (
    select from public.accounts where accounts.id = writer_id and private.is_proven(accounts)
  ) then
    perform private.refuse(403, 'recipient_proven_only');
  end if;
end
$$;

create function private.has_conversation_with(account_id uuid, identity_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads the rows of both participants
  set search_path = ''
as $$
begin
  return exists (
    select from public.participants
    join public.participants as others on others.conversation_id = participants.conversation_id
    where participants.account_id = has_conversation_with.account_id
      and others.identity_id = has_conversation_with.identity_id
  );
end
$$;

create function private.conversation_peer(
  caller_id uuid, property_id uuid, identity_id uuid
) returns public.identities
  language plpgsql stable
  security definer -- reads the account of an identity
  set search_path = ''
as $$
declare
  property public.properties;
  peer public.identities;
begin
  if num_nonnulls(property_id, identity_id) = 0 then
    perform private.refuse_field('identityId', 'required');
  end if;
  if property_id is not null then
    property := private.require_visible_property(conversation_peer.property_id, caller_id);
  end if;
  select * into peer from public.identities
  where identities.id = coalesce(conversation_peer.identity_id, property.owner_identity_id);
  if peer.account_id = private.account_id() then
    perform private.refuse_field('identityId', 'self');
  elsif peer.id is null or not private.is_publicly_visible(peer.id) then
    perform private.refuse(404, 'identity_not_found');
  elsif property.owner_identity_id not in (peer.id, caller_id) then
    perform private.refuse_field('identityId', 'invalid');
  end if;
  return peer;
end
$$;
comment on function private.conversation_peer is
  'Returns the given identity or, if none is given, the owner of the listing. 422 for an identity '
  'of the same account as the caller, and for a listing that belongs to neither side.';

create function private.check_open_to_chat(property_id uuid, caller_id uuid) returns void
  language plpgsql stable
  security definer -- reads listings that row-level security hides from the caller
  set search_path = ''
as $$
declare
  closed text := (
    select properties.status from public.properties
    where properties.id = check_open_to_chat.property_id
      and properties.owner_identity_id <> caller_id
      and not (properties.listed and properties.allow_chat)
  );
begin
  if closed is not null then
    perform private.refuse(409, 'property_state_conflict',
      jsonb_build_object('from', closed, 'allowed', '{}'::text[]));
  end if;
end
$$;
comment on function private.check_open_to_chat is
  'Refuses a new conversation about a listing of another identity that is no longer listed or does '
  'not allow chat. Existing conversations can continue.';
