-- Jobs that tell many: everybody who saved a listing, every owner whose listing is about to expire,
-- everybody who signed in.

create function private.has_news() returns boolean
  language sql
  stable
  security definer -- looks into a closed table
  set search_path = ''
as $$
  select exists (select from private.news where news.told_at is null)
    or exists (
      select from private.late_notices
      where late_notices.created_at < clock_timestamp() - interval '1 second'
    )
$$;
comment on function private.has_news is 'Whether there is something to spread.';

create function private.spread_sign_ins() returns bigint
  language plpgsql
  security definer -- tells whoever signed in
  set search_path = ''
as $$
declare
  sign_in private.news;
  told bigint := 0;
begin
  -- Sessions that end within two seconds were checks of a password (on_session_ended).
  for sign_in in
    select * from private.news
    where news.told_at is null and news.kind = 'security_login'
      and news.created_at < clock_timestamp() - interval '2 seconds'
      and not private.rests('spread_sign_ins', news.id::text)
    order by news.id
    limit 200
    for update skip locked
  loop
    begin
      perform private.notify(sign_in.account_id, null, 'security_login', sign_in.session_id,
        jsonb_build_object('at', sign_in.created_at));
      delete from private.news where news.id = sign_in.id;
      told := told + 1;
    exception
      when others then
        perform private.step_failed('spread_sign_ins', sign_in.id::text, sqlstate, sqlerrm);
    end;
  end loop;
  return told;
end
$$;
comment on function private.spread_sign_ins is 'Job: tells accounts of new sign-ins.';

create function private.next_news() returns private.news
  language plpgsql
  security definer -- reads and writes a closed table
  set search_path = ''
as $$
declare
  next_one private.news;
  newer private.news;
begin
  select * into next_one from private.news
  where news.told_at is null and news.property_id is not null
  order by news.id
  limit 1
  for update skip locked;
  if next_one.id is null then
    return null;
  end if;
  -- Several of a kind are one: the newest, which begins anew; a price is compared with the first.
  select * into newer from private.news
  where news.property_id = next_one.property_id and news.kind = next_one.kind
    and news.told_at is null and news.id > next_one.id
  order by news.id desc
  limit 1
  for update skip locked;
  if newer.id is not null then
    delete from private.news
    where news.property_id = next_one.property_id and news.kind = next_one.kind
      and news.told_at is null and news.id < newer.id;
    update private.news set facts = next_one.facts || jsonb_build_object('before', greatest(
      (next_one.facts ->> 'before')::numeric, (newer.facts ->> 'before')::numeric))
    where news.id = newer.id
    returning * into next_one;
  end if;
  return next_one;
end
$$;
comment on function private.next_news is
  'The oldest news of a listing that nobody else is spreading, locked.';

create function private.news_facts(news private.news) returns jsonb
  language plpgsql
  stable
  security definer -- reads listings of others and what was told of them
  set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties where properties.id = news.property_id;
  -- What holds now is told, not what held when it happened.
  if news.kind = 'favorite_price_drop' then
    if not property.listed or (property.price < (news.facts ->> 'before')::numeric) is not true
      or exists (
        select from private.news as told
        where told.property_id = news.property_id and told.kind = news.kind
          and told.told_at > now() - interval '1 day'
      ) then
      return null;
    end if;
    return jsonb_build_object('from', property.owner_identity_id,
      'titleAr', property.title_ar, 'titleEn', property.title_en,
      'type', property.type, 'price', property.price, 'before', news.facts -> 'before');
  end if;
  if property.status = 'active' or exists (
    select from private.news as told
    where told.property_id = news.property_id and told.kind = news.kind
      and told.told_at > now() - interval '1 day' and told.facts ->> 'status' = property.status
  ) then
    return null;
  end if;
  return jsonb_build_object('status', property.status) || case
    when not private.is_gone(property)
      then jsonb_build_object('from', property.owner_identity_id,
        'titleAr', property.title_ar, 'titleEn', property.title_en)
    else '{}' end;
end
$$;
comment on function private.news_facts is
  'What the texts of news need; null when they hold no more, or were told within a day.';

create function private.spread_news() returns bigint
  language plpgsql
  security definer -- tells accounts of others' listings
  set search_path = ''
as $$
declare
  item private.news := private.next_news();
  words jsonb;
  saver record;
  heard bigint := 0;
begin
  if item.id is null then
    return 0;
  end if;
  -- Whose words are told cannot go meanwhile, and with them what was told before.
  perform private.hold_owner(properties.owner_identity_id) from public.properties
  where properties.id = item.property_id;
  words := private.news_facts(item) || jsonb_build_object('at', item.created_at);
  if words is null then
    delete from private.news where news.id = item.id;
    return 1;
  end if;
  for saver in
    select favorites.identity_id, identities.account_id
    from public.favorites
    join public.identities on identities.id = favorites.identity_id
    where favorites.property_id = item.property_id
      and favorites.identity_id
        > coalesce(item.reached, '00000000-0000-0000-0000-000000000000')
    order by favorites.identity_id
    limit 200
  loop
    begin
      perform private.notify(
        saver.account_id, saver.identity_id, item.kind, item.property_id, words);
    exception
      when lock_not_available or deadlock_detected then raise; -- all of them once more
      when others then
        perform private.step_failed('spread_news', saver.identity_id::text, sqlstate, sqlerrm);
    end;
    item.reached := saver.identity_id;
    heard := heard + 1;
  end loop;
  update private.news
  set reached = item.reached, facts = item.facts || jsonb_build_object('status', words -> 'status'),
      told_at = case when heard < 200 then now() end
  where news.id = item.id;
  return greatest(heard, 1);
end
$$;
comment on function private.spread_news is
  'Job: tells the next 200 of those who saved a listing; 0 when there is nothing left to tell.';

-- Notices that were late -------------------------------------------------------------------------

-- No foreign keys: to write a row must not wait for anything.
create table private.late_notices (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  identity_id uuid,
  kind text not null,
  entity_id uuid,
  facts jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table private.late_notices is
  'Notices that met a lock when they were to be made; a job makes them again.';
comment on column private.late_notices.id is 'Their order.';
comment on column private.late_notices.account_id is 'As private.notify was told, and so the others.';
comment on column private.late_notices.identity_id is 'Which identity of the account.';
comment on column private.late_notices.kind is 'Which kind.';
comment on column private.late_notices.entity_id is 'About what.';
comment on column private.late_notices.facts is 'What its texts need.';
comment on column private.late_notices.created_at is 'When it could not be made.';
alter table private.late_notices enable row level security;
create policy "nobody but functions of their owner" on private.late_notices using (false);

create function private.spread_late_notices() returns bigint
  language plpgsql
  security definer -- tells whoever was to be told
  set search_path = ''
as $$
declare
  late private.late_notices;
begin
  select * into late from private.late_notices
  -- What met a lock just now would meet it again.
  where late_notices.created_at < clock_timestamp() - interval '1 second'
  order by late_notices.id
  limit 1
  for update skip locked;
  if late.id is null then
    return 0;
  end if;
  delete from private.late_notices where late_notices.id = late.id;
  -- Whose words they are may have gone since, and words with them.
  if not exists (
    select from public.identities
    where identities.id = (late.facts ->> 'from')::uuid and identities.status = 'closed'
  ) then
    perform private.notify(late.account_id, late.identity_id, late.kind, late.entity_id,
      jsonb_build_object('at', late.created_at) || late.facts);
  end if;
  return 1;
end
$$;
comment on function private.spread_late_notices is
  'Job: makes the oldest notice that met a lock; met again, it is noted again.';

-- Listings that are about to expire --------------------------------------------------------------

create table private.expiry_warnings (
  property_id uuid primary key references public.properties (id) on delete cascade,
  expires_at timestamptz not null
);
comment on table private.expiry_warnings is 'Which owners have been warned of which end.';
comment on column private.expiry_warnings.property_id is 'Of which listing.';
comment on column private.expiry_warnings.expires_at is
  'Of which end; a listing that was renewed has another one.';
alter table private.expiry_warnings enable row level security;
create policy "nobody but functions of their owner" on private.expiry_warnings using (false);

create function private.warn_expiring_listing(property_id uuid) returns boolean
  language plpgsql
  set search_path = ''
as $$
declare
  property public.properties;
begin
  select * into property from public.properties
  where properties.id = warn_expiring_listing.property_id;
  insert into private.expiry_warnings as before (property_id, expires_at)
  values (property.id, property.expires_at)
  on conflict on constraint expiry_warnings_pkey
    do update set expires_at = excluded.expires_at
    where before.expires_at <> excluded.expires_at;
  if not found then
    return false; -- another run of the job was faster
  end if;
  perform private.tell_listing_owner(property, 'listing_expiring', jsonb_build_object(
    'days', ceil(extract(epoch from property.expires_at - now()) / 86400)::integer));
  return true;
end
$$;
comment on function private.warn_expiring_listing is 'Tells an owner once that a listing ends.';

create function private.warn_expiring_listings() returns bigint
  language sql
  security definer -- tells owners, for a job
  set search_path = ''
as $$
  select private.for_each('warn_expiring_listing', array(
    select properties.id::text from public.properties
    where properties.status = 'active'
      and properties.expires_at > now() and properties.expires_at <= now() + interval '3 days'
      and not exists (
        select from private.expiry_warnings
        where expiry_warnings.property_id = properties.id
          and expiry_warnings.expires_at = properties.expires_at
      )
      and not private.rests('warn_expiring_listing', properties.id::text)
    order by properties.expires_at
    limit 500
  ))
$$;
comment on function private.warn_expiring_listings is
  'Job: tells owners once that a listing ends within three days.';

create function private.sweep_news() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  with gone as (
    delete from private.news where news.ctid = any (array(
      select news.ctid from private.news
      where news.id in (
        select told.id from private.news as told
        where told.told_at < now() - interval '1 day'
        order by told.told_at
        limit 1000
      )
        -- They are numbered as they come, so what is too old is among the first.
        or news.created_at < now() - interval '2 days'
          and news.id in (select first.id from private.news as first order by first.id limit 1000)
      for update skip locked
    ))
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.sweep_news is
  'Job: forgets what was told a day ago, and what could not be told for two.';

revoke execute on all functions in schema private from public;
grant execute on function
  private.has_news, private.spread_sign_ins, private.spread_news, private.spread_late_notices,
  private.warn_expiring_listings,
  private.sweep_news
  to backend;
