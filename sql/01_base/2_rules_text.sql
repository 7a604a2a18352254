-- Text in one form: digits, lines.

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

grant execute on function private.ascii_digits, private.is_clean, private.tidy
  to anon, authenticated, service_role, backend;
