-- Names and titles: what may be one, and which names nobody has because the service itself speaks by
-- them. Asked of what changes and never by a constraint: a name that stood before stays.

create function private.is_name(value text) returns boolean
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  -- Control characters, and what Unicode calls ignorable: invisible, or changes the direction.
  select case when private.text_problem(value, 120) is null then value !~ (
    '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B'
    '\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
    '\U000E0000-\U000E0FFF]')
    -- Joiners part letters of Persian, Urdu and Indian names; elsewhere, and in Latin, they show nothing.
    and value collate pg_catalog.pg_c_utf8 !~ (
      '(^|[\u0001-\u058F]|[^[:alpha:]\u064B-\u065F\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD'
      '\u0D4D\u0DCA\u1039\u17D2])[\u200C\u200D]|[\u200C\u200D]($|[\u0001-\u058F]|[^[:alpha:]])')
    and value = btrim(value)
    and char_length(value) between 2 and 120
    else false end
$$;
comment on function private.is_name is
  'A name that shows as it is written: 2 to 120 characters, none invisible but joiners between letters '
  'whose script has them.';

create function private.is_written(value text) returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
declare
  marks constant text := private.marks();
begin
  return value !~ (marks || '{5}')
    -- Some letters of Korean show nothing.
    and regexp_replace(value, marks || '|[\u115F\u1160\u3164\uFFA0]', '', 'g')
      collate pg_catalog.pg_c_utf8 ~ '[[:alpha:]]';
end
$$;
comment on function private.is_written is
  'Whether a name or title has a letter, and no letter more than four marks.';

create function private.fold_lookalikes(word text) returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  -- In an Arabic word a digit stands for the Arabic letter that it looks like, or that chats write by it.
  if word ~ '[\u0621-\u06FF]' then
    return regexp_replace(
      translate(word,
        'ٮڀ' || 'ٺټٽٹ' || 'ڃڄڇ' || 'ځڂڅ' || 'ڈډڊڋڌڍڎڏڐ' || 'ړڒڔڕږڙ' || 'ښڛڜ' || 'ڝڞ' || 'ڟ'
        || 'ڠ' || 'ڡڢ' || 'ڧڨٯ' || 'ڬڮڰڱڲڴ' || 'ڵڷ' || 'ںڻڽڼ' || 'ۄۆۇۈۉۊۋۏ' || 'ۓ' || '05oο'
        || '1il' || '3' || '7',
        'بب' || 'تتتت' || 'ججج' || 'ححح' || 'ددددددددد' || 'رررررر' || 'سسس' || 'صص' || 'ط'
        || 'ع' || 'فف' || 'ققق' || 'كككككك' || 'لل' || 'نننن' || 'وووووووو' || 'ي' || 'هههه'
        || 'ااا' || 'ع' || 'ح'),
      '^(ال)+(?=..)', '');
  end if;
  -- i and l are one, as in many typefaces; so are rn and m, vv and w.
  return replace(replace(
    translate(word,
      'ɑаαᴀ' || 'ƅвьβʙ' || 'ƈсᴄς' || 'ԁđɖɗðᴅ' || 'еεєəɛᴇз' || 'ƒꜰ' || 'ɡɢ' || 'һħнʜɦ'
      || 'іıɨɩɪιӏłƚɫɭǀʟ' || 'јȷʝᴊ' || 'кκƙᴋ' || 'мμɱᴍ' || 'пηπɲŋƞɴ' || 'оοσөøɵθᴏ' || 'рρþƥᴘ'
      || 'ԛʠ' || 'гɾɍʀґ' || 'ѕʂꜱ' || 'тτŧƭʈᴛ' || 'υʉʊʋᴜ' || 'νѵᴠ' || 'ԝωɯᴡ' || 'хχ' || 'уγүƴɣʏ'
      || 'ƶʐζᴢ' || '0123456789i',
      'aaaa' || 'bbbbb' || 'cccc' || 'dddddd' || 'eeeeeee' || 'ff' || 'gg' || 'hhhhh'
      || 'lllllllllllll' || 'jjjj' || 'kkkk' || 'mmmm' || 'nnnnnnn' || 'oooooooo' || 'ppppp'
      || 'qq' || 'rrrrr' || 'sss' || 'tttttt' || 'uuuuu' || 'vvv' || 'wwww' || 'xx' || 'yyyyyy'
      || 'zzzz' || 'olzeasbtbgl'),
    'rn', 'm'), 'vv', 'w');
end
$$;
comment on function private.fold_lookalikes is
  'A word of private.search_text with letters that look alike made one (UTS #39): Cyrillic and Greek as '
  'Latin, digits as the letters that they stand for, Arabic letters of other languages as Arabic.';

create function private.compared_words(name text) returns text
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  -- Before search_text: signs go there, and capitals look like others than their small letters.
  return private.search_text(translate(name,
    'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ' || 'АВЕЗКМНОРСТУХЅІЈԚԜҮӀ' || '@$€|!¡'
      || '🅐🅑🅒🅓🅔🅕🅖🅗🅘🅙🅚🅛🅜🅝🅞🅟🅠🅡🅢🅣🅤🅥🅦🅧🅨🅩'
      || '🅰🅱🅲🅳🅴🅵🅶🅷🅸🅹🅺🅻🅼🅽🅾🅿🆀🆁🆂🆃🆄🆅🆆🆇🆈🆉'
      || '🇦🇧🇨🇩🇪🇫🇬🇭🇮🇯🇰🇱🇲🇳🇴🇵🇶🇷🇸🇹🇺🇻🇼🇽🇾🇿',
    'abezhikmnoptyx' || 'abeekmhopctyxsijqwyl' || 'aselll'
      || repeat('abcdefghijklmnopqrstuvwxyz', 3)));
end
$$;
comment on function private.compared_words is
  'The words of a name as they are compared with those of the service.';

create function private.is_reserved_name(name text, of_person boolean) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
declare
  compared constant text := private.compared_words(name);
  -- Once as it stands, and once with the letters that stand alone joined: A.D.M. IN.
  spellings constant text[] := array[compared, btrim(
    regexp_replace(' ' || compared || ' ', '(?<= [^ ]) (?=[^ ] )', '', 'g'))];
begin
  return exists (
    select from private.settings
    cross join jsonb_array_elements_text(case settings.name
      when 'seller' then
        jsonb_build_array(settings.value -> 'nameAr', settings.value -> 'nameEn')
      else settings.value -> 'everybody'
        || case when of_person then settings.value -> 'people' else '[]' end
    end) as reserved (words)
    cross join lateral (
      select string_to_array(private.compared_words(reserved.words), ' ') as words
    ) as own
    cross join unnest(spellings) as spelling
    cross join lateral (select string_to_array(spelling, ' ') as words) as given
    cross join generate_series(1, cardinality(given.words)) as first
    -- Whole words, however many neighbours one of them was cut into.
    cross join generate_series(first, least(cardinality(given.words),
      first + cardinality(own.words) + 1)) as last
    where settings.name in ('seller', 'reserved_names') and own.words <> '{""}'
      and private.fold_lookalikes(array_to_string(given.words[first:last], ''))
        = private.fold_lookalikes(array_to_string(own.words, ''))
  );
end
$$;
comment on function private.is_reserved_name is
  'Whether a name holds words by which the service itself speaks, in any spelling, whole or cut into two or '
  'three: those of the setting reserved_names, of which some are kept from people alone, and its own '
  'name.';

create function private.is_free_name(name text, of_person boolean) returns boolean
  language plpgsql
  stable
  security definer -- calls what is closed to the functions' role
  set search_path = ''
as $$
begin
  return private.is_name(name) and private.is_written(name)
    -- Signs that look like a badge of the service.
    and name !~ '[✓✔☑✅√⍻🗸🗹🛡⛨🔰📛🏅🎖🥇🥈🥉🏵⭐🌟★✪✯⍟]'
    and not private.is_reserved_name(name, of_person);
end
$$;
comment on function private.is_free_name is
  'Whether somebody may be called so from now on: it shows as it is written, has a letter, no badge and no '
  'word of the service.';

create function private.check_new_name(path text, name text, before text, of_person boolean)
  returns void
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if name is distinct from before and not private.is_free_name(name, of_person) then
    perform private.refuse_field(path, 'invalid');
  end if;
end
$$;
comment on function private.check_new_name is
  '422 validation_failed for another name than before that nobody may have.';

grant execute on function private.is_free_name to backend;
grant execute on function private.is_name to anon, authenticated, service_role, backend;
