-- Slots are counted over the listings that were listed at the time of the snapshot, so that a page
-- number always refers to the same slots. If a listing has been unlisted since, its slot stays empty.

-- Both halves of the union are sorted and limited, so that not all rows have to be sorted.
create function private.published_listings(
  listing_type text, at timestamptz, skip integer, take integer
) returns uuid[]
  language plpgsql stable
  security definer -- reads a table that clients cannot access
  set search_path = ''
as $$
begin
  if listing_type is null then
    return array(
      select slots.property_id
      from (
        (
          select publications.published_at, publications.property_id from private.publications
          where publications.until = 'infinity' and publications.published_at <= at
            and publications.since <= at
          order by publications.published_at desc, publications.property_id desc
          limit skip + take
        ) union all (
          select publications.published_at, publications.property_id from private.publications
          where publications.until < 'infinity' and publications.until > at
            and publications.published_at <= at and publications.since <= at
          order by publications.published_at desc, publications.property_id desc
          limit skip + take
        )
      ) as slots
      order by slots.published_at desc, slots.property_id desc
      offset skip limit take
    );
  else
    return array(
      select slots.property_id
      from (
        (
          select publications.published_at, publications.property_id from private.publications
          where publications.type = listing_type
            and publications.until = 'infinity' and publications.published_at <= at
            and publications.since <= at
          order by publications.published_at desc, publications.property_id desc
          limit skip + take
        ) union all (
          select publications.published_at, publications.property_id from private.publications
          where publications.type = listing_type
            and publications.until < 'infinity' and publications.until > at
            and publications.published_at <= at and publications.since <= at
          order by publications.published_at desc, publications.property_id desc
          limit skip + take
        )
      ) as slots
      order by slots.published_at desc, slots.property_id desc
      offset skip limit take
    );
  end if;
end
$$;
comment on function private.published_listings is
  'Returns the ids of the listings in these slots, even if they were unlisted or deleted after the '
  'snapshot.';

create function private.ranked_offices(at timestamptz, take integer) returns uuid[]
  language plpgsql stable
  security definer -- reads a table that clients cannot access
  set search_path = ''
as $$
begin
  return array(
    select ranks.identity_id
    from (
      (
        select office_ranks.rating, office_ranks.identity_id from private.office_ranks
        where office_ranks.until = 'infinity' and office_ranks.since <= at
        order by office_ranks.rating desc, office_ranks.identity_id
        limit take
      ) union all (
        select office_ranks.rating, office_ranks.identity_id from private.office_ranks
        where office_ranks.until < 'infinity' and office_ranks.until > at
          and office_ranks.since <= at
        order by office_ranks.rating desc, office_ranks.identity_id
        limit take
      )
    ) as ranks
    order by ranks.rating desc, ranks.identity_id
    limit take
  );
end
$$;

create function private.feed_slots(
  listing_type text, at timestamptz, page integer, page_size integer,
  out property_ids uuid[], out property_slots integer[],
  out office_ids uuid[], out office_slots integer[],
  out more boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  first constant integer := (page - 1) * page_size + 1;
  last constant integer := page * page_size;
  offices uuid[] := '{}'; -- the offices up to the end of this page, and one more
  earlier integer; -- the number of offices before this page
  seen integer; -- the number of offices up to the end of this page
  skip integer; -- the number of listings before this page
  take integer; -- the number of listings on this page
begin
  if listing_type is null then
    offices := private.ranked_offices(at, last / 8 + 1);
  end if;
  earlier := least((first - 1) / 8, cardinality(offices));
  seen := least(last / 8, cardinality(offices));
  skip := first - 1 - earlier;
  take := last - first + 1 - (seen - earlier);

  property_ids := private.published_listings(listing_type, at, skip, take + 1);
  more := cardinality(property_ids) > take or 8 * cardinality(offices) > last;
  property_ids := property_ids[:take];
  property_slots := array(
    select nth + least((nth - 1) / 7, cardinality(offices))
    from generate_series(skip + 1, skip + take) as nth
  );
  office_ids := offices[earlier + 1:seen];
  office_slots := array(select 8 * nth from generate_series(earlier + 1, seen) as nth);
end
$$;

-- The "kind" of a feed item is "property" or "office", so the "kind" of a listing is renamed to
-- "propertyKind".
create function private.feed_properties(
  property_ids uuid[], property_slots integer[], blocked uuid[], fields text
) returns table (slot integer, item text)
  language plpgsql stable set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
begin
  if private.wants_records(fields) then
    -- The first "kind": in the text is the key, because only id, refNo and type come before it.
    return query
    select
      property_slots[array_position(property_ids, records.id)],
      regexp_replace(records.record::text, '"kind":', '"kind":"property","propertyKind":')
    from private.property_records(
      array(
        select properties.id from public.properties
        where properties.id = any (property_ids) and properties.listed
          and properties.owner_identity_id <> all (blocked)
      ),
      viewer_id
    ) as records;
  else
    -- No value of a listing can contain "kind":, because JSON escapes quotation marks.
    return query
    select
      slots.slot,
      replace(
        private.card_text(
          property_cards,
          slots.property_id = any (array(
            select favorites.property_id from public.favorites
            where favorites.identity_id = viewer_id
              and favorites.property_id = any (property_ids)
          )),
          viewer_id,
          (select settings.value #>> '{}' from private.settings where settings.name = 'files_url'),
          private.in_english()
        ), '"kind":', '"kind":"property","propertyKind":')
    from unnest(property_ids, property_slots) as slots (property_id, slot)
    join private.property_cards on property_cards.property_id = slots.property_id
    where property_cards.owner_identity_id <> all (blocked);
  end if;
end
$$;
comment on function private.feed_properties is
  'Returns the listings that the caller may see, except those of blocked identities.';

create function private.feed_offices(
  office_ids uuid[], office_slots integer[], blocked uuid[]
) returns table (slot integer, item text)
  language plpgsql stable
  security definer -- reads the accounts of offices
  set search_path = ''
as $$
begin
  return query
  select
    office_slots[array_position(office_ids, records.id)],
    '{"kind":"office",' || substr(records.record::text, 2)
  from private.organisation_records(array(
    select identities.id
    from public.identities
    join public.accounts on accounts.id = identities.account_id and private.may_act(accounts)
    join public.organisations
      on organisations.identity_id = identities.id and organisations.listed
    where identities.id = any (office_ids) and identities.status = 'active'
      and identities.id <> all (blocked)
  )) as records;
end
$$;
comment on function private.feed_offices is 'Returns the offices that are listed and not blocked.';

create function private.feed_items(
  property_ids uuid[], property_slots integer[], office_ids uuid[], office_slots integer[],
  fields text
) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  blocked constant uuid[] := private.blocked_identities();
begin
  return (
    select '[' || coalesce(string_agg(slots.item, ',' order by slots.slot), '') || ']'
    from (
      select properties.slot, properties.item
      from private.feed_properties(property_ids, property_slots, blocked, fields) as properties
      union all
      select offices.slot, offices.item
      from private.feed_offices(office_ids, office_slots, blocked) as offices
    ) as slots
  );
end
$$;

create function private.list_feed(
  filter text, page integer, page_size integer, snapshot timestamptz default null,
  fields text default 'card'
) returns text
  language plpgsql security definer set search_path = ''
as $$
declare
  listing_type constant text := case when filter <> 'all' then upper(filter) end;
  at timestamptz := private.require_snapshot(coalesce(
    snapshot, date_bin('5 minutes', now(), timestamptz '2000-01-01 00:00:00+00')));
  slots record;
  first_ids uuid[];
begin
  perform private.page_size(page_size);
  if page is null or page not between 1 and 500 then
    perform private.refuse_field('page', 'invalid');
  end if;
  slots := private.feed_slots(listing_type, at, page, page_size);
  -- A reader without a snapshot gets a newer one if fewer than half of the listings on the first page
  -- are still listed. Otherwise, an attacker could empty that page by publishing and withdrawing many
  -- listings.
  if snapshot is null then
    first_ids := case when page = 1 then slots.property_ids
      else (private.feed_slots(listing_type, at, 1, page_size)).property_ids end;
  end if;
  if snapshot is null and (
    select count(*) < greatest(1, cardinality(first_ids) / 2.0) from public.properties
    where properties.listed and properties.id = any (first_ids)
  ) then
    at := private.require_snapshot(now());
    slots := private.feed_slots(listing_type, at, page, page_size);
  end if;
  return '{"items":' || private.feed_items(
      slots.property_ids, slots.property_slots, slots.office_ids, slots.office_slots, fields)
    || ',"page":' || page
    || ',"hasMore":' || to_json(page < 500 and slots.more)::text
    || ',"snapshot":"' || (to_json(at at time zone 'UTC') #>> '{}') || 'Z"}';
end
$$;
comment on function private.list_feed is
  'Facade: returns a numbered page of the feed at a snapshot, as JSON text. filter is all, sale, '
  'rent or exchange. The facade has already validated the arguments. With all, every eighth slot '
  'is a verified office; the best rated come first.';

grant execute on function private.list_feed to anon, authenticated;
