-- No search_path, so that the planner can inline this function. Calling it would take half of the
-- time needed to build a record.
create function private.numbers_of(identity_id uuid) returns table (phone text, whatsapp text)
  language sql stable
  rows 1
begin atomic
  -- The number of a person is shown only if their settings allow it. Those of organisations are public.
  select coalesce(organisations.phone, own.phone),
    coalesce(organisations.whatsapp, organisations.phone, own.phone)
  from public.identities
  left join public.organisations on organisations.identity_id = identities.id
  left join public.account_settings on account_settings.account_id = identities.account_id
  left join public.accounts as own
    on own.id = identities.account_id and account_settings.show_phone is not false
  where identities.id = numbers_of.identity_id;
end;

create function private.contact_of(
  property public.properties, out phone text, out whatsapp text, out ways text[],
  out missing text[]
)
  language plpgsql stable
  security definer -- reads other people's numbers, for one listing at a time
  set search_path = ''
as $$
begin
  select numbers.phone, numbers.whatsapp into phone, whatsapp
  from private.numbers_of(property.owner_identity_id) as numbers;
  ways := array_remove(array[
    case when property.allow_call and phone is not null then 'call' end,
    case when property.allow_whatsapp and whatsapp is not null then 'whatsapp' end,
    case when property.allow_chat then 'chat' end
  ], null);
  missing := array_remove(array[
    case when property.allow_call and phone is null then 'call' end,
    case when property.allow_whatsapp and whatsapp is null then 'whatsapp' end
  ], null);
end
$$;
comment on function private.contact_of is
  'Returns the numbers of the owner of a listing, the chosen ways of contact that work (ways), and '
  'the chosen ways that do not work because there is no number (missing).';

create function private.check_reachable(property public.properties) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  contact constant record := private.contact_of(property);
begin
  if contact.ways = '{}' then
    perform private.refuse(422, 'contact_missing', jsonb_build_object(
      'kinds', contact.missing,
      'fields', jsonb_build_array(
        jsonb_build_object('path', 'allowChat', 'code', 'contact_missing'))));
  end if;
end
$$;

create function private.notify_of_chat(identity_id uuid, ref_nos bigint[]) returns void
  language plpgsql
  security definer -- notifies the account of an identity
  set search_path = ''
as $$
declare
  shown constant integer := 10;
  listings constant text[] := array(
    select 'KW-' || numbers.ref_no from unnest(ref_nos[:shown]) as numbers (ref_no)
    order by numbers.ref_no
  );
  more constant text := case when cardinality(ref_nos) > shown then ' …' else '' end;
begin
  perform private.notify(identities.account_id, identities.id, 'system', null, jsonb_build_object(
    'titleAr', 'فعّلنا المحادثة في إعلاناتك',
    'bodyAr', format(
      'لم يعد هناك رقم يظهر للمهتمين، ففعّلنا المحادثة ليتمكنوا من التواصل معك: %s',
      array_to_string(listings, '، ') || more),
    'titleEn', 'Chat is on for your listings',
    'bodyEn', format(
      'There is no number to give any more, so we switched chat on for whoever is interested: %s',
      array_to_string(listings, ', ') || more)))
  from public.identities where identities.id = notify_of_chat.identity_id;
end
$$;

create function private.keep_reachable() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (private.contact_of(new)).ways = '{}' then
    if tg_op = 'UPDATE' and old.status = 'active' and old.allow_chat then
      perform private.refuse_by_hand(
        'Nobody could reach the owner: there is no number to give, so allow_chat stays on.');
    end if;
    new.allow_chat := true;
    perform private.notify_of_chat(new.owner_identity_id, array[new.ref_no]);
  end if;
  return new;
end
$$;
comment on function private.keep_reachable is
  'Switches chat on for an active listing that offers no other contact. If chat is switched off by '
  'hand, refuses instead. Owners who try get an error from private.check_reachable first.';

create trigger properties_can_be_answered_on_insert
  before insert on public.properties
  for each row when (new.status = 'active' and not new.allow_chat)
  execute function private.keep_reachable();
comment on trigger properties_can_be_answered_on_insert on public.properties is
  'Runs after properties_abide_by_their_state_on_insert, which may change the status.';
create trigger properties_can_be_answered
  before update of status, allow_call, allow_whatsapp, allow_chat on public.properties
  for each row when (
    new.status = 'active' and not new.allow_chat
    and (old.status, old.allow_call, old.allow_whatsapp, old.allow_chat)
      is distinct from (new.status, new.allow_call, new.allow_whatsapp, new.allow_chat)
  )
  execute function private.keep_reachable();
comment on trigger properties_can_be_answered on public.properties is
  'Runs after properties_abide_by_their_state, which may change the status.';
