-- The rules for new names (is_free_name) are checked when a name changes, not by a constraint, so
-- that existing names stay valid. Constraints check only is_name.

create function private.is_written(value text) returns boolean
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  marks constant text := private.marks();
begin
  return value !~ (marks || '{5}')
    -- These letters are invisible Hangul fillers.
    and regexp_replace(value, marks || '|[\u115F\u1160\u3164\uFFA0]', '', 'g')
      collate pg_catalog.pg_c_utf8 ~ '[[:alpha:]]';
end
$$;
comment on function private.is_written is
  'Whether a name has a visible letter and at most four combining marks in a row.';

create function private.fold_lookalikes(word text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  -- In an Arabic word, look-alike letters and chat digits (3 for ع, 7 for ح) become the Arabic
  -- letters that they stand for.
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
  -- i becomes l, rn becomes m and vv becomes w, because they look the same in many typefaces.
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
  'Maps letters that look alike to a single one of them (as in UTS #39). The word must come from '
  'private.search_text.';

create function private.compared_words(name text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  -- Look-alike capitals and signs are replaced before search_text lower-cases or removes them.
  return private.search_text(translate(name,
    'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ' || 'АВЕЗКМНОРСТУХЅІЈԚԜҮӀ' || '@$€|!¡'
      || '🅐🅑🅒🅓🅔🅕🅖🅗🅘🅙🅚🅛🅜🅝🅞🅟🅠🅡🅢🅣🅤🅥🅦🅧🅨🅩'
      || '🅰🅱🅲🅳🅴🅵🅶🅷🅸🅹🅺🅻🅼🅽🅾🅿🆀🆁🆂🆃🆄🆅🆆🆇🆈🆉'
      || '🇦🇧🇨🇩🇪🇫🇬🇭🇮🇯🇰🇱🇲🇳🇴🇵🇶🇷🇸🇹🇺🇻🇼🇽🇾🇿',
    'abezhikmnoptyx' || 'abeekmhopctyxsijqwyl' || 'aselll'
      || repeat('abcdefghijklmnopqrstuvwxyz', 3)));
end
$$;

create function private.is_reserved_name(name text, of_person boolean) returns boolean
  language plpgsql stable
  security definer -- reads a setting
  set search_path = ''
as $$
declare
  compared constant text := private.compared_words(name);
  -- The name is compared as written and with single letters joined: A.D.M. IN becomes adm in.
  spellings constant text[] := array[compared, btrim(
    regexp_replace(' ' || compared || ' ', '(?<= [^ ]) (?=[^ ] )', '', 'g'))];
begin
  -- Reserved words are compared with each window of the name, which is a run of whole words. A long
  -- name has hundreds of windows, so each window and each reserved word is folded only once.
  return exists (
    with own as materialized (
      select private.fold_lookalikes(replace(known.words, ' ', '')) as folded,
        cardinality(string_to_array(known.words, ' ')) as length
      from private.settings
      cross join jsonb_array_elements_text(case settings.name
        when 'seller' then
          jsonb_build_array(settings.value -> 'nameAr', settings.value -> 'nameEn')
        else settings.value -> 'everybody'
          || case when of_person then settings.value -> 'people' else '[]' end
      end) as reserved (words)
      cross join lateral (
        select private.compared_words(reserved.words) as words offset 0
      ) as known
      where settings.name in ('seller', 'reserved_names') and known.words <> ''
    ), windows as materialized (
      select private.fold_lookalikes(array_to_string(given.words[first:last], '')) as folded,
        last - first + 1 as length
      from unnest(spellings) as spelling
      cross join lateral (select string_to_array(spelling, ' ') as words offset 0) as given
      cross join generate_series(1, cardinality(given.words)) as first
      -- A window may have up to two words more than a reserved word, which may be written with
      -- spaces.
      cross join generate_series(first, least(cardinality(given.words),
        first + (select max(own.length) from own) + 1)) as last
    )
    select from own join windows on windows.folded = own.folded
    where windows.length <= own.length + 2
  );
end
$$;
comment on function private.is_reserved_name is
  'Whether a name contains a reserved word, even if written with look-alike letters or up to two '
  'extra spaces.';

create function private.is_free_name(name text, of_person boolean) returns boolean
  language plpgsql stable
  security definer -- the backend role may not execute is_reserved_name
  set search_path = ''
as $$
begin
  return private.is_name(name) and private.is_written(name)
    -- These symbols could be mistaken for a verification badge of the service: check marks, roots,
    -- stars, medals, trophies, rosettes, ribbons, shields, badges and crowns (by their Unicode
    -- names), and letters that look like a check mark. Crosses, which mean "no", and religious stars
    -- are allowed.
    and name !~ (
      '[√∛∜⎷⍻☑✅✓✔🗸🗹🮱𐄂ꪜ'
      '٭⋆≛⍟⍣★☆⚝✦✧✩-✰✴-✹❂⭐⭑⭒⯨-⯫🌟🌠🟀-🟙𐫰'
      '🎖🏅🏆🥇🥈🥉🏵🏶🎀🎗⛨🛡🔰📛👑]')
    and not private.is_reserved_name(name, of_person);
end
$$;

create function private.check_new_name(path text, name text, before text, of_person boolean)
  returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if name is distinct from before and not private.is_free_name(name, of_person) then
    perform private.refuse_field(path,
      coalesce(private.length_problem(name, 2, 120), 'invalid'), fewest => 2, most => 120);
  end if;
end
$$;

grant execute on function private.is_free_name to backend;
