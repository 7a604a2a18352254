-- Text in one form: digits, lines, names.

create function private.ascii_digits(value text) returns text
  language sql
  immutable
  parallel safe
  return translate(value, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', '01234567890123456789');
comment on function private.ascii_digits is 'Arabic-Indic and Persian digits as ASCII ones.';

create function private.is_clean(value text) returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
begin
  return value !~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]';
end
$$;
comment on function private.is_clean is
  'Text without control characters other than tab and line breaks.';

create function private.tidy(value text) returns text
  language sql
  immutable
  parallel safe
  return nullif(btrim(regexp_replace(normalize(value, nfkc), '[[:space:]]+', ' ', 'g')), '');
comment on function private.tidy is
  'One line of text in one form: NFKC, single spaces, trimmed; null when nothing is left.';

create function private.is_name(value text) returns boolean
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  -- Control characters, and what Unicode calls ignorable: invisible, or changes the direction.
  select value !~ (
    '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F'
    '\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
    '\U000E0000-\U000E0FFF]')
    and value = btrim(value)
    and char_length(value) between 2 and 120
$$;
comment on function private.is_name is
  'A name that shows as it is written: 2 to 120 characters, none invisible.';

create function private.is_reserved_name(name text, of_person boolean) returns boolean
  language plpgsql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
begin
  return exists (
    select from private.settings
    cross join jsonb_array_elements_text(case settings.name
      when 'seller' then
        jsonb_build_array(settings.value -> 'nameAr', settings.value -> 'nameEn')
      else settings.value -> 'everybody'
        || case when of_person then settings.value -> 'people' else '[]' end
    end) as reserved (words)
    where settings.name in ('seller', 'reserved_names') and strpos(
      ' ' || private.search_text(is_reserved_name.name) || ' ',
      ' ' || private.search_text(reserved.words) || ' ') > 0
  );
end
$$;
comment on function private.is_reserved_name is
  'Whether a name holds words by which the service itself speaks, in any spelling: those of the '
  'setting reserved_names, of which some are kept from people alone, and its own name.';

create function private.check_new_name(path text, name text, before text, of_person boolean)
  returns void
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if name is distinct from before and private.is_reserved_name(name, of_person) then
    perform private.refuse_field(path, 'invalid');
  end if;
end
$$;
comment on function private.check_new_name is
  '422 validation_failed for another name than before that holds words of the service.';

grant execute on function private.is_reserved_name to backend;
grant execute on function private.ascii_digits, private.is_clean, private.tidy, private.is_name
  to anon, authenticated, service_role, backend;
