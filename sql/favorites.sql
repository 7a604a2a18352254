-- Favorites: the properties that an identity has saved to come back to.
--
-- They belong to the acting identity: switching shows none of another's. Only their owner sees which
-- ones; a listing shows how many saved it, nobody who.

create table public.favorites (
  identity_id uuid not null default private.identity_id()
    references public.identities (id) on delete cascade,
  property_id uuid not null references public.properties (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (identity_id, property_id)
);
comment on table public.favorites is 'A property that an identity has saved, at most once.';
comment on column public.favorites.identity_id is 'Who saved it; no client can set it.';
comment on column public.favorites.property_id is 'What was saved.';
comment on column public.favorites.created_at is 'When; lists are newest first.';

-- The first serves list_favorites, the second the cascade from properties.
create index favorites_newest_idx
  on public.favorites (identity_id, created_at desc, property_id desc);
create index favorites_property_idx on public.favorites (property_id);

-- A favorite is saved or removed, never edited: there is no update.
alter table public.favorites enable row level security;
revoke all on public.favorites from anon, authenticated;
grant select, delete, insert (property_id) on public.favorites to authenticated;

create function private.may_save(property_id uuid) returns boolean
  language sql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
  select exists (
    select from public.properties
    where properties.id = may_save.property_id
      and (
        properties.listed
        or properties.status = 'active'
          and properties.owner_identity_id = (select private.identity_id())
      )
  )
$$;
comment on function private.may_save is 'Whether a property can be saved now: listed, or one''s own active one.';

create policy "identities see their own favorites" on public.favorites for select to authenticated
  using (identity_id = (select private.identity_id()));
create policy "identities remove their own favorites" on public.favorites
  for delete to authenticated
  using (identity_id = (select private.identity_id()));
create policy "identities save what they can see" on public.favorites for insert to authenticated
  with check (
    identity_id = (select private.identity_id()) and private.may_save(property_id)
  );

create function private.is_gone(property_id uuid) returns boolean
  language sql
  stable
  security definer -- looks at listings that row security hides from the caller
  set search_path = ''
as $$
  select not exists (
    select from public.properties
    where properties.id = is_gone.property_id
      and properties.status not in ('deleted', 'suspended', 'rejected', 'draft', 'pending_review')
  )
$$;
comment on function private.is_gone is
  'Whether a saved property is gone for whoever saved it: deleted, or no longer shown to anybody.';

create function private.count_favorite() returns trigger
  language plpgsql
  security definer -- writes a counter of another's row
  set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    update public.properties set favorites_count = properties.favorites_count + 1
    where properties.id = new.property_id;
  else
    update public.properties set favorites_count = properties.favorites_count - 1
    where properties.id = old.property_id;
  end if;
  return null;
end
$$;
comment on function private.count_favorite is 'Keeps properties.favorites_count.';

create trigger favorites_are_counted
  after insert or delete on public.favorites
  for each row execute function private.count_favorite();

create function api.toggle_favorite(property_id uuid)
  returns table ("propertyId" uuid, "isFavorite" boolean)
  language plpgsql
  set search_path = ''
as $$
declare
  identity_id uuid := private.require_identity();
begin
  -- Calls on one favorite pass one after another, so each of them really turns it over.
  perform pg_advisory_xact_lock(hashtextextended(identity_id::text || toggle_favorite.property_id, 1));

  if private.is_gone(toggle_favorite.property_id) then
    perform private.refuse(404, 'property_not_found');
  end if;
  "propertyId" := toggle_favorite.property_id;

  delete from public.favorites
  where favorites.identity_id = private.identity_id()
    and favorites.property_id = toggle_favorite.property_id;
  "isFavorite" := not found;
  if "isFavorite" then
    if not private.may_save(toggle_favorite.property_id) then
      perform private.refuse(404, 'property_not_found');
    end if;
    insert into public.favorites (property_id) values (toggle_favorite.property_id);
  end if;
  return next;
end
$$;
comment on function api.toggle_favorite is
  'Saves a property or forgets it, exact under parallel calls. 404 property_not_found.';

create function api.list_favorite_ids() returns json
  language sql
  stable
  set search_path = ''
as $$
  select json_build_object('ids', coalesce(
    json_agg(favorites.property_id order by favorites.created_at desc, favorites.property_id desc),
    '[]'))
  from public.favorites
  where favorites.identity_id = (select private.require_identity())
    and not private.is_gone(favorites.property_id)
$$;
comment on function api.list_favorite_ids is 'The ids of all saved properties, newest first.';

create function api.check_favorite(property_id uuid) returns boolean
  language sql
  stable
  set search_path = ''
as $$
  select exists (
    select from public.favorites
    where favorites.identity_id = (select private.require_identity())
      and favorites.property_id = check_favorite.property_id
  ) and not private.is_gone(check_favorite.property_id)
$$;
comment on function api.check_favorite is 'Whether the property is saved; false for an unknown one.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.may_save, private.is_gone to authenticated;
grant execute on function api.toggle_favorite, api.list_favorite_ids, api.check_favorite
  to authenticated;
