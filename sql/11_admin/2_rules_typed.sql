-- These functions read what administrators type. They refuse unreadable or ambiguous input with an
-- explanation and never guess an amount or a day.

create function private.phone_of(typed text) returns text
  language sql immutable set search_path = ''
as $$
  select '+965' || substring(private.bare_phone(typed)
    from '^(?:\+?965)?((?=' || private.mobile_prefixes() || ')[0-9]{8})$')
$$;

create function private.typed_identifier(typed text) returns text
  language sql immutable set search_path = ''
as $$
  select coalesce(
    private.phone_of(typed), private.ascii_email(substring(typed from '^[^@ ]+@[^@ ]+$')))
$$;

create function private.phone_forms(phone text) returns text
  language sql immutable
  strict -- null for an account without a phone
  set search_path = ''
as $$
  select forms || ' ' || translate(forms, '0123456789', '٠١٢٣٤٥٦٧٨٩')
  from (
    select concat_ws(' ', phone, '00' || substr(phone, 2), '+965', local, '+965',
      left(local, 4), right(local, 4)) as forms
    from (select substr(phone, 5) as local) as number
  ) as written
$$;

create function private.typed_amount(value text) returns numeric
  language plpgsql immutable set search_path = ''
as $$
declare
  typed constant text := private.typed(value);
  currency constant text := '(?:kwd|kd|د\.ك\.?|دينار)';
  figures constant text := translate(
    regexp_replace(lower(typed), format('^%1$s ?| ?%1$s$', currency), '', 'g'), '،', ',');
  amount text;
begin
  if typed is null then
    return null;
  elsif figures ~ '^[0-9]+,[0-9]{3}$' then
    perform private.refuse_by_hand(format('amount "%s" is %s or %s: type one of these.', left(typed, 40),
      translate(figures, ',', '')::numeric, translate(figures, ',', '.')));
  end if;
  amount := case
    when figures ~ '^(?:[0-9]+|[1-9][0-9]{0,2}(?:(?:٬[0-9]{3})+|(?:,[0-9]{3})+))?(?:[.٫][0-9]+)?$'
      and figures ~ '[0-9]'
      then translate(figures, '٫,٬', '.')
    when figures ~ '^[0-9]+,[0-9]+$' then translate(figures, ',', '.')
  end;
  if amount is null then
    perform private.refuse_by_hand(format(
      'amount "%s" is none in dinars: type it as 4.500, ٤٫٥٠٠ or 1250.', left(typed, 40)));
  elsif amount ~ '[.][0-9]{4}' then
    perform private.refuse_by_hand(format(
      'amount "%s" has more than three decimals: nothing is smaller than a fils, 0.001.',
      left(typed, 40)));
  elsif amount !~ '^[0-9]{0,11}(?:[.]|$)' then
    perform private.refuse_by_hand(format('amount "%s" is too much.', left(typed, 40)));
  end if;
  return amount::numeric;
end
$$;
comment on function private.typed_amount is
  'Reads an amount in dinars. ٫ and a dot are decimal separators, ٬ is a thousands separator. A '
  'comma is a thousands separator if another comma group or a decimal separator follows. Otherwise '
  'it is a decimal separator, unless exactly three digits follow it: 1,250 could mean either and '
  'is refused.';

create function private.typed_day(value text) returns timestamptz
  language plpgsql stable set search_path = ''
as $$
declare
  typed constant text := private.typed(value);
  figures constant text := regexp_replace(upper(typed), ' ?([/.-]) ?', '\1', 'g');
  clock constant text := '(?:[T ]([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?)'
    ' ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$';
  day_first constant text[] := regexp_match(figures,
    '^([0-9]{1,2})([/.-])([0-9]{1,2})\2([12][0-9]{3})' || clock);
  year_first constant text[] := regexp_match(figures,
    '^([12][0-9]{3})([/.-])([0-9]{1,2})\2([0-9]{1,2})' || clock);
  day constant text := case
    when day_first is not null then concat_ws('-', day_first[4], day_first[3], day_first[1])
    else concat_ws('-', year_first[1], year_first[3], year_first[4]) end;
  moment constant text := concat_ws(' ', day, coalesce(day_first[5], year_first[5], '00:00'))
    || coalesce(day_first[6], year_first[6], ' Asia/Kuwait');
begin
  if typed is null then
    return null;
  -- A day that does not exist (30/2) is refused even if a time follows it.
  elsif not pg_input_is_valid(day, 'date') or not pg_input_is_valid(moment, 'timestamptz') then
    perform private.refuse_by_hand(format('until "%s" is no day: type day/month/year, as 31/1/2027, '
      'and the time in Kuwait where it is not its beginning, as 31/1/2027 14:30.', left(typed, 40)));
  end if;
  return moment::timestamptz;
end
$$;
comment on function private.typed_day is
  'Reads day/month/year or year/month/day, with an optional time. The time is Kuwait time unless '
  'it has an offset.';

create function private.day_text(moment timestamptz) returns text
  language sql stable
  return regexp_replace(to_char(day_text.moment at time zone 'Asia/Kuwait', 'YYYY-MM-DD HH24:MI:SS.US'),
    '(:00)?[.]000000$', '') || '+03';

create function private.typed_version(value text) returns integer
  language plpgsql immutable set search_path = ''
as $$
declare
  typed constant text := private.typed(value);
begin
  if typed !~ '^[0-9]{1,9}$' then
    perform private.refuse_by_hand(format(
      'version "%s" is no whole number: type the one that the view shows.', left(typed, 40)));
  end if;
  return typed::integer;
end
$$;
