create function private.set_auction(
  property_id uuid,
  starts_at timestamptz,
  ends_at timestamptz,
  start_price numeric,
  min_increment numeric
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  property public.properties;
begin
  perform private.lock_identity();
  perform private.refuse_fields((
    select coalesce(jsonb_agg(private.field_problem(path, code)), '[]')
    from (values
      ('startsAt', case when starts_at is null then 'required'
        when starts_at <= now() then 'too_small' end),
      ('endsAt', case when ends_at is null then 'required'
        when ends_at < starts_at + interval '1 hour' then 'too_small'
        when ends_at > now() + interval '90 days' then 'too_big' end),
      ('startPrice', private.number_problem('number', to_jsonb(start_price), 0, 99999999999.999)),
      ('minIncrement',
        private.number_problem('number', to_jsonb(min_increment), 0.001, 99999999999.999))
    ) as rule (path, code)
    where code is not null
  ));
  property := private.lock_property_for_auction(property_id);
  -- Ending a pause will extend expires_at by its length. A draft has no expiry before publication.
  if ends_at > (case property.status
    when 'active' then property.expires_at
    when 'paused' then property.expires_at + (now() - property.paused_at)
    when 'pending_review' then greatest(property.expires_at, now() + make_interval(
      days => (private.plan_of(property.owner_identity_id)).listing_days)) end) then
    perform private.refuse_field('endsAt', 'too_big');
  end if;

  insert into public.auctions (property_id, starts_at, ends_at, start_price, min_increment)
  values (property.id, set_auction.starts_at, set_auction.ends_at, set_auction.start_price,
    set_auction.min_increment)
  on conflict on constraint auctions_pkey do update
  set starts_at = excluded.starts_at, ends_at = excluded.ends_at,
      start_price = excluded.start_price, min_increment = excluded.min_increment,
      created_at = now();
  return private.property_record(property.id, property.owner_identity_id);
end
$$;

create function private.remove_auction(property_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  property public.properties := private.lock_property_for_auction(property_id);
begin
  delete from public.auctions where auctions.property_id = property.id;
end
$$;

create function api.set_auction(
  property_id uuid,
  starts_at timestamptz,
  ends_at timestamptz,
  start_price numeric,
  min_increment numeric
) returns json
  language sql set search_path = ''
as $$
  select private.count_action('listing_edits');
  select private.set_auction(property_id, starts_at, ends_at, start_price, min_increment);
$$;
comment on function api.set_auction is
  'Sets the auction of a listing for sale: its window, start price and minimum increment. Replaces '
  'an auction that is not running. 404 property_not_found, 422 field_not_for_type, too_big if the '
  'auction would end after the listing expires, 409 property_state_conflict.';

create function api.remove_auction(property_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.count_action('listing_edits');
  select private.remove_auction(property_id);
$$;
comment on function api.remove_auction is
  'Removes an auction that is not running. Repeated calls have no further effect. Fails with the '
  'same errors as api.set_auction.';

grant execute on function
  private.set_auction, private.remove_auction, api.set_auction, api.remove_auction
  to authenticated;
