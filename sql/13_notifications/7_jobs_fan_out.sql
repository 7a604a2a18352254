-- Jobs that tell many: everybody who saved a listing, everybody who signed in.

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

grant execute on function
  private.has_news, private.spread_sign_ins, private.spread_news, private.spread_late_notices
  to backend;
