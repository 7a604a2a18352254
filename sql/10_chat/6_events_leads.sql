create function private.on_first_message() returns trigger
  language plpgsql
  security definer -- reads the listing, regardless of which role writes the message
  set search_path = ''
as $$
begin
  insert into public.leads (property_id, owner_identity_id, identity_id, kind, created_at, day)
  select properties.id, properties.owner_identity_id, new.sender_identity_id, 'chat',
    new.created_at, (new.created_at at time zone 'Asia/Kuwait')::date
  from public.conversations
  join public.properties on properties.id = conversations.property_id
    and properties.owner_identity_id <> new.sender_identity_id
  where conversations.id = new.conversation_id
    -- When a listing is moved to another identity, its conversations stay with the former owner.
    and exists (
      select from public.participants
      where participants.conversation_id = conversations.id
        and participants.identity_id = properties.owner_identity_id
    )
  on conflict do nothing;
  return null;
end
$$;
comment on function private.on_first_message is
  'Creates a lead if the first message of a conversation is not by the owner of the listing.';

create trigger messages_make_leads
  after insert on public.messages
  for each row when (new.seq = 1)
  execute function private.on_first_message();
