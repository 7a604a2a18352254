create function private.list_my_properties(
  status text default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  owner_id uuid := private.require_identity();
  query text := concat_ws(' ', 'list_my_properties', owner_id, status);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  ids uuid[];
begin
  if status not in ('draft', 'pending_review', 'active', 'rejected', 'paused', 'sold', 'rented',
    'exchanged', 'expired', 'archived', 'suspended') then
    perform private.refuse_field('status', 'invalid');
  end if;
  ids := array(
    select properties.id from public.properties
    where properties.owner_identity_id = owner_id
      and properties.status <> 'deleted'
      and (list_my_properties.status is null or properties.status = list_my_properties.status)
      and (properties.created_at, properties.id) < (before_at, before_id)
    order by properties.created_at desc, properties.id desc
    limit private.page_size(page_size) + 1
  );
  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    private.next_cursor(query, (
      select jsonb_agg(jsonb_build_array(properties.created_at, properties.id)
        order by properties.created_at desc, properties.id desc)
      from public.properties where properties.id = any (ids[page_size:])
    ))
  from private.property_records(ids[:page_size], owner_id) as records;
end
$$;
comment on function private.list_my_properties is
  'Api: Lists the listings of the acting identity, newest first. status restricts them to one '
  'state.';

create function private.list_price_history(
  property_id uuid, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  property public.properties :=
    private.require_visible_property(property_id, private.identity_id());
  query text := concat_ws(' ', 'list_price_history', property.id);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id bigint := coalesce((key ->> 1)::bigint, 0);
begin
  return query
  with page as (
    select
      price_history.id, price_history.price, price_history.changed_at,
      row_number() over (order by price_history.changed_at desc, price_history.id desc) as row_number
    from public.price_history
    where price_history.property_id = property.id
      and (price_history.changed_at, price_history.id) < (before_at, before_id)
    order by price_history.changed_at desc, price_history.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(
      json_agg(json_build_object('price', page.price, 'changedAt', page.changed_at)
        order by page.row_number) filter (where page.row_number <= page_size),
      '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.changed_at, page.id) order by page.row_number)
        filter (where page.row_number >= page_size))
  from page;
end
$$;
comment on function private.list_price_history is
  'Api: Lists the prices of a listing in the last two years, and the price that applied when these '
  'years began, newest first. 404 property_not_found.';

create function private.similar_properties(property public.properties, depth integer)
  returns uuid[]
  language plpgsql stable
  security definer -- row-level security would rule out the index on prices; reads accounts of owners
  set search_path = ''
as $$
declare
  own_price numeric := coalesce(property.price, -1);
begin
  return array(
    select of_account.id
    from (
      select
        nearest.id, nearest.is_here, nearest.difference,
        row_number() over (
          partition by identities.account_id
          order by nearest.is_here desc, nearest.difference, nearest.id
        ) as nth
      from (
        -- The nearest prices above and below are read in index order, area by area.
        select
          near.id, near.owner_identity_id,
          areas.id = property.area_id as is_here, abs(near.price - own_price) as difference
        from public.areas
        cross join lateral (
          (
            select
              properties.id, properties.owner_identity_id, coalesce(properties.price, -1) as price
            from public.properties
            where properties.listed and properties.type = property.type
              and properties.kind = property.kind and properties.area_id = areas.id
              and coalesce(properties.price, -1) >= own_price
            order by coalesce(properties.price, -1)
            limit depth + 1
          )
          union all
          (
            select properties.id, properties.owner_identity_id, coalesce(properties.price, -1)
            from public.properties
            where properties.listed and properties.type = property.type
              and properties.kind = property.kind and properties.area_id = areas.id
              and coalesce(properties.price, -1) < own_price
            order by coalesce(properties.price, -1) desc
            limit depth
          )
        ) as near
        where areas.governorate_id = property.governorate_id and near.id <> property.id
        order by areas.id = property.area_id desc, abs(near.price - own_price), near.id
        limit depth * 4
      ) as nearest
      join public.identities on identities.id = nearest.owner_identity_id
    ) as of_account
    where of_account.nth <= 2
    order by of_account.is_here desc, of_account.difference, of_account.id
    limit 10
  );
end
$$;
comment on function private.similar_properties is
  'Returns the ten most similar listings, at most two per account. Those in the same area come '
  'first, then those with the nearest prices. depth limits how many listings with a higher and '
  'with a lower price are considered in each area.';

create function private.list_similar_properties(property_id uuid, fields text default 'card')
  returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  property public.properties := private.require_visible_property(property_id, viewer_id);
  ids uuid[] := private.similar_properties(property, 10);
begin
  -- There may be fewer than ten, for example if most belong to one account. Then more are considered.
  if cardinality(ids) < 10 then
    ids := private.similar_properties(property, 300);
  end if;
  return '{"items":' || private.list_items(private.without_blocked(ids), viewer_id, fields)
    || ',"nextCursor":null}';
end
$$;
comment on function private.list_similar_properties is
  'Api: Returns up to ten listings of the same type and kind in the same governorate, at most two '
  'per account, as cards, or as records if fields is full. Those in the same area come first, then '
  'those with the nearest prices. 404 property_not_found.';

grant execute on function private.list_my_properties to authenticated;
grant execute on function private.list_price_history, private.list_similar_properties
  to anon, authenticated;
