-- Who may be contacted how. Phone numbers are never in a listing; whoever asks for one becomes a
-- lead of its owner.
--
-- A number that was given out cannot be taken back. So only the facade calls this, after it has
-- counted the call and committed: through the Data API a caller could make a cast of the answer
-- fail, and so undo the count.

create function private.contact_property(property_id uuid, kind text) returns json
  language plpgsql
  security definer -- reads numbers of others, for one listing at a time, and writes leads
  set search_path = ''
as $$
declare
  caller_id uuid := private.lock_identity();
  property public.properties;
  owner_account_id uuid;
  phone text;
  whatsapp text;
  ways text[];
  conversation_id uuid;
begin
  if kind is null or kind not in ('call', 'whatsapp', 'chat') then
    perform private.refuse_field('kind', 'invalid');
  end if;
  select * into property from public.properties
  where properties.id = contact_property.property_id
    and private.may_see(properties, caller_id);
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;

  -- A person's number only if their settings allow it; an organisation's is public.
  select identities.account_id, coalesce(organisations.phone, own.phone),
    coalesce(organisations.whatsapp, organisations.phone, own.phone)
  into owner_account_id, phone, whatsapp
  from public.identities
  left join public.accounts as own
    on own.id = identities.account_id and private.shows_phone(own.id)
  left join public.organisations on organisations.identity_id = identities.id
  where identities.id = property.owner_identity_id;
  if owner_account_id = private.account_id() then
    perform private.refuse_field('id', 'invalid'); -- the caller's own listing
  elsif private.are_blocked(private.account_id(), owner_account_id) then
    perform private.refuse(403, 'blocked');
  end if;

  -- A closed listing is still seen by link, but can no longer be asked about.
  ways := array_remove(array[
    case when property.listed and property.allow_call and phone is not null then 'call' end,
    case when property.listed and property.allow_whatsapp and whatsapp is not null
      then 'whatsapp' end,
    case when property.listed and property.allow_chat then 'chat' end
  ], null);
  if not kind = any (ways) then
    perform private.refuse(409, 'property_state_conflict',
      jsonb_build_object('from', property.status, 'allowed', ways));
  end if;

  -- The conversation first: a new lead notifies the owner.
  if kind = 'chat' then
    select opened.id into conversation_id
    from private.open_conversation(caller_id, property.id, null) as opened;
  end if;
  insert into public.leads (property_id, owner_identity_id, identity_id, kind)
  values (property.id, property.owner_identity_id, caller_id, contact_property.kind)
  on conflict do nothing;
  return case kind
    when 'call' then json_build_object('phone', phone)
    when 'whatsapp' then json_build_object('whatsappUrl', 'https://wa.me/' || substr(whatsapp, 2))
    else json_build_object('conversationId', conversation_id)
  end;
end
$$;
comment on function private.contact_property is
  'Facade: how to reach the owner: call gives phone, whatsapp whatsappUrl, chat conversationId. '
  'Each way is one lead a day. 404 property_not_found, 403 blocked, 409 property_state_conflict '
  'with the ways that are possible.';

grant execute on function private.contact_property to authenticated;
