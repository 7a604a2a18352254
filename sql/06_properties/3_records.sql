-- The next five functions have no search_path, so that the planner can inline them
-- (03_accounts/2_rules_access.sql).
create function private.price_label(type text, price numeric, english boolean) returns text
  language sql stable parallel safe
  return case
    when price is null then case when english then 'Price not stated' else 'السعر غير معلن' end
    else replace(to_char(price, 'FM99,999,999,999,990.000'), '.000', '')
      || case when english then ' KWD' else ' د.ك' end
      || case when type is distinct from 'RENT' then '' when english then ' / month'
        else ' / شهرياً' end
  end;

create function private.price_period(type text) returns text
  language sql immutable parallel safe
  return case price_period.type when 'RENT' then 'month' when 'SALE' then 'once' end;

create function private.shows_street(location_precision text) returns boolean
  language sql immutable
  return location_precision is distinct from 'area';

create function private.shows_building(location_precision text) returns boolean
  language sql immutable
  return coalesce(location_precision, 'exact') = 'exact';

create function private.share_url_json(template text, ref_no bigint) returns text
  language sql stable
  return replace(share_url_json.template, '{refNo}', 'KW-' || share_url_json.ref_no);
comment on function private.share_url_json is
  'Returns the public URL of a listing as JSON text. template is the setting share_url or null.';

create function private.worded_terms(terms jsonb, vocabulary text, english boolean) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  words constant text := case vocabulary when 'expense' then 'label' else 'text' end;
begin
  if terms = '[]' then
    return terms;
  end if;
  return (
    select jsonb_agg(term || jsonb_build_object(
      words, coalesce(vocabularies.text_en, term ->> (words || 'Ar'))) order by ordinal)
    from jsonb_array_elements(terms) with ordinality as listed (term, ordinal)
    -- A text that the owner wrote differs from that of the vocabulary and is shown unchanged.
    left join public.vocabularies on english
      and vocabularies.vocabulary = worded_terms.vocabulary
      and vocabularies.code = term ->> 'code'
      and vocabularies.text_ar = term ->> (words || 'Ar')
  );
end
$$;
comment on function private.worded_terms is
  'Adds a text to each term: what the owner wrote or, if that is the text of the vocabulary, the '
  'Arabic or English text of the vocabulary.';

-- The select lists of fields that are shown unchanged are generated from private.property_fields.
do $$
begin
  execute format($function$
create function private.property_records(
  property_ids uuid[], viewer_identity_id uuid, english boolean default private.in_english()
)
  returns table (ordinal bigint, id uuid, record json)
  language plpgsql stable
  rows 20
  security definer -- reads other people's listings and names; the caller has checked access
  set search_path = '' set plan_cache_mode = force_generic_plan
as $body$
declare
  share_template constant text := (
    select settings.value from private.settings where settings.name = 'share_url'
  );
begin
  -- Concatenating text is three times as fast as building JSON objects, and subqueries are faster
  -- than a wide join.
  return query
  select
    requested.ordinal,
    requested.id,
    (
      select to_json(shown) from (
        select
          properties.id,
          'KW-' || properties.ref_no as "refNo",
          %1$s,
          private.price_period(properties.type) as "pricePeriod",
          private.price_label(properties.type, properties.price, english) as "priceLabel",
          %2$s,
          private.worded_terms(properties.rent_conditions, 'rent_condition', english)
            as "rentConditions",
          private.worded_terms(properties.additional_expenses, 'expense', english)
            as "additionalExpenses",
          %3$s,
          case when shown_to.street then properties.block end as block,
          case when shown_to.street then properties.street end as street,
          case when shown_to.building then properties.building end as building,
          case when shown_to.building then properties.paci_no end as "paciNo",
          (
            '{"lat":' || case when own.is_mine then properties.lat else properties.shown_lat end
              || ',"lng":' || case when own.is_mine then properties.lng else properties.shown_lng end
              || ',"precision":"' || coalesce(properties.location_precision, 'area') || '"}'
          )::json as location,
          ('[' || array_to_string(array(
            select
              '{"id":"' || media.id || '","url":"' || (
                select settings.value #>> '{}' from private.settings
                where settings.name = 'files_url'
              ) || '/listings/' || media.name
                || '","width":' || media.width || ',"height":' || media.height
                || ',"position":' || media.position || '}'
            from public.media where media.property_id = properties.id and not media.pending
            order by media.position
          ), ',') || ']')::json as media,
          (
            select (
              '{"identityId":"' || identities.id || '","type":"' || properties.owner_type
                || '","displayName":' || to_json(identities.display_name)::text
                || ',"avatarUrl":' || coalesce(to_json(identities.avatar_url)::text, 'null')
                || ',"verified":' || properties.owner_verified || '}'
            )::json
            from public.identities where identities.id = properties.owner_identity_id
          ) as owner,
          -- Other people see these two ways of contact only if there is a number.
          properties.allow_call and (own.is_mine is true or numbers.phone is not null)
            as "allowCall",
          properties.allow_whatsapp and (own.is_mine is true or numbers.whatsapp is not null)
            as "allowWhatsapp",
          properties.allow_chat as "allowChat",
          properties.status,
          exists (
            select from public.favorites
            where favorites.identity_id = viewer_identity_id
              and favorites.property_id = properties.id
          ) as "isFavorite",
          coalesce((
            select property_counters.views from private.property_counters
            where property_counters.property_id = properties.id
          ), 0) as "viewsCount",
          coalesce((
            select property_counters.favorites from private.property_counters
            where property_counters.property_id = properties.id
          ), 0) as "favoritesCount",
          properties.created_at as "createdAt",
          properties.published_at as "publishedAt",
          properties.confirmed_at as "confirmedAt",
          properties.expires_at as "expiresAt",
          properties.version,
          properties.wanted_kinds as "wantedKinds",
          properties.wanted_area_ids as "wantedAreaIds",
          case when properties.auction_ends_at is not null then (
            select json_build_object(
              'startsAt', auctions.starts_at,
              'endsAt', auctions.ends_at,
              'startPrice', auctions.start_price,
              'minIncrement', auctions.min_increment
            )
            from public.auctions where auctions.property_id = properties.id
          ) end as auction,
          case when properties.drop_until > now() then json_build_object(
            'dropPct', properties.drop_pct,
            'until', properties.drop_until
          ) end as deal,
          case when private.may_see(properties, null) then
            private.share_url_json(share_template, properties.ref_no)::json end as "shareUrl",
          case when own.is_mine then properties.status_reason end as "statusReason",
          case when own.is_mine and properties.status = 'paused'
            then properties.pause_reason end as "pauseReason",
          case when own.is_mine is not true then null
            when properties.status = 'suspended' then 'administrator'
            when not properties.owner_active then (
              select case identities.status
                when 'expired' then 'licence' when 'suspended' then 'administrator' end
              from public.identities where identities.id = properties.owner_identity_id
            )
          end as "hiddenBy",
          case when own.is_mine then properties.pending_changes end as "pendingChanges",
          case when own.is_mine then array_remove(array[
            case when properties.allow_call and numbers.phone is null then 'call' end,
            case when properties.allow_whatsapp and numbers.whatsapp is null then 'whatsapp' end
          ], null) end as "contactMissing",
          case when own.is_mine then properties.lat is null end as "locationMissing"
      ) as shown
    )
  from unnest(property_ids) with ordinality as requested (id, ordinal)
  join public.properties on properties.id = requested.id
  cross join lateral (
    select properties.owner_identity_id = viewer_identity_id as is_mine
  ) as own
  cross join lateral private.numbers_of(properties.owner_identity_id) as numbers
  cross join lateral (
    select
      own.is_mine or private.shows_street(properties.location_precision) as street,
      own.is_mine or private.shows_building(properties.location_precision) as building
  ) as shown_to
  order by requested.ordinal;
end
$body$
    $function$,
    private.property_selection('properties', 'type', 'price'),
    private.property_selection('properties', 'isNegotiable', 'requiredYear'),
    private.property_selection('properties', 'landAreaM2', 'areaId'));
end
$$;
comment on function private.property_records is
  'Returns the records of listings. The caller must have checked that the viewer (null for a '
  'guest) may see these listings.';

create function private.property_record(property_id uuid, viewer_identity_id uuid) returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return (
    select records.record
    from private.property_records(array[property_id], viewer_identity_id) as records
  );
end
$$;
