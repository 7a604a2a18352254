create function private.list_favorite_ids() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  return json_build_object('ids', (
    select coalesce(
      json_agg(properties.id order by favorites.created_at desc, favorites.property_id desc), '[]')
    from public.favorites
    join public.properties on properties.id = favorites.property_id
    where favorites.identity_id = owner_id
      and not private.is_withdrawn(properties)
  ));
end
$$;
comment on function private.list_favorite_ids is
  'Api: Lists the ids of the saved properties that are not withdrawn, newest first.';

create function private.favorite_without_card(property public.properties, owner_id uuid)
  returns text
  language plpgsql stable
  security definer -- builds a card from the listing of another identity
  set search_path = ''
as $$
begin
  if property.listed or property.status = 'active' and property.owner_identity_id = owner_id then
    return (
      select private.card_text(
        card, true, owner_id, private.setting('files_url') #>> '{}', private.in_english())
      from private.property_card(property) as card
    );
  end if;
  return json_strip_nulls(json_build_object(
    'id', property.id,
    'status', 'unavailable',
    'isFavorite', true,
    'available', false,
    'titleAr', private.shown_title(property, null)
  ));
end
$$;
comment on function private.favorite_without_card is
  'Builds the card of a listing that is listed, or that is active and belongs to owner_id. For any '
  'other listing, returns its id with status unavailable.';

create function private.list_favorites(
  page_cursor text default null, page_size integer default 20, fields text default 'card'
) returns text
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = 'force_generic_plan' -- all callers need the same plan
as $$
declare
  owner_id uuid := private.require_identity();
  query text := 'list_favorites ' || owner_id;
  before_at timestamptz := 'infinity';
  before_id uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  take integer := private.page_size(page_size);
  items text[];
  saved_at timestamptz[];
  ids uuid[];
  next_cursor text;
begin
  if page_cursor is not null then
    select key ->> 0, key ->> 1 into strict before_at, before_id
    from private.cursor_key(query, page_cursor) as key;
  end if;

  -- The arrays keep the order of the inner query. Sorting them again would take a fifth of the total time.
  select array_agg(saved.item), array_agg(saved.created_at), array_agg(saved.property_id)
  into items, saved_at, ids
  from (
    select
      favorites.created_at,
      favorites.property_id,
      case when property_cards.property_id is not null
        then private.card_text(property_cards, true, owner_id, (
          select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
        ), private.in_english())
        else private.favorite_without_card(properties, owner_id)
      end as item
    from public.favorites
    left join private.property_cards on property_cards.property_id = favorites.property_id
    -- The row of the listing is read only if there is no stored card.
    left join public.properties on properties.id =
      case when property_cards.property_id is null then favorites.property_id end
    where favorites.identity_id = owner_id
      and (favorites.created_at, favorites.property_id) < (before_at, before_id)
      and (property_cards.property_id is not null or not private.is_withdrawn(properties))
    order by favorites.created_at desc, favorites.property_id desc
    limit take + 1
  ) as saved;

  if cardinality(items) > take then
    next_cursor := private.cursor_of(query, jsonb_build_array(saved_at[take], ids[take]));
    items := items[:take];
  end if;
  if private.wants_records(fields) then
    items := private.favorite_records(items, owner_id);
  end if;
  return '{"items":[' || coalesce(array_to_string(items, ','), '')
    || '],"nextCursor":' || coalesce('"' || next_cursor || '"', 'null') || '}';
end
$$;
comment on function private.list_favorites is
  'Api: Lists the saved properties, newest first, as cards, or as records if fields is full. A '
  'property that currently cannot be shown is marked as unavailable, and has a title if its owner '
  'closed or hid it. Withdrawn properties are omitted.';

create function private.favorite_records(items text[], owner_id uuid) returns text[]
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    with saved as materialized (
      select item, item::json ->> 'status' <> 'unavailable' as available,
        (item::json ->> 'id')::uuid as id, ordinal
      from unnest(items) with ordinality as given (item, ordinal)
    )
    select array_agg(coalesce(records.record::text, saved.item) order by saved.ordinal)
    from saved
    left join private.property_records(
      array(select saved.id from saved where saved.available), owner_id
    ) as records on records.id = saved.id
  );
end
$$;

create function api.check_favorite(property_id uuid) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  return exists (
    select from public.favorites
    where favorites.identity_id = owner_id
      and favorites.property_id = check_favorite.property_id
  ) and private.property_exists(check_favorite.property_id);
end
$$;
comment on function api.check_favorite is
  'Whether the property is saved. False for an unknown or withdrawn property.';

grant execute on function private.list_favorite_ids, private.list_favorites, api.check_favorite
  to authenticated;
