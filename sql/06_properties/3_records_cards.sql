-- The card of a listing: the part of its record that lists show. How it is kept, how it is read.

create function private.first_picture(
  property_id uuid, out picture text, out pictures_count bigint
)
  language plpgsql
  stable
  security definer -- reads rows past the policies
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
comment on function private.first_picture is
  'The first picture of a listing that everybody sees, as property_cards.picture, and how many '
  'there are.';

create function private.location_text(
  block text, lat double precision, lng double precision, location_precision text
) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return coalesce(to_json(block)::text, 'null') || ',"location":' || coalesce(
    '{"lat":' || lat || ',"lng":' || lng || ',"precision":"' || location_precision || '"}', 'null');
end
$$;
comment on function private.location_text is
  'A block and a point as the JSON text of a card, from the value of block on.';

create function private.owner_name_text(identity_id uuid) returns text
  language plpgsql
  stable
  security definer -- reads names of others, which everybody sees
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
  'The name and avatar of an owner as the JSON text of a card, with the character 1, which JSON '
  'cannot contain, for the address of files.';

-- What is kept must not depend on who writes it: the time zone and the digits of numbers are fixed.
create function private.property_card(property public.properties) returns private.property_cards
  language plpgsql
  stable
  set search_path = ''
  set timezone = 'UTC'
  set extra_float_digits = 1
as $$
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
        property.type,
        property.kind,
        property.usage,
        property.title_ar as "titleAr",
        property.title_en as "titleEn",
        property.price,
        private.price_period(property.type) as "pricePeriod"
    ) as shown
  );
  card.price_label := to_json(private.price_label(property.type, property.price, false));
  card.price_label_en := to_json(private.price_label(property.type, property.price, true));
  card.up_to_block := (
    select ',' || substr(left(to_json(shown)::text, -1), 2) || ',"block":' from (
      select
        property.is_negotiable as "isNegotiable",
        property.request_year as "requestYear",
        property.required_year as "requiredYear",
        property.land_area_m2 as "landAreaM2",
        property.built_area_m2 as "builtAreaM2",
        property.bedrooms,
        property.bathrooms,
        property.furnished,
        property.is_direct as "isDirect",
        property.governorate_id as "governorateId",
        property.area_id as "areaId"
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
$$;
comment on function private.property_card is
  'The card of a listing as private.property_cards keeps it.';

-- Without a search_path, as private.may_act (03_accounts/2_rules_access.sql), so that pages inline
-- it.
create function private.card_text(
  card private.property_cards, is_favorite boolean, viewer_identity_id uuid, files_url text,
  english boolean
) returns text
  language sql
  stable
  return (card_text.card).up_to_price_label
    || case when card_text.english then (card_text.card).price_label_en
      else (card_text.card).price_label end
    || (card_text.card).up_to_block
    || case when (card_text.card).owner_identity_id = card_text.viewer_identity_id
      then coalesce((card_text.card).owner_location, (card_text.card).location)
      else (card_text.card).location
    end
    || ',"picture":'
    -- Once for all addresses: else it would not be inlined.
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
comment on function private.card_text is
  'The JSON of a card, from what is kept and what its reader sees. files_url is the setting of that '
  'name.';

create function private.wants_records(fields text) returns boolean
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  if fields is null or fields not in ('card', 'full') then
    perform private.refuse_field('fields', 'invalid');
  end if;
  return fields = 'full';
end
$$;
comment on function private.wants_records is
  'Whether a list is to carry whole records in place of cards; 422 for anything but card and full.';

create function private.list_items(
  property_ids uuid[], viewer_identity_id uuid, fields text
) returns text
  language plpgsql
  stable
  security definer -- reads listings of others, which everybody sees
  set search_path = ''
  set plan_cache_mode = 'force_generic_plan' -- for a short page it would be planned every time
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
  'A JSON array of listings as a list carries them to this identity (null for a guest), in the order '
  'of the ids: cards, of those that are listed, or with full whole records. Its caller has checked '
  'that the viewer may see them.';
