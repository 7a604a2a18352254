create function private.ascii_digits(value text) returns text
  language sql immutable parallel safe
  return translate(value, '٠١٢٣٤٥٦٧٨٩' || '۰۱۲۳۴۵۶۷۸۹' || '０１２３４５６７８９', repeat('0123456789', 3));

create function private.is_clean(value text) returns boolean
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  return value !~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]';
end
$$;

create function private.marks() returns text
  language sql immutable parallel safe
  return '['
    '\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A'
    '\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u0711\u0730-\u074A'
    '\u07A6-\u07B0\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D'
    '\u0859-\u085B\u0897-\u089F\u08CA-\u08E1\u08E3-\u0903\u093A-\u093C\u093E-\u094F'
    '\u0951-\u0957\u0962-\u0963\u0981-\u0983\u09BC\u09BE-\u09CD\u09D7\u09E2-\u09E3\u09FE-\u0A03'
    '\u0A3C-\u0A51\u0A70-\u0A71\u0A75\u0A81-\u0A83\u0ABC\u0ABE-\u0ACD\u0AE2-\u0AE3\u0AFA-\u0B03'
    '\u0B3C\u0B3E-\u0B57\u0B62-\u0B63\u0B82\u0BBE-\u0BCD\u0BD7\u0C00-\u0C04\u0C3C\u0C3E-\u0C56'
    '\u0C62-\u0C63\u0C81-\u0C83\u0CBC\u0CBE-\u0CD6\u0CE2-\u0CE3\u0CF3-\u0D03\u0D3B-\u0D3C'
    '\u0D3E-\u0D4D\u0D57\u0D62-\u0D63\u0D81-\u0D83\u0DCA-\u0DDF\u0DF2-\u0DF3\u0E31\u0E34-\u0E3A'
    '\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECE\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F3E-\u0F3F'
    '\u0F71-\u0F84\u0F86-\u0F87\u0F8D-\u0FBC\u0FC6\u102B-\u103E\u1056-\u1059\u105E-\u1060'
    '\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F\u109A-\u109D\u135D-\u135F'
    '\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17B4-\u17D3\u17DD\u180B-\u180D\u180F'
    '\u1885-\u1886\u18A9\u1920-\u193B\u1A17-\u1A1B\u1A55-\u1A7F\u1AB0-\u1B04\u1B34-\u1B44'
    '\u1B6B-\u1B73\u1B80-\u1B82\u1BA1-\u1BAD\u1BE6-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2'
    '\u1CD4-\u1CE8\u1CED\u1CF4\u1CF7-\u1CF9\u1DC0-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F'
    '\u2DE0-\u2DFF\u302A-\u302F\u3099-\u309A\uA66F-\uA672\uA674-\uA67D\uA69E-\uA69F'
    '\uA6F0-\uA6F1\uA802\uA806\uA80B\uA823-\uA827\uA82C\uA880-\uA881\uA8B4-\uA8C5\uA8E0-\uA8F1'
    '\uA8FF\uA926-\uA92D\uA947-\uA953\uA980-\uA983\uA9B3-\uA9C0\uA9E5\uAA29-\uAA36\uAA43'
    '\uAA4C-\uAA4D\uAA7B-\uAA7D\uAAB0\uAAB2-\uAAB4\uAAB7-\uAAB8\uAABE-\uAABF\uAAC1\uAAEB-\uAAEF'
    '\uAAF5-\uAAF6\uABE3-\uABEA\uABEC-\uABED\uFB1E\uFE00-\uFE0F\uFE20-\uFE2F\uFF9E-\uFF9F'
    '\U000101FD\U000102E0\U00010376-\U0001037A\U00010A01-\U00010A0F\U00010A38-\U00010A3F'
    '\U00010AE5-\U00010AE6\U00010D24-\U00010D27\U00010D69-\U00010D6D\U00010EAB-\U00010EAC'
    '\U00010EFA-\U00010EFF\U00010F46-\U00010F50\U00010F82-\U00010F85\U00011000-\U00011002'
    '\U00011038-\U00011046\U00011070\U00011073-\U00011074\U0001107F-\U00011082'
    '\U000110B0-\U000110BA\U000110C2\U00011100-\U00011102\U00011127-\U00011134'
    '\U00011145-\U00011146\U00011173\U00011180-\U00011182\U000111B3-\U000111C0'
    '\U000111C9-\U000111CC\U000111CE-\U000111CF\U0001122C-\U00011237\U0001123E\U00011241'
    '\U000112DF-\U000112EA\U00011300-\U00011303\U0001133B-\U0001133C\U0001133E-\U0001134D'
    '\U00011357\U00011362-\U00011374\U000113B8-\U000113D0\U000113D2\U000113E1-\U000113E2'
    '\U00011435-\U00011446\U0001145E\U000114B0-\U000114C3\U000115AF-\U000115C0'
    '\U000115DC-\U000115DD\U00011630-\U00011640\U000116AB-\U000116B7\U0001171D-\U0001172B'
    '\U0001182C-\U0001183A\U00011930-\U0001193E\U00011940\U00011942-\U00011943'
    '\U000119D1-\U000119E0\U000119E4\U00011A01-\U00011A0A\U00011A33-\U00011A39'
    '\U00011A3B-\U00011A3E\U00011A47\U00011A51-\U00011A5B\U00011A8A-\U00011A99'
    '\U00011B60-\U00011B67\U00011C2F-\U00011C3F\U00011C92-\U00011CB6\U00011D31-\U00011D45'
    '\U00011D47\U00011D8A-\U00011D97\U00011EF3-\U00011EF6\U00011F00-\U00011F01\U00011F03'
    '\U00011F34-\U00011F42\U00011F5A\U00013440\U00013447-\U00013455\U0001611E-\U0001612F'
    '\U00016AF0-\U00016AF4\U00016B30-\U00016B36\U00016F4F\U00016F51-\U00016F92'
    '\U00016FE4-\U00016FF1\U0001BC9D-\U0001BC9E\U0001CF00-\U0001CF46\U0001D165-\U0001D169'
    '\U0001D16D-\U0001D172\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD'
    '\U0001D242-\U0001D244\U0001DA00-\U0001DA36\U0001DA3B-\U0001DA6C\U0001DA75\U0001DA84'
    '\U0001DA9B-\U0001DAAF\U0001E000-\U0001E02A\U0001E08F\U0001E130-\U0001E136\U0001E2AE'
    '\U0001E2EC-\U0001E2EF\U0001E4EC-\U0001E4EF\U0001E5EE-\U0001E5EF\U0001E6E3\U0001E6E6'
    '\U0001E6EE-\U0001E6EF\U0001E6F5\U0001E8D0-\U0001E8D6\U0001E944-\U0001E94A'
    '\U000E0100-\U000E01EF'
    ']';
comment on function private.marks is
  'The combining marks of Unicode 17, and the half-width marks that NFKC turns into combining '
  'marks.';

create function private.beginning(value text, most integer) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  -- Two adjacent characters belong together if the second is a mark, a joiner, a skin tone, a tag of
  -- a flag or part of a syllable in Hangul, Thai or Lao, or if the first is a joiner, a virama, a
  -- sign that precedes numbers or a carriage return.
  joined constant text := '(?:' || private.marks() || '|[\u0E33\u0EB3\u1160-\u11FF\u200C\u200D'
    '\uD7B0-\uD7FB\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F])$|^[\u000D\u0600-\u0605\u06DD'
    '\u070F\u0890\u0891\u08E2\u094D\u09CD\u0ACD\u0B4D\u0C4D\u0D4D\u0D4E\u1039\u17D2\u1A60\u1BAB'
    '\u200D\uA9C0\uAAF6]';
  -- Matches if the last character is the second letter of a flag, which an odd number of flag
  -- letters precedes.
  half_flag constant text :=
    '(?:^|[^\U0001F1E6-\U0001F1FF])(?:[\U0001F1E6-\U0001F1FF]{2})+$';
  size integer := most;
begin
  if char_length(value) <= most is not false then
    return value;
  end if;
  while size > most - 40
    and (substr(value, size, 2) ~ joined or left(value, size + 1) ~ half_flag)
  loop
    size := size - 1;
  end loop;
  return left(value, case when size > most - 40 then size else most end);
end
$$;
comment on function private.beginning is
  'Truncates a text to at most "most" characters without splitting a grapheme, such as a flag, a '
  'family emoji or a letter with its marks. A grapheme of more than 40 characters may be split.';

create function private.text_problem(value text, most integer) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  size constant integer := octet_length(value);
begin
  if size > 4 * most then
    return 'too_long';
  elsif (size < 62 or size = char_length(value)) is not false then
    return null; -- 31 marks take at least 62 bytes, and no mark is ASCII.
  elsif value ~ (private.marks() || '{31}') then
    return 'invalid';
  end if;
  return null;
end
$$;
comment on function private.text_problem is
  'Why a text must not be processed (too_long or invalid), or null. An invalid text has more than '
  '30 combining marks in a row (UAX #15). Normalising it would take quadratic time and could not '
  'be interrupted.';

create function private.length_problem(value text, fewest integer, most integer) returns text
  language sql immutable parallel safe
  return case
    when value is null then 'required'
    when char_length(value) < fewest then 'too_short'
    when char_length(value) > most then 'too_long'
  end;

create function private.is_name(value text) returns boolean
  language sql immutable parallel safe set search_path = ''
as $$
  -- Control and ignorable characters are invisible or change the text direction.
  select case when private.text_problem(value, 120) is null then value !~ (
    '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B'
    '\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
    '\U000E0000-\U000E0FFF]')
    -- Joiners are part of Persian, Urdu and Indian names; anywhere else they would be invisible.
    and value collate pg_catalog.pg_c_utf8 !~ (
      '(^|[\u0001-\u058F]|[^[:alpha:]\u064B-\u065F\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD'
      '\u0D4D\u0DCA\u1039\u17D2])[\u200C\u200D]|[\u200C\u200D]($|[\u0001-\u058F]|[^[:alpha:]])')
    and value = btrim(value)
    and char_length(value) between 2 and 120
    else false end
$$;
comment on function private.is_name is
  'Whether a text has 2 to 120 characters and is displayed exactly as it is written.';

create function private.bounded(value text, most integer, path text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  problem constant text := private.text_problem(value, most);
begin
  if problem is not null then
    perform private.refuse_field(path, problem, most => most, by_hand => case problem
      when 'too_long' then format('%s has %s characters at most.', path, most)
      else format('%s has more than 30 marks one after another.', path) end);
  end if;
  return value;
end
$$;
comment on function private.bounded is
  'Returns the text, or raises 422 if it must not be processed (see text_problem).';

create function private.normal_form(value text, form text, most integer, path text) returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  plain constant text := private.bounded(value, most, path);
  normal constant text := case normal_form.form
    when 'nfc' then normalize(plain, nfc)
    when 'nfkc' then normalize(plain, nfkc)
    else normalize(plain, nfkd)
  end;
begin
  -- The normalised text is checked too, because normalising turns a few single marks into two.
  if form <> 'nfkd' and normal <> plain and private.text_problem(normal, 18 * most) is not null then
    perform private.refuse_field(path, 'invalid');
  end if;
  return normal;
end
$$;
comment on function private.normal_form is
  'Normalises a text after checking it. No other function may call normalize (npm run check).';

create function private.tidy(value text, most integer, path text, form text default 'nfkc')
  returns text
  language sql immutable parallel safe
  -- [[:space:]] does not match no-break spaces in some locales, so they are listed.
  return nullif(btrim(regexp_replace(
    private.normal_form(value, tidy.form, most, path),
    '[[:space:]\u00A0\u2007\u202F]+', ' ', 'g')), '');
comment on function private.tidy is
  'Normalises a text and returns it as one trimmed line, or null if it is empty. The result may be '
  'longer than "most".';

create function private.visible(value text) returns text
  language sql immutable parallel safe
  return regexp_replace(value,
    '[\u00AD\u061C\u180B-\u180D\u180F\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069'
    '\uFE00-\uFE0F\uFEFF\U000E0100-\U000E01EF]', '', 'g');
comment on function private.visible is
  'Removes invisible characters, which phones add to copied text: zero-width spaces, soft hyphens, '
  'direction marks and variation selectors.';

create function private.visible_line(value text, most integer, path text) returns text
  language sql immutable parallel safe
  return nullif(btrim(
    private.tidy(private.visible(private.bounded(value, most, path)), most, path),
    E' \u200C\u200D'), '');
comment on function private.visible_line is
  'Cleans up a line that a person typed: invisible characters are removed, and joiners only at the '
  'ends, because they can be part of a name. The edge functions do the same (texts.ts).';

create function private.typed(value text, most integer default 320, path text default 'value')
  returns text
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  plain constant text := private.ascii_digits(private.visible_line(value, most, path));
begin
  -- NFKC turns 5² into 52 and ① into 1. A text with such characters is returned unchanged, so that
  -- parsing it fails.
  return case
    when plain is null or regexp_replace(plain, '[^0-9]', '', 'g')
      = regexp_replace(private.ascii_digits(value), '[^0-9]', '', 'g') then plain
    else value
  end;
end
$$;
comment on function private.typed is
  'Cleans up a phone number, email, number or code that a person typed: a visible line with ASCII '
  'digits. The text is returned unchanged if this would change the number.';

create function private.bare_phone(typed text) returns text
  language sql immutable parallel safe
  return regexp_replace(
    regexp_replace(typed, '[][ ().\u2010-\u2015\u2212-]', '', 'g'), '^00(?=965)', '+');
comment on function private.bare_phone is
  'A phone number without separators, and with + instead of 00.';

create function private.mobile_prefixes() returns text
  language sql immutable parallel safe
  return '5|6|9';
comment on function private.mobile_prefixes is
  'The first digits of Kuwaiti mobile numbers, as a regular expression. identifiers.ts has the '
  'same list (docs/deploy.md).';

create function private.kwd_text(amount numeric) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  return to_char(amount, 'FM99,999,999,990.000');
end
$$;
comment on function private.kwd_text is 'An amount in the format of receipts: 1,250.000.';

create function private.in_english() returns boolean
  language sql stable
  return current_setting('facade.language', true) is not distinct from 'en';
comment on function private.in_english is 'Whether the caller''s Accept-Language prefers English.';

grant execute on function private.ascii_digits, private.is_clean, private.marks, private.text_problem,
  private.bounded, private.normal_form, private.tidy, private.is_name, private.visible,
  private.visible_line, private.typed, private.bare_phone, private.mobile_prefixes
  to anon, authenticated, service_role, backend;
