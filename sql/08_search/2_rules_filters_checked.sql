-- The filters of searches through the facade, which has checked their form: what is left to check
-- is cheap, and whatever looks wrong is parsed again with care.

create type private.facade_filters as (
  type text,
  kinds text[],
  usage text,
  "governorateIds" text[],
  "areaIds" text[],
  "priceMin" numeric,
  "priceMax" numeric,
  "areaM2Min" numeric,
  "areaM2Max" numeric,
  "bedroomsMin" smallint,
  "bathroomsMin" smallint,
  furnished text[],
  "isDirect" boolean,
  "verifiedOnly" boolean,
  "floorMin" smallint,
  "floorMax" smallint,
  "plotPosition" text[]
);
comment on type private.facade_filters is
  'The filters that need no parsing, by their names in JSON.';

create function private.are_known_codes(vocabulary text, codes text[]) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  case vocabulary
    when 'area' then
      return cardinality(codes) = (select count(*) from public.areas where areas.id = any (codes));
    when 'governorate' then
      return cardinality(codes) = (
        select count(*) from public.governorates where governorates.id = any (codes));
    else
      return cardinality(codes) = (
        select count(*) from public.vocabularies
        where vocabularies.vocabulary = are_known_codes.vocabulary
          and vocabularies.code = any (codes));
  end case;
end
$$;
comment on function private.are_known_codes is
  'Whether all of these stand in their vocabulary, none of them twice.';

create function private.checked_search_filters(filters jsonb, strategy text)
  returns private.search_filters
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  asked private.facade_filters;
  given private.search_filters;
begin
  if filters ?| '{postedSince,bbox,near,companyId,requestYearMin,requestYearMax,block}'
    or jsonb_typeof(filters -> 'furnished') = 'string' then
    return private.parse_search_filters(filters, strategy);
  end if;
  asked := jsonb_populate_record(null::private.facade_filters, filters);
  given := row(
    asked.type, nullif(asked.kinds, '{}'), asked.usage, nullif(asked."governorateIds", '{}'),
    nullif(asked."areaIds", '{}'), asked."priceMin", asked."priceMax", asked."areaM2Min",
    asked."areaM2Max", asked."bedroomsMin", asked."bathroomsMin", nullif(asked.furnished, '{}'),
    asked."isDirect", asked."verifiedOnly", null, null, null, null, null, null, asked."floorMin",
    asked."floorMax", nullif(asked."plotPosition", '{}'), null);
  if given.price_min > given.price_max or given.area_m2_min > given.area_m2_max
    or given.floor_min > given.floor_max
    or greatest(scale(given.price_min), scale(given.price_max), scale(given.area_m2_min),
      scale(given.area_m2_max)) > 3
    -- What is null would not keep the codes from being looked up.
    or coalesce(cardinality(given.area_ids), 0) > 1
      and not private.are_known_codes('area', given.area_ids)
    or coalesce(cardinality(given.governorate_ids), 0) > 1
      and not private.are_known_codes('governorate', given.governorate_ids)
    or coalesce(cardinality(given.kinds), 0) > 1
      and not private.are_known_codes('kind', given.kinds)
    or coalesce(cardinality(given.furnished), 0) > 1
      and not private.are_known_codes('furnished', given.furnished)
    or coalesce(cardinality(given.plot_position), 0) > 1
      and not private.are_known_codes('plot_position', given.plot_position) then
    -- It says what is wrong, if anything is.
    return private.parse_search_filters(filters, strategy);
  end if;
  return given;
end
$$;
comment on function private.checked_search_filters is
  'Filters whose form the facade has checked, as private.parse_search_filters gives them. A code that '
  'stands alone may be unknown: then nothing is found, see private.search_listings.';
