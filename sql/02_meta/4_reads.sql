create function private.get_app() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select private.setting('app') || jsonb_build_object('terms', (
    select jsonb_build_object(
      'version', terms.version, 'url', terms.url, 'requiredFrom', terms.required_from)
    from private.terms() as terms
  ))
$$;
comment on function private.get_app is
  'Facade: returns the settings that apps load at startup: minVersion, storeUrl, privacyUrl, '
  'support, terms.';

grant execute on function private.get_app to anon, authenticated;

create function api.list_governorates() returns json
  language sql stable set search_path = ''
as $$
  select json_build_object('items', json_agg(item), 'nextCursor', null)
  from (
    select governorates.id, governorates.name_ar as "nameAr", governorates.name_en as "nameEn",
           governorates.lat, governorates.lng
    from public.governorates
    order by governorates.position
  ) as item
$$;
comment on function api.list_governorates is 'The governorates of Kuwait.';

create function api.list_areas() returns json
  language sql stable set search_path = ''
as $$
  select json_build_object('items', json_agg(item), 'nextCursor', null)
  from (
    select areas.id, areas.governorate_id as "governorateId", areas.name_ar as "nameAr",
           areas.name_en as "nameEn", areas.alias_ar as "aliasAr", areas.lat, areas.lng,
           areas.approximate
    from public.areas
    order by areas.position
  ) as item
$$;
comment on function api.list_areas is 'The areas of Kuwait, governorate by governorate.';

create function api.list_kinds() returns json
  language sql stable set search_path = ''
as $$
  select json_build_object('items', json_agg(item), 'nextCursor', null)
  from (
    select vocabularies.code, vocabularies.text_ar as "textAr", vocabularies.text_en as "textEn",
           string_to_array(vocabularies.note, ', ') as "usualTypes"
    from public.vocabularies
    where vocabularies.vocabulary = 'kind'
    order by vocabularies.position
  ) as item
$$;
comment on function api.list_kinds is 'The kinds of property and their usual listing types.';

create function api.list_amenities() returns json
  language sql stable set search_path = ''
as $$
  select json_build_object('items', json_agg(item), 'nextCursor', null)
  from (
    select vocabularies.code, vocabularies.text_ar as "textAr", vocabularies.text_en as "textEn"
    from public.vocabularies
    where vocabularies.vocabulary = 'amenity'
    order by vocabularies.position
  ) as item
$$;
comment on function api.list_amenities is 'The amenities that a property may have.';

create function api.list_enums() returns json
  language sql stable set search_path = ''
as $$
  select json_object_agg(words.name, words.items order by words.name)
  from (
    select
      -- plot_position becomes plotPosition, the name of the listing field that contains its codes.
      (
        select string_agg(
          case when ordinal = 1 then word else upper(left(word, 1)) || substr(word, 2) end, ''
          order by ordinal
        )
        from string_to_table(vocabularies.vocabulary, '_') with ordinality as words (word, ordinal)
      ) as name,
      json_agg(json_build_object(
        'code', vocabularies.code,
        'textAr', vocabularies.text_ar,
        'textEn', vocabularies.text_en
      ) order by vocabularies.position) as items
    from public.vocabularies
    group by vocabularies.vocabulary
  ) as words
$$;
comment on function api.list_enums is 'Every vocabulary by its camelCase name, in display order.';

grant execute on function
  api.list_governorates, api.list_areas, api.list_kinds, api.list_amenities, api.list_enums
  to anon, authenticated;
