create function private.record_publication() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  sorted_at timestamptz;
  at timestamptz;
begin
  if new.listed then
    select listing_places.sorted_at into sorted_at from private.listing_places
    where listing_places.property_id = new.id;
    if sorted_at is null then
      -- A row that is inserted with an earlier published_at is an import, and that time is its place.
      sorted_at := case when tg_op = 'INSERT' and new.published_at < now() then new.published_at
        else private.take_feed_place(new.owner_identity_id, new.published_at) end;
      insert into private.listing_places (property_id, sorted_at) values (new.id, sorted_at);
    end if;
  end if;
  at := private.publishing_time();
  update private.publications set until = greatest(at, publications.since)
  where publications.property_id = new.id and publications.until > at;
  if new.listed then
    insert into private.publications (property_id, type, published_at, since)
    values (new.id, new.type, sorted_at, at);
  end if;
  return null;
end
$$;
comment on function private.record_publication is
  'Records when a listing is listed and unlisted, for the snapshots of the feed.';

create constraint trigger properties_publishing_is_recorded_on_insert
  after insert on public.properties
  deferrable initially deferred
  for each row when (new.listed)
  execute function private.record_publication();
create constraint trigger properties_publishing_is_recorded
  after update on public.properties
  deferrable initially deferred
  for each row when (
    (old.listed or new.listed)
    and (old.listed, old.type, old.published_at)
      is distinct from (new.listed, new.type, new.published_at)
  )
  execute function private.record_publication();

create function private.record_office_rank() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  at constant timestamptz := private.publishing_time();
begin
  update private.office_ranks set until = greatest(at, office_ranks.since)
  where office_ranks.identity_id = new.identity_id and office_ranks.until > at;
  if new.listed then
    insert into private.office_ranks (identity_id, rating, since)
    values (new.identity_id, new.rating_weighed, at);
  end if;
  return null;
end
$$;
comment on function private.record_office_rank is
  'Records when an office is listed and unlisted, and its rating, for the snapshots of the feed.';

create constraint trigger organisations_rank_is_recorded_on_insert
  after insert on public.organisations
  deferrable initially deferred
  for each row when (new.listed and new.type = 'office')
  execute function private.record_office_rank();
create constraint trigger organisations_rank_is_recorded
  after update on public.organisations
  deferrable initially deferred
  for each row when (
    new.type = 'office' and (old.listed or new.listed)
    and (old.listed, old.rating_weighed) is distinct from (new.listed, new.rating_weighed)
  )
  execute function private.record_office_rank();
