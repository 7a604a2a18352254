-- How names of places and kinds come into the list.

create function private.name_phrases(name text) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  plain constant text := private.search_text(name);
  -- عبد الله beside عبدالله, أبوفطيرة beside أبو فطيرة, جابر الأحمد beside مدينة جابر الأحمد.
  ways text[] := array[
    plain, regexp_replace(plain, '(^| )عبدالله', '\1عبد له'), regexp_replace(plain, '^ابو ', 'ابو'),
    regexp_replace(plain, '^(مدينه|ضاحيه) (?!كويت)', ''),
    regexp_replace(regexp_replace(plain, '^(مدينه|ضاحيه) (?!كويت)', ''), '(^| )عبدالله', '\1عبد له')
  ];
begin
  if plain ~ '^[a-z]' then
    -- Al-Salem, Alsalem, Salem.
    ways := ways || array[
      regexp_replace(plain, '(^| )al ', '\1', 'g'), regexp_replace(plain, '(^| )al ', '\1al', 'g'),
      'al ' || plain, 'al' || plain
    ];
  end if;
  return array(
    select distinct way from unnest(ways) as way where way ~ '^[^ ]+( [^ ]+){0,4}$'
  );
end
$$;
comment on function private.name_phrases is 'The ways in which a name is typed.';

create function private.update_reading_names() returns trigger
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  named jsonb := to_jsonb(coalesce(new, old));
  read_field text := coalesce(named ->> 'vocabulary', tg_argv[0]);
  code text := coalesce(named ->> 'code', named ->> 'id');
begin
  delete from private.reading_words
  where reading_words.is_name and reading_words.field = read_field and reading_words.value = code;
  if tg_op <> 'DELETE' then
    insert into private.reading_words (phrase, field, value, is_name)
    select distinct way, read_field, code, true
    from jsonb_each_text(named) as name
    cross join lateral unnest(private.name_phrases(name.value)) as way
    where name.key in ('name_ar', 'name_en', 'alias_ar', 'text_ar', 'text_en')
    on conflict (phrase, field, value) do update set is_name = true;
  end if;
  return null;
end
$$;
comment on function private.update_reading_names is
  'Keeps the names of places and kinds among private.reading_words.';

create trigger areas_are_read
  after insert or update or delete on public.areas
  for each row execute function private.update_reading_names('area');
create trigger governorates_are_read
  after insert or update or delete on public.governorates
  for each row execute function private.update_reading_names('governorate');
create trigger kinds_are_read
  after insert or update on public.vocabularies
  for each row when (new.vocabulary = 'kind') execute function private.update_reading_names();
create trigger kinds_are_no_longer_read
  after delete on public.vocabularies
  for each row when (old.vocabulary = 'kind') execute function private.update_reading_names();
