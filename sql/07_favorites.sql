-- Favorites: the listings that an identity has saved.
--
-- They belong to the acting identity: another identity of the account has its own. Only their owner
-- sees which they are; a listing shows how many saved it, and nobody sees who.

create table public.favorites (
  identity_id uuid not null default private.identity_id()
    references public.identities (id) on delete cascade,
  property_id uuid not null references public.properties (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (identity_id, property_id)
);
comment on table public.favorites is 'A property that an identity has saved, at most once.';
comment on column public.favorites.identity_id is 'Who saved it; no client can set it.';

-- The first serves list_favorites, the second the cascade from properties and notifying savers.
create index favorites_newest_idx
  on public.favorites (identity_id, created_at desc, property_id desc);
create index favorites_property_idx on public.favorites (property_id, identity_id);

-- A favorite is saved or removed, never changed: there is no update.
alter table public.favorites enable row level security;
revoke all on public.favorites from anon, authenticated;
grant select, delete, insert (property_id) on public.favorites to authenticated;

-- Without a search_path, as private.may_act (03_accounts/2_rules_access.sql), so that statements
-- inline it.
create function private.is_saveable(property public.properties, identity_id uuid) returns boolean
  language sql
  immutable
  parallel safe
  return (is_saveable.property).listed
    or (is_saveable.property).status = 'active'
      and (is_saveable.property).owner_identity_id = is_saveable.identity_id;
comment on function private.is_saveable is
  'Whether an identity can save a property now: it is listed, or active and its own.';

create function private.may_save(property_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
declare
  caller_id uuid := private.identity_id();
begin
  return exists (
    select from public.properties
    where properties.id = may_save.property_id and private.is_saveable(properties, caller_id)
  );
end
$$;
comment on function private.may_save is 'Whether the caller can save a property now.';

create policy "identities see their own favorites" on public.favorites for select to authenticated
  using (identity_id = (select private.identity_id()));
create policy "identities remove their own favorites" on public.favorites
  for delete to authenticated
  using (identity_id = (select private.identity_id()));
create policy "identities save what they can see" on public.favorites for insert to authenticated
  with check (
    identity_id = (select private.identity_id()) and private.may_save(property_id)
  );

create function private.is_withdrawn(property public.properties) returns boolean
  language sql
  immutable
  parallel safe
  return (is_withdrawn.property).status in (
    'deleted', 'suspended', 'rejected', 'draft', 'pending_review'
  );
comment on function private.is_withdrawn is
  'Whether a saved listing is left out of favorites: deleted, or no longer shown to anybody.';

create function private.property_exists(property_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
begin
  return exists (
    select from public.properties
    where properties.id = property_exists.property_id and not private.is_withdrawn(properties)
  );
end
$$;
comment on function private.property_exists is
  'Whether there is such a listing, and it is not withdrawn.';

create function private.count_favorite() returns trigger
  language plpgsql
  security definer -- writes a counter of another's row
  set search_path = ''
as $$
begin
  update private.property_counters
  set favorites = property_counters.favorites + case tg_op when 'INSERT' then 1 else -1 end
  where property_counters.property_id = coalesce(new.property_id, old.property_id);
  if not found and tg_op = 'INSERT' then
    insert into private.property_counters as counters (property_id, favorites)
    values (new.property_id, 1)
    on conflict on constraint property_counters_pkey do update
    set favorites = counters.favorites + 1;
  end if;
  return null;
end
$$;
comment on function private.count_favorite is 'Keeps property_counters.favorites up to date.';

create trigger favorites_are_counted
  after insert or delete on public.favorites
  for each row execute function private.count_favorite();

create function private.delete_favorites() returns trigger
  language plpgsql
  security definer -- deletes rows of a closed identity
  set search_path = ''
as $$
begin
  delete from public.favorites where favorites.identity_id = new.id;
  return null;
end
$$;
comment on function private.delete_favorites is 'Deletes the favorites of a closed identity.';

create trigger identities_forget_their_favorites
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.delete_favorites();

create function private.toggle_favorite(property_id uuid) returns boolean
  language plpgsql
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
declare
  -- A rate is counted before anything is locked.
  hit timestamptz := private.count_action('favorites');
  saver_id uuid := private.lock_identity();
begin
  loop
    delete from public.favorites
    using public.properties
    where favorites.identity_id = saver_id
      and favorites.property_id = toggle_favorite.property_id
      and properties.id = toggle_favorite.property_id
      and not private.is_withdrawn(properties);
    if found then
      return false;
    end if;
    insert into public.favorites (identity_id, property_id)
    select saver_id, properties.id from public.properties
    where properties.id = toggle_favorite.property_id
      and private.is_saveable(properties, saver_id)
    on conflict do nothing;
    if found then
      return true;
    end if;
    if not private.may_save(toggle_favorite.property_id) then
      perform private.refuse(404, 'property_not_found');
    end if;
    -- Saved by another call since the delete looked, so this one removes it.
  end loop;
end
$$;
comment on function private.toggle_favorite is
  'Whether the property is saved now; see api.toggle_favorite.';

create function api.toggle_favorite(property_id uuid)
  returns table ("propertyId" uuid, "isFavorite" boolean)
  language plpgsql
  set search_path = ''
as $$
begin
  "propertyId" := toggle_favorite.property_id;
  "isFavorite" := private.toggle_favorite(toggle_favorite.property_id);
  return next;
end
$$;
comment on function api.toggle_favorite is
  'Saves a property, or removes it where it is saved; exact under parallel calls. 404 '
  'property_not_found, 429.';

create function private.list_favorite_ids() returns json
  language plpgsql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
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
comment on function private.list_favorite_ids is 'All saved ids; see api.list_favorite_ids.';

create function api.list_favorite_ids() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.list_favorite_ids();
end
$$;
comment on function api.list_favorite_ids is 'The ids of all saved properties, newest first.';

create function private.favorite_without_card(property public.properties, owner_id uuid)
  returns text
  language plpgsql
  stable
  security definer -- reads a listing that row security hides from the caller
  set search_path = ''
as $$
begin
  if property.listed or property.status = 'active' and property.owner_identity_id = owner_id then
    return (
      select private.card_text(
        card, identities, true, owner_id, private.setting('files_url') #>> '{}')
      from private.property_card(property) as card
      join public.identities on identities.id = property.owner_identity_id
    );
  end if;
  return json_strip_nulls(json_build_object(
    'id', property.id,
    'status', 'unavailable',
    'isFavorite', true,
    'available', false,
    -- The title only where the owner closed or hid the listing, not where the owner is suspended.
    'titleAr', case when property.status <> 'active' and property.owner_active
      then property.title_ar end
  ));
end
$$;
comment on function private.favorite_without_card is
  'A saved property that is not listed: its card where it is active and the caller''s own, else '
  'that it is unavailable.';

create function private.favorites_page(
  page_cursor text default null, page_size integer default 20, fields text default 'card'
) returns text
  language plpgsql
  stable
  security definer -- reads listings that row security hides from the caller
  set search_path = ''
  set plan_cache_mode = 'force_generic_plan' -- the plan is the same for everybody
as $$
declare
  owner_id uuid := private.require_identity();
  query text := 'list_favorites ' || owner_id;
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  take integer := private.page_size(page_size);
  items text;
  last_keys jsonb;
begin
  select
    string_agg(saved.item, ',' order by saved.place) filter (where saved.place <= take),
    jsonb_agg(jsonb_build_array(saved.created_at, saved.property_id) order by saved.place)
      filter (where saved.place >= take)
  into items, last_keys
  from (
    select
      favorites.created_at,
      favorites.property_id,
      row_number() over (order by favorites.created_at desc, favorites.property_id desc) as place,
      case when property_cards.property_id is not null
        then private.card_text(property_cards, identities, true, owner_id, (
          select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
        ))
        else private.favorite_without_card(properties, owner_id)
      end as item
    from public.favorites
    left join private.property_cards on property_cards.property_id = favorites.property_id
    left join public.identities on identities.id = property_cards.owner_identity_id
    -- The row is only looked at where there is no card.
    left join public.properties on properties.id =
      case when property_cards.property_id is null then favorites.property_id end
    where favorites.identity_id = owner_id
      and (favorites.created_at, favorites.property_id) < (before_at, before_id)
      and (property_cards.property_id is not null or not private.is_withdrawn(properties))
    order by favorites.created_at desc, favorites.property_id desc
    limit take + 1
  ) as saved;

  if private.wants_records(fields) then
    items := private.favorite_records(items, owner_id);
  end if;
  return '{"items":[' || coalesce(items, '') || '],"nextCursor":'
    || coalesce('"' || private.next_cursor(query, last_keys) || '"', 'null') || '}';
end
$$;
comment on function private.favorites_page is
  'Facade: a page of saved properties as JSON text; see api.list_favorites.';

create function private.favorite_records(cards text, owner_id uuid) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  items json := '[' || cards || ']';
begin
  return (
    select string_agg(coalesce(records.record, saved.item)::text, ',' order by saved.place)
    from json_array_elements(items) with ordinality as saved (item, place)
    left join private.property_records(array(
      select (available.item ->> 'id')::uuid from json_array_elements(items) as available (item)
      where available.item ->> 'status' <> 'unavailable'
    ), owner_id) as records on records.id = (saved.item ->> 'id')::uuid
  );
end
$$;
comment on function private.favorite_records is
  'The same favorites with whole records in place of cards.';

create function api.list_favorites(
  page_cursor text default null, page_size integer default 20, fields text default 'card'
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select page -> 'items', page ->> 'nextCursor'
  from (select private.favorites_page(page_cursor, page_size, fields)::json) as saved (page);
end
$$;
comment on function api.list_favorites is
  'Saved properties, newest first: their cards, or with fields full their records. One that cannot '
  'be shown now is marked as unavailable, with its title where the owner closed or hid it; '
  'withdrawn ones are left out.';

create function api.check_favorite(property_id uuid) returns boolean
  language plpgsql
  stable
  set search_path = ''
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
  'Whether the property is saved; false for an unknown one.';

grant execute on function private.may_save, private.property_exists, private.toggle_favorite,
  private.list_favorite_ids, private.favorites_page to authenticated;
grant execute on function
  api.toggle_favorite, api.list_favorite_ids, api.list_favorites, api.check_favorite
  to authenticated;
