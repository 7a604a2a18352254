create function private.listing_before(property public.properties) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(field.key, field.value)
  from jsonb_each(private.listing_fields(property)) as field
  where property.pending_changes ? field.key
$$;

create function private.page_before(identity public.identities) returns jsonb
  language sql stable set search_path = ''
as $$
  select jsonb_object_agg(field.key, field.value)
  from public.organisations
  cross join lateral jsonb_each(jsonb_build_object(
    'nameAr', organisations.name_ar, 'nameEn', organisations.name_en,
    'licenceNo', organisations.licence_no, 'licenceExpiresOn', organisations.licence_expires_on
  )) as field
  where organisations.identity_id = identity.id and identity.pending_changes ? field.key
$$;

create function private.decision_reasons() returns json
  language sql stable set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'code', vocabularies.code,
    'textAr', vocabularies.text_ar,
    'textEn', vocabularies.text_en,
    'kinds', array( -- typed in Studio, separated by spaces or commas
      select known.code
      from regexp_split_to_table(coalesce(vocabularies.note, ''), '[[:space:],،]+')
        with ordinality as typed (code, place)
      join public.vocabularies as known
        on known.vocabulary = 'moderation_kind' and known.code = typed.code
      order by typed.place)
  ) order by vocabularies.position), '[]')
  from public.vocabularies where vocabularies.vocabulary = 'decision_reason'
$$;
