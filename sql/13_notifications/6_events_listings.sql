-- Notifications of what happens to a listing.
--
-- Its owner is notified at once. What concerns everybody who saved it is only noted, and a job
-- notifies them (7_jobs_fan_out.sql): an owner does not wait for 10,000.

create function private.note_for_savers() returns trigger
  language plpgsql
  security definer -- writes a closed table, for whoever changed the listing
  set search_path = ''
as $$
begin
  if new.favorites_count = 0 then
    return null;
  end if;
  if new.status = old.status then
    insert into private.news (kind, property_id, facts)
    values ('favorite_price_drop', new.id, jsonb_build_object('before', old.price));
  else
    insert into private.news (kind, property_id) values ('favorite_unavailable', new.id);
  end if;
  return null;
end
$$;
comment on function private.note_for_savers is
  'One row, however many saved the listing: its price fell, or it cannot be had any more.';

create trigger properties_price_falls_for_savers
  after update of price, status on public.properties
  for each row when (
    old.status = 'active' and new.status = 'active' and new.price < old.price
    or old.status = 'active' and new.status <> 'active'
  )
  execute function private.note_for_savers();

create function private.tell_listing_owner(
  property public.properties, kind text, facts jsonb
) returns void
  language plpgsql
  security definer -- finds the account behind an identity
  set search_path = ''
as $$
begin
  perform private.notify(identities.account_id, identities.id, tell_listing_owner.kind, property.id,
    jsonb_build_object('titleAr', property.title_ar, 'titleEn', property.title_en)
      || tell_listing_owner.facts)
  from public.identities where identities.id = property.owner_identity_id;
end
$$;
comment on function private.tell_listing_owner is
  'Tells the owner of a listing something about it.';

create function private.on_listing_decided() returns trigger
  language plpgsql
  security definer -- tells the owner, whoever decided
  set search_path = ''
as $$
begin
  perform private.tell_listing_owner(new,
    case new.status when 'active' then 'listing_approved' else 'listing_rejected' end,
    jsonb_build_object('reason', new.status_reason));
  return null;
end
$$;
comment on function private.on_listing_decided is 'An admin approved or rejected a listing.';

create trigger properties_decisions_are_told
  after update of status on public.properties
  for each row when (
    old.status = 'pending_review' and new.status in ('active', 'rejected')
  )
  execute function private.on_listing_decided();

create function private.on_lead() returns trigger
  language plpgsql
  security definer -- tells the owner, whoever asked
  set search_path = ''
as $$
begin
  perform private.tell_listing_owner(properties, 'lead_new', jsonb_build_object('way', new.kind))
  from public.properties where properties.id = new.property_id;
  return null;
end
$$;
comment on function private.on_lead is 'Somebody asked for the contact of a listing.';

create trigger leads_are_told
  after insert on public.leads
  for each row execute function private.on_lead();
