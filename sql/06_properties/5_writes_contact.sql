-- A phone number cannot be taken back once it is returned, so the call must be counted first. The
-- facade commits the count before it calls contact_property. The Data API does not offer this
-- function, because its callers could undo the count by aborting the transaction.

create function private.offered_contact(
  caller_id uuid, property_id uuid, kind text,
  out property public.properties, out phone text, out whatsapp text
)
  language plpgsql stable
  security definer -- reads other people's listings and numbers
  set search_path = ''
as $$
declare
  owner_account_id uuid;
  contact record;
  open_ways text[] := '{}';
begin
  if kind is null or kind not in ('call', 'whatsapp', 'chat') then
    perform private.refuse_value('kind', kind);
  end if;
  select * into property from public.properties
  where properties.id = offered_contact.property_id
    and private.may_see(properties, caller_id);
  if property.id is null then
    perform private.refuse(404, 'property_not_found');
  end if;
  select identities.account_id into owner_account_id
  from public.identities where identities.id = property.owner_identity_id;
  if owner_account_id = private.account_id() then
    perform private.refuse_field('id', 'invalid'); -- the caller's own listing
  elsif private.are_blocked(private.account_id(), owner_account_id) then
    perform private.refuse(403, 'blocked');
  end if;

  contact := private.contact_of(property);
  -- A closed listing is still visible by link but no longer offers contact.
  if property.listed then
    open_ways := contact.ways;
  end if;
  if not kind = any (open_ways) then
    perform private.refuse(409, 'property_state_conflict',
      jsonb_build_object('from', property.status, 'allowed', open_ways));
  end if;
  phone := contact.phone;
  whatsapp := contact.whatsapp;
end
$$;
comment on function private.offered_contact is
  'Returns the listing and the numbers of its owner. 404 property_not_found, 403 blocked, 409 '
  'property_state_conflict with the ways of contact that are possible, 422 for a listing of the '
  'caller.';

create function private.precheck_contact(
  property_id uuid, kind text, idempotency_key text default null
) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A retry gets the stored response, even if the listing has changed since.
  if not exists (
    select from private.idempotency_keys
    where idempotency_keys.account_id = private.account_id()
      and idempotency_keys.key = precheck_contact.idempotency_key
  ) then
    perform private.offered_contact(private.identity_id(), property_id, kind);
  end if;
exception
  -- contact_property raises the other errors again, after the call was counted.
  when sqlstate 'PT409' then raise;
  when sqlstate 'PT403' or sqlstate 'PT404' or sqlstate 'PT422' then null;
end
$$;
comment on function private.precheck_contact is
  'Facade: raises 409 property_state_conflict if the listing does not offer this way of contact, '
  'so that such a call is not counted.';

create function private.contact_property(property_id uuid, kind text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid;
  offered record;
  property public.properties;
  conversation_id uuid;
begin
  if kind = 'chat' then
    perform private.require_terms();
  end if;
  caller_id := private.lock_identity();
  offered := private.offered_contact(caller_id, property_id, kind);
  property := offered.property;
  perform private.require_proof();
  if kind = 'chat' then
    -- The first message of the conversation creates the lead.
    select opened.id into conversation_id
    from private.open_conversation(caller_id, property.id, null) as opened;
  else
    insert into public.leads (property_id, owner_identity_id, identity_id, kind)
    values (property.id, property.owner_identity_id, caller_id, contact_property.kind)
    on conflict do nothing;
  end if;
  return case kind
    when 'call' then json_build_object('phone', offered.phone)
    when 'whatsapp' then
      json_build_object('whatsappUrl', 'https://wa.me/' || substr(offered.whatsapp, 2))
    else json_build_object('conversationId', conversation_id)
  end;
end
$$;
comment on function private.contact_property is
  'Facade: returns phone, whatsappUrl or conversationId. Each kind creates at most one lead per '
  'day. For a chat, the first message creates it.';

grant execute on function private.precheck_contact, private.contact_property to authenticated;
