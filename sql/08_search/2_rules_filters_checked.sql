-- The filters of searches through the facade, which has checked their form: what is left to check
-- is cheap, and whatever looks wrong is parsed again with care.

create function private.are_known_codes(wanted private.search_filters) returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (wanted.area_ids is null or cardinality(wanted.area_ids) = (
      select count(*) from public.areas where areas.id = any (wanted.area_ids)))
    and (wanted.governorate_ids is null or cardinality(wanted.governorate_ids) = (
      select count(*) from public.governorates
      where governorates.id = any (wanted.governorate_ids)))
    and (wanted.kinds is null or cardinality(wanted.kinds) = (
      select count(*) from public.vocabularies
      where vocabularies.vocabulary = 'kind' and vocabularies.code = any (wanted.kinds)))
    and (wanted.usage is null or exists (
      select from public.vocabularies
      where vocabularies.vocabulary = 'usage' and vocabularies.code = wanted.usage))
    and (wanted.furnished is null or exists (
      select from public.vocabularies
      where vocabularies.vocabulary = 'furnished' and vocabularies.code = wanted.furnished));
end
$$;
comment on function private.are_known_codes is
  'Whether all codes of these filters stand in their vocabularies, none of them twice.';

create function private.checked_search_filters(filters jsonb, strategy text)
  returns private.search_filters
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  given private.search_filters;
begin
  if filters ?| '{postedSince,bbox,near,companyId,requestYearMin,requestYearMax}' then
    return private.parse_search_filters(filters, strategy);
  end if;
  select
    asked.type, nullif(asked.kinds, '{}'), asked.usage, nullif(asked."governorateIds", '{}'),
    nullif(asked."areaIds", '{}'), asked."priceMin", asked."priceMax", asked."areaM2Min",
    asked."areaM2Max", asked."bedroomsMin", asked."bathroomsMin", asked.furnished, asked."isDirect",
    asked."verifiedOnly"
  into
    given.type, given.kinds, given.usage, given.governorate_ids, given.area_ids, given.price_min,
    given.price_max, given.area_m2_min, given.area_m2_max, given.bedrooms_min, given.bathrooms_min,
    given.furnished, given.is_direct, given.verified_only
  from jsonb_to_record(filters) as asked (
    type text, kinds text[], usage text, "governorateIds" text[], "areaIds" text[],
    "priceMin" numeric, "priceMax" numeric, "areaM2Min" numeric, "areaM2Max" numeric,
    "bedroomsMin" smallint, "bathroomsMin" smallint, furnished text, "isDirect" boolean,
    "verifiedOnly" boolean
  );
  if given.price_min > given.price_max or given.area_m2_min > given.area_m2_max
    or greatest(scale(given.price_min), scale(given.price_max), scale(given.area_m2_min),
      scale(given.area_m2_max)) > 3
    or not private.are_known_codes(given) then
    -- It says what is wrong, if anything is.
    return private.parse_search_filters(filters, strategy);
  end if;
  return given;
end
$$;
comment on function private.checked_search_filters is
  'Filters whose form the facade has checked, as private.parse_search_filters gives them.';
