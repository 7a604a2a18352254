create function private.first_picture(
  property_id uuid, out picture text, out pictures_count bigint
)
  language plpgsql stable
  security definer -- reads the pictures of any listing
  set search_path = ''
as $$
begin
  select
    '/listings/' || media.name || '","width":' || media.width || ',"height":' || media.height || '}',
    count(*) over ()
  into picture, pictures_count
  from public.media
  where media.property_id = first_picture.property_id and not media.pending
  order by media.position
  limit 1;
  pictures_count := coalesce(pictures_count, 0);
end
$$;

create function private.location_text(
  block text, lat double precision, lng double precision, location_precision text
) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce(to_json(block)::text, 'null') || ',"location":' || coalesce(
    '{"lat":' || lat || ',"lng":' || lng || ',"precision":"' || coalesce(location_precision, 'area')
      || '"}', 'null');
end
$$;

create function private.owner_name_text(identity_id uuid) returns text
  language plpgsql stable
  security definer -- reads other people's names, which are public
  set search_path = ''
as $$
declare
  files_url constant text := (
    select nullif(settings.value #>> '{}', '') from private.settings
    where settings.name = 'files_url'
  );
begin
  return (
    select to_json(identities.display_name)::text || ',"avatarUrl":' || coalesce(
      case when starts_with(identities.avatar_url, files_url || '/') then
        '"' || chr(1) || substr(to_json(identities.avatar_url)::text, char_length(files_url) + 2)
      else to_json(identities.avatar_url)::text end, 'null')
    from public.identities where identities.id = owner_name_text.identity_id
  );
end
$$;
comment on function private.owner_name_text is
  'Returns the name and avatar as JSON text. chr(1), which cannot occur in JSON, is a placeholder '
  'for files_url.';

-- The stored text must not depend on the session, so the time zone and extra_float_digits are fixed.
do $$
begin
  execute format($function$
create function private.property_card(property public.properties) returns private.property_cards
  language plpgsql stable set search_path = '' set timezone = 'UTC' set extra_float_digits = 1
as $body$
declare
  pictures record := private.first_picture(property.id);
  card private.property_cards;
begin
  card.property_id := property.id;
  card.owner_identity_id := property.owner_identity_id;
  card.drop_pct := property.drop_pct;
  card.drop_until := property.drop_until;
  card.up_to_price_label := (
    select left(to_json(shown)::text, -1) || ',"priceLabel":' from (
      select
        property.id,
        'KW-' || property.ref_no as "refNo",
        %1$s,
        private.price_period(property.type) as "pricePeriod"
    ) as shown
  );
  card.price_label := to_json(private.price_label(property.type, property.price, false));
  card.price_label_en := to_json(private.price_label(property.type, property.price, true));
  card.up_to_block := (
    select ',' || substr(left(to_json(shown)::text, -1), 2) || ',"block":' from (
      select
        %2$s
    ) as shown
  );
  card.location := private.location_text(
    case when private.shows_street(property.location_precision) then property.block end,
    property.shown_lat, property.shown_lng, property.location_precision);
  card.owner_location := nullif(
    private.location_text(
      property.block, property.lat, property.lng, property.location_precision),
    card.location);
  card.picture := pictures.picture;
  card.up_to_owner_name := ',"picturesCount":' || pictures.pictures_count
    || ',"owner":{"identityId":"' || property.owner_identity_id
    || '","type":"' || property.owner_type || '","displayName":';
  card.owner_name := private.owner_name_text(property.owner_identity_id);
  card.up_to_favorite := ',"verified":' || to_json(property.owner_verified)::text
    || '},"status":"' || property.status || '","isFavorite":';
  card.after_drop := (
    select ',' || substr(to_json(shown)::text, 2) from (
      select
        property.auction_ends_at as "auctionEndsAt",
        property.published_at as "publishedAt",
        property.confirmed_at as "confirmedAt"
    ) as shown
  );
  return card;
end
$body$
    $function$,
    private.property_selection('property', 'type', 'price', 'card'),
    private.property_selection('property', 'isNegotiable', 'areaId', 'card'));
end
$$;

-- No search_path, so that the planner can inline this function (03_accounts/2_rules_access.sql).
create function private.card_text(
  card private.property_cards, is_favorite boolean, viewer_identity_id uuid, files_url text,
  english boolean
) returns text
  language sql stable
  return (card_text.card).up_to_price_label
    || case when card_text.english then (card_text.card).price_label_en
      else (card_text.card).price_label end
    || (card_text.card).up_to_block
    || case when (card_text.card).owner_identity_id = card_text.viewer_identity_id
      then coalesce((card_text.card).owner_location, (card_text.card).location)
      else (card_text.card).location
    end
    || ',"picture":'
    -- A single replace inserts all URLs: if files_url occurred twice, the function would not be inlined.
    || replace(
      coalesce('{"url":"' || chr(1) || (card_text.card).picture, 'null')
        || (card_text.card).up_to_owner_name
        || (card_text.card).owner_name,
      chr(1), card_text.files_url)
    || (card_text.card).up_to_favorite
    || case when card_text.is_favorite then 'true' else 'false' end
    || ',"dropPct":'
    || coalesce(case when (card_text.card).drop_until > now()
      then (card_text.card).drop_pct::text end, 'null')
    || (card_text.card).after_drop;

create function private.wants_records(fields text) returns boolean
  language plpgsql immutable set search_path = ''
as $$
begin
  if fields is null or fields not in ('card', 'full') then
    perform private.refuse_field('fields', 'invalid');
  end if;
  return fields = 'full';
end
$$;

create function private.list_items(
  property_ids uuid[], viewer_identity_id uuid, fields text
) returns text
  language plpgsql stable
  security definer -- reads other people's listings, which are public
  set search_path = ''
  set plan_cache_mode = 'force_generic_plan' -- otherwise every call for a short page would be planned
as $$
begin
  if fields is distinct from 'card' and private.wants_records(fields) then
    return (
      select
        '[' || coalesce(string_agg(records.record::text, ',' order by records.ordinal), '') || ']'
      from private.property_records(property_ids, viewer_identity_id) as records
    );
  end if;
  return (
    select '[' || coalesce(string_agg(
      private.card_text(
        property_cards,
        requested.id = any (array(
          select favorites.property_id from public.favorites
          where favorites.identity_id = list_items.viewer_identity_id
            and favorites.property_id = any (property_ids)
        )),
        list_items.viewer_identity_id,
        (select settings.value #>> '{}' from private.settings where settings.name = 'files_url'),
        private.in_english()
      ), ',' order by requested.ordinal), '') || ']'
    from unnest(property_ids) with ordinality as requested (id, ordinal)
    join private.property_cards on property_cards.property_id = requested.id
  );
end
$$;
comment on function private.list_items is
  'Returns a JSON array of the cards of listed properties or, if fields is full, of their records. '
  'The caller must have checked that the viewer may see the listings.';
