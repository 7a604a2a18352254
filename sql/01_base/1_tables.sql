-- What every area stands on: schemas, money, text in one form, settings.

create schema private;
comment on schema private is 'Helpers, rules and counters. Exposed to nobody.';
create schema api;
comment on schema api is 'The functions that clients may call. The only schema that the Data API exposes.';

revoke all on schema private, api from public;
-- Functions are born closed, and what may be called is granted by name. For every schema: what is
-- said for one adds to this and cannot take from it.
alter default privileges for role postgres revoke execute on functions from public;
grant usage on schema private to anon, authenticated, service_role, backend, supabase_auth_admin;
grant usage on schema api to anon, authenticated, service_role;
grant usage on schema public to anon, authenticated, service_role, backend;

-- Money ------------------------------------------------------------------------------------------

-- Plain numeric and not numeric(14,3), which would round silently. NaN counts as larger than any
-- number, so the upper bound keeps it out.
create domain private.kwd as numeric
  constraint kwd_has_three_decimals check (value = round(value, 3))
  constraint kwd_in_range check (value >= 0 and value <= 99999999999.999);
comment on domain private.kwd is 'An amount in Kuwaiti dinar, exact to the fils.';

-- Text -------------------------------------------------------------------------------------------

create function private.ascii_digits(value text) returns text
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  select translate(value, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', '01234567890123456789')
$$;
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
comment on function private.is_clean is 'Text without control characters other than tab and line breaks.';

create function private.tidy(value text) returns text
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  select nullif(btrim(regexp_replace(normalize(value, nfkc), '[[:space:]]+', ' ', 'g')), '')
$$;
comment on function private.tidy is
  'One line of text in one form: NFKC, single spaces, none outside; null when nothing is left.';

create function private.is_name(value text) returns boolean
  language sql
  immutable
  parallel safe
  set search_path = ''
as $$
  -- Control characters, and what Unicode calls ignorable: it shows as nothing or turns the line.
  select value !~ (
    '[\u0001-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F'
    '\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
    '\U000E0000-\U000E0FFF]')
    and value = btrim(value)
    and char_length(value) between 2 and 120
$$;
comment on function private.is_name is 'A name that shows as it is: 2 to 120 characters, none invisible.';

-- Settings ---------------------------------------------------------------------------------------

create table private.settings (
  name text primary key,
  value jsonb not null,
  note text not null
);
comment on table private.settings is 'Switches that an admin sets in Studio; the rows are in 91_data.sql.';
comment on column private.settings.name is 'What is switched.';
comment on column private.settings.value is 'The value now.';
comment on column private.settings.note is 'What it does.';
alter table private.settings enable row level security;
create policy "nobody but functions of their owner" on private.settings using (false);

create function private.setting(name text) returns jsonb
  language sql
  stable
  security definer -- the table is closed; a switch tells nothing about a person
  set search_path = ''
as $$
  select settings.value from private.settings where settings.name = setting.name
$$;
comment on function private.setting is 'A switch of private.settings.';

grant execute on function
  private.ascii_digits, private.tidy, private.is_clean, private.is_name
  to anon, authenticated, service_role, backend;
