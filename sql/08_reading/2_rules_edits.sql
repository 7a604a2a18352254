create function private.reading_values(field text) returns text[]
  language plpgsql stable set search_path = ''
as $$
begin
  return case
    when field = 'type' then '{SALE,RENT,EXCHANGE}'
    when field = 'strategy' then '{auction,deal,company}'
    when field = 'unit' then '{m2,rooms,bathrooms,block,floor,kwd,other}'
    when field = 'measure' then '{m2,length,other}'
    when field = 'bound' then '{max,min,about,from,to,between}'
    when field = 'negation' then array['', 'verb', 'nor', 'doubt']
    when field = 'direct' then '{true}'
    when field = 'sort' then '{newest,price_asc,price_desc,area_desc}'
    when field in ('join', 'plain', 'stopword', 'before') then array['']
    when field = 'area' then array(select areas.id from public.areas)
    when field = 'governorate' then array(select governorates.id from public.governorates)
    when field = 'landmark' then array(select landmarks.id from private.landmarks)
    when field in ('kind', 'furnished', 'plot_position', 'amenity') then array(
      select vocabularies.code from public.vocabularies
      where vocabularies.vocabulary = reading_values.field)
  end;
end
$$;

create function private.check_reading_word() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  numbers constant text[] := '{times,count,rooms,bathrooms,floor,ordinal}';
  choices text[];
  known private.reading_words;
begin
  new.phrase := private.search_text(new.phrase);
  new.field := btrim(new.field);
  new.value := btrim(coalesce(new.value, ''));
  choices := private.reading_values(new.field);
  if new.is_name then
    return new;
  elsif new.phrase !~ '^[^ ]+( [^ ]+){0,4}$' then
    perform private.refuse_by_hand('phrase is one to five words of letters or digits.');
  elsif choices is null and not new.field = any (numbers) then
    perform private.refuse_by_hand(
      'field is one of: type, strategy, kind, area, governorate, furnished, plot_position, amenity, '
      'direct, sort, unit, times, count, rooms, bathrooms, floor, ordinal, bound, measure, negation, '
      'join, plain, stopword, before, landmark.');
  elsif choices = array[''] and new.value <> '' then
    perform private.refuse_by_hand(format('value stays empty where field is %s.', new.field));
  elsif not new.value = any (choices) then
    perform private.refuse_by_hand(format('value is a code of %s%s.', new.field,
      case when cardinality(choices) <= 10 then ': ' || array_to_string(choices, ', ') else '' end));
  elsif choices is null and new.value !~ '^-?[0-9]{1,7}(\.[0-9]{1,3})?$' then
    perform private.refuse_by_hand(format('value is a number where field is %s.', new.field));
  end if;
  select reading_words.* into known from private.reading_words
  where reading_words.phrase = new.phrase
    and (reading_words.field <> new.field or reading_words.field = 'type')
    and (reading_words.field, reading_words.value) <> (new.field, new.value)
    and (tg_op = 'INSERT' or (reading_words.phrase, reading_words.field, reading_words.value)
      <> (old.phrase, old.field, old.value))
  order by reading_words.is_name desc
  limit 1;
  if known.is_name then
    perform private.refuse_by_hand(format(
      '"%s" is the name of %s %s and stays that.', new.phrase, known.field, known.value));
  elsif known.field is not null then
    perform private.refuse_by_hand(format(
      '"%s" already says %s: change that row instead.', new.phrase,
      btrim(known.field || ' ' || known.value)));
  end if;
  return new;
end
$$;
comment on function private.check_reading_word is
  'Normalises a row, and rejects it if searches could not use it.';

create trigger reading_words_are_understood
  before insert or update on private.reading_words
  for each row execute function private.check_reading_word();
comment on trigger reading_words_are_understood on private.reading_words is
  'The order relative to the other triggers of the table does not matter.';
create trigger reading_names_are_made_elsewhere
  before insert or update on private.reading_words
  for each row when (new.is_name)
  execute function private.refuse_edit(
    'The name of a place or kind is changed in areas, governorates, landmarks or vocabularies.');
create trigger reading_names_go_elsewhere
  before delete on private.reading_words
  for each row when (old.is_name)
  execute function private.refuse_edit(
    'The name of a place or kind is deleted in areas, governorates, landmarks or vocabularies.');
