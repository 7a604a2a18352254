create function private.count_suggestions(age interval default '4 minutes') returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  counted bigint;
begin
  -- Only one run at a time, so that no run repeats the work of another.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('count_suggestions', 0))
    or exists (select from private.suggestions where suggestions.counted_at > now() - age) then
    return 0;
  end if;
  delete from private.suggestions where true;
  insert into private.suggestions (terms, in_arabic, in_english, listings)
  with counted as (
    select document.type, document.kind, document.governorate_id, document.area_id, count(*) as listings
    from private.search_documents as document
    where document.type = 'EXCHANGE' or (document.auction_ends_at > now()) is not true
    group by document.type, document.kind, document.governorate_id, document.area_id
    union all -- so that each place and kind has a row
    select null, vocabularies.code, null, null, 0
    from public.vocabularies where vocabularies.vocabulary = 'kind'
    union all
    select null, null, governorates.id, null, 0 from public.governorates
    union all
    select null, null, null, areas.id, 0 from public.areas
  ), grouped as (
    select type, kind, governorate_id, area_id, coalesce(case type when 'EXCHANGE' then sum(listings)
      else sum(listings) filter (where type <> 'EXCHANGE') end, 0) as listings
    from counted
    group by grouping sets (
      (kind), (governorate_id), (area_id), (type, kind), (type, kind, area_id))
    having num_nonnulls(type, kind, governorate_id, area_id)
      + grouping(type) + grouping(kind) + grouping(governorate_id) + grouping(area_id) = 4
  )
  select
    array_remove(array['type:' || grouped.type, 'kind:' || grouped.kind,
      'governorate:' || grouped.governorate_id, 'area:' || grouped.area_id], null),
    made.item || jsonb_build_object('text', concat_ws(' في ',
      nullif(concat_ws(' ', kinds.text_ar, types.text_ar), ''),
      coalesce(areas.name_ar, 'محافظة ' || governorates.name_ar))),
    made.item || jsonb_build_object('text', concat_ws(' in ',
      nullif(concat_ws(' ', kinds.text_en, lower(types.text_en)), ''),
      coalesce(areas.name_en, governorates.name_en || ' Governorate'))),
    grouped.listings
  from grouped
  left join public.vocabularies as types
    on types.vocabulary = 'listing_type' and types.code = grouped.type
  left join public.vocabularies as kinds
    on kinds.vocabulary = 'kind' and kinds.code = grouped.kind
  left join public.governorates on governorates.id = grouped.governorate_id
  left join public.areas on areas.id = grouped.area_id
  cross join lateral jsonb_build_object(
    'kind', case
      when grouped.type is not null then 'phrase'
      when grouped.kind is not null then 'kind'
      when grouped.area_id is not null then 'area'
      else 'governorate' end,
    'filters', jsonb_strip_nulls(jsonb_build_object(
      'strategy', case grouped.type when 'EXCHANGE' then 'exchange' end,
      'type', grouped.type,
      'kinds', '[]'::jsonb || to_jsonb(grouped.kind),
      'governorateIds', '[]'::jsonb || to_jsonb(grouped.governorate_id),
      'areaIds', '[]'::jsonb || to_jsonb(grouped.area_id))),
    'count', grouped.listings) as made (item)
  union all
  select array['landmark:' || landmarks.id], made.item || jsonb_build_object('text', landmarks.name_ar),
    made.item || jsonb_build_object('text', landmarks.name_en), 0
  from private.landmarks
  cross join lateral jsonb_build_object('kind', 'landmark', 'count', null, 'filters',
    jsonb_build_object('near', jsonb_build_object('lat', lat, 'lng', lng, 'km', 3))) as made (item);
  get diagnostics counted = row_count;
  return counted;
end
$$;
comment on function private.count_suggestions is
  'Job: rebuilds private.suggestions every five minutes, so that requests need not count listings.';

grant execute on function private.count_suggestions to backend;
