create function private.hand_over_properties(
  ids uuid[], giver_id uuid, receiver public.identities
) returns json
  language plpgsql
  security definer -- writes listings of two identities; the caller has locked and checked them
  set search_path = ''
as $$
declare
  is_verified constant boolean := exists (
    select from public.organisations
    where organisations.identity_id = receiver.id and organisations.verified
  );
  allowed integer;
  used integer;
  active bigint;
  drafts bigint;
  moved public.properties[];
  property public.properties;
begin
  select array_agg(properties order by properties.id),
    count(*) filter (where properties.status = 'active'),
    count(*) filter (where properties.status = 'draft')
  into moved, active, drafts
  from public.properties where properties.id = any (ids);
  foreach property in array moved loop
    if property.status not in ('draft', 'active', 'paused', 'expired')
      or property.pending_changes is not null or property.auction_ends_at > now() then
      perform private.refuse_action(property);
    end if;
  end loop;
  allowed := (private.plan_of(receiver.id)).active_listings;
  used := private.listings_used(receiver.id);
  if active > 0 and used + active > allowed then
    perform private.refuse(402, 'quota_exceeded',
      jsonb_build_object('limit', allowed, 'used', used));
  end if;
  if drafts > 0 then
    perform private.check_drafts(receiver.id, drafts);
  end if;
  perform from public.organisations
  where organisations.identity_id in (giver_id, receiver.id)
  order by organisations.identity_id
  for no key update;
  foreach property in array moved loop
    property.owner_identity_id := receiver.id;
    if property.status = 'active' then
      perform private.check_reachable(property);
      property := private.publish_or_review(property);
      if private.setting('review_listings') = 'true' then
        property.status := 'pending_review';
      end if;
    end if;
    update public.properties
    set owner_identity_id = receiver.id, owner_type = receiver.type, owner_verified = is_verified,
        owner_active = true,
        is_direct = properties.is_direct and receiver.type = 'individual',
        status = property.status, version = properties.version + 1
    where properties.id = property.id;
  end loop;
  return (
    select json_build_object('items', json_agg(
      json_build_object('id', properties.id, 'status', properties.status) order by given.ordinal))
    from unnest(ids) with ordinality as given (id, ordinal)
    join public.properties on properties.id = given.id
  );
end
$$;
comment on function private.hand_over_properties is
  'Moves the listings to an active identity of the same account, either all of them or none. '
  'private.move_properties has checked that giver_id owns them.';

create function private.move_properties(ids uuid[], identity_id uuid) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  giver_id uuid;
  receiver public.identities;
  owned bigint;
begin
  perform private.require_identity();
  ids := array(
    select given.id from unnest(ids) with ordinality as given (id, ordinal)
    where given.id is not null
    group by given.id order by min(given.ordinal)
  );
  if cardinality(ids) not between 1 and 50 then
    perform private.refuse_field('ids', case when ids = '{}' then 'required' else 'too_big' end);
  end if;
  perform private.count_action('listing_edits') from unnest(ids);
  giver_id := private.lock_identity();
  if move_properties.identity_id = giver_id then
    perform private.refuse_field('identityId', 'self');
  end if;
  select * into receiver from public.identities
  where identities.id = move_properties.identity_id
    and identities.account_id = private.account_id();
  if receiver.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif receiver.status <> 'active' then
    perform private.refuse(403, 'identity_not_usable');
  end if;
  perform private.lock_quota(least(giver_id, receiver.id)),
    private.lock_quota(greatest(giver_id, receiver.id));
  perform from public.properties
  where properties.id = any (ids) and properties.owner_identity_id = giver_id
    and properties.status <> 'deleted'
  order by properties.id
  for no key update;
  get diagnostics owned = row_count;
  if owned < cardinality(ids) then
    perform private.refuse(404, 'property_not_found');
  end if;
  return private.hand_over_properties(ids, giver_id, receiver);
end
$$;
comment on function private.move_properties is
  'Api: Moves up to 50 listings of the acting identity to another identity of its account, either '
  'all of them or none. 404 property_not_found, identity_not_found, 403 identity_not_usable, 409 '
  'property_state_conflict, duplicate_listing, drafts_full, 402 quota_exceeded, 422 '
  'contact_missing.';

grant execute on function private.move_properties to authenticated;
