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

grant execute on function private.may_save to authenticated;
