-- An identity sees only its own favorites. Everybody sees how many identities saved a listing.

create table public.favorites (
  identity_id uuid not null default private.identity_id()
    references public.identities (id) on delete cascade,
  property_id uuid not null references public.properties (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  counted boolean not null default true,
  primary key (identity_id, property_id)
);
comment on table public.favorites is 'Saved properties. Deleted with the listing.';
comment on column public.favorites.identity_id is
  'The identity that saved the listing. Clients cannot set it.';

comment on column public.favorites.counted is
  'Whether property_counters.favorites includes the row. It does while the identity may act.';

-- The first index serves private.list_favorites. The second serves deletions of listings, and
-- notifications to the people who saved a listing.
create index favorites_newest_idx
  on public.favorites (identity_id, created_at desc, property_id desc);
create index favorites_property_idx on public.favorites (property_id, identity_id);

alter table public.favorites enable row level security;
revoke all on public.favorites from anon, authenticated;
grant select, delete, insert (property_id) on public.favorites to authenticated;
grant select, delete, insert on public.favorites to acting;

-- No search_path, so that the planner can inline this function (03_accounts/2_rules_access.sql).
create function private.is_saveable(property public.properties, identity_id uuid) returns boolean
  language sql immutable parallel safe
  return (is_saveable.property).listed
    or (is_saveable.property).status = 'active'
      and (is_saveable.property).owner_identity_id = is_saveable.identity_id;

create function private.may_save(property_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads listings that row-level security hides from the caller
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

create policy "identities see their own favorites" on public.favorites
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
create policy "identities remove their own favorites" on public.favorites
  for delete to authenticated, acting
  using (identity_id = (select private.identity_id()));
create policy "identities save for themselves" on public.favorites for insert to acting
  with check (identity_id = (select private.identity_id()));
create policy "identities save what they can see" on public.favorites for insert to authenticated
  with check (
    identity_id = (select private.identity_id()) and private.may_save(property_id)
  );

grant execute on function private.may_save to authenticated;
