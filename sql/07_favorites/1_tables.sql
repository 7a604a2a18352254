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
comment on table public.favorites is
  'A property that an identity has saved, at most once. Goes with the listing.';
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

grant execute on function private.may_save, private.property_exists to authenticated;
