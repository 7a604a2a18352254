create function private.name_phrases(name text) returns text[]
  language plpgsql immutable set search_path = ''
as $$
declare
  plain constant text := private.search_text(name);
  -- Spellings in which the name is also found, such as عبد الله and عبدالله, or without مدينة.
  ways text[] := array[
    plain, regexp_replace(plain, '^ابو ', 'ابو'), regexp_replace(plain, '^(مدينه|ضاحيه) (?!كويت)', '')
  ];
begin
  if plain ~ '^[a-z]' then
    -- Al-Salem is also found as Alsalem and Salem.
    ways := ways || array[
      regexp_replace(plain, '(^| )al ', '\1', 'g'), regexp_replace(plain, '(^| )al ', '\1al', 'g'),
      'al ' || plain, 'al' || plain
    ];
  end if;
  return array(
    select distinct spelt
    from unnest(ways) as way
    cross join lateral unnest(array[way, regexp_replace(way, '(^| )عبدالله', '\1عبد له')]) as spelt
    where spelt ~ '^[^ ]+( [^ ]+){0,4}$'
  );
end
$$;

create function private.update_names() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  named jsonb := to_jsonb(coalesce(new, old));
  read_field text := coalesce(named ->> 'vocabulary', tg_argv[0]);
  code text := coalesce(named ->> 'code', named ->> 'id');
  names text[] := array[named ->> 'name_ar', named ->> 'name_en', named ->> 'alias_ar',
    named ->> 'text_ar', named ->> 'text_en'];
begin
  delete from private.reading_words
  where (reading_words.is_name or tg_op = 'DELETE')
    and reading_words.field = read_field and reading_words.value = code;
  delete from private.search_names where search_names.term = read_field || ':' || code;
  if tg_op = 'DELETE' then
    return null;
  end if;
  if read_field <> 'landmark' then -- documents have no term for landmarks
    insert into private.search_names (word, term)
    select unnest(private.search_words(array_to_string(names, ' '))), read_field || ':' || code;
  end if;
  if read_field <> 'usage' then
    insert into private.reading_words (phrase, field, value, is_name)
    select distinct way, read_field, code, true
    from unnest(names) as name
    cross join lateral unnest(private.name_phrases(name)) as way
    on conflict (phrase, field, value) do update set is_name = true;
  end if;
  return null;
end
$$;
comment on function private.update_names is
  'Updates names in private.reading_words and private.search_names. No listing has to be '
  'rewritten.';

create trigger areas_are_known_by_name
  after insert or update or delete on public.areas
  for each row execute function private.update_names('area');
create trigger governorates_are_known_by_name
  after insert or update or delete on public.governorates
  for each row execute function private.update_names('governorate');
create trigger landmarks_are_known_by_name
  after insert or update or delete on private.landmarks
  for each row execute function private.update_names('landmark');
create trigger kinds_and_usages_are_known_by_name
  after insert or update on public.vocabularies
  for each row when (new.vocabulary in ('kind', 'usage')) execute function private.update_names();
create trigger kinds_and_usages_are_forgotten
  after delete on public.vocabularies
  for each row when (old.vocabulary in ('kind', 'usage')) execute function private.update_names();
