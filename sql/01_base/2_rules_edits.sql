-- When an administrator edits a row by hand (in Studio or in SQL), triggers either apply the same
-- side effects as the API or reject the edit with a message that says what to do instead
-- (15_edits/2_rules_tables.sql lists what may be edited at all). A change counts as made by hand if
-- it is a top-level statement, not one inside a function, trigger, cascade or do block, and if the
-- connection has not set edits.by. Migrations set it.

create function private.is_by_hand(stack text) returns boolean
  language sql stable set search_path = ''
as $$
  -- A stack of a single line means that a top-level statement fired the calling trigger.
  select position(E'\n' in stack) = 0 and coalesce(current_setting('edits.by', true), '') = ''
$$;

create function private.refuse_by_hand(sentence text) returns void
  language plpgsql set search_path = ''
as $$
begin
  raise exception using errcode = 'check_violation', message = sentence;
end
$$;

create function private.refuse_edit() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  if private.is_by_hand(stack) then
    perform private.refuse_by_hand(tg_argv[0]);
  end if;
  return coalesce(new, old);
end
$$;
comment on function private.refuse_edit is
  'Rejects changes made by hand. The trigger argument is the error message.';

create function private.check_edit() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  stack text;
  free constant text[] := tg_argv[1:];
begin
  get diagnostics stack = pg_context;
  if private.is_by_hand(stack) and to_jsonb(new) - free <> to_jsonb(old) - free then
    perform private.refuse_by_hand(tg_argv[0]);
  end if;
  return new;
end
$$;
comment on function private.check_edit is
  'Rejects changes made by hand, unless they affect only the listed columns. Trigger arguments: '
  'the error message, then these columns.';

create function private.refuse_rewriting() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  raise exception '% is only added to', tg_table_name using errcode = '42501';
end
$$;
comment on function private.refuse_rewriting is
  'Rejects every update, delete or truncate that fires the trigger, even by the owner of the '
  'table.';

create function private.keep_edits() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  if private.is_by_hand(stack) then
    new.edited := array(
      select name from jsonb_object_keys(to_jsonb(new) - 'edited') as name
      where name = any (new.edited) or to_jsonb(new) -> name <> to_jsonb(old) -> name
      order by name);
  elsif current_setting('edits.by', true) = 'release' then
    new := jsonb_populate_record(new, (
      select coalesce(jsonb_object_agg(name, to_jsonb(old) -> name), '{}')
      from unnest(old.edited) as name));
  end if;
  return new;
end
$$;
comment on function private.keep_edits is
  'Lists the columns that were changed by hand in the column edited, and keeps their values when a '
  'release updates the row.';

create function private.check_setting() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  new.value := coalesce(new.value, 'null'); -- Studio sends an SQL null when the field is cleared
  if new.name = 'review_listings' and jsonb_typeof(new.value) <> 'boolean' then
    perform private.refuse_by_hand('review_listings is true or false, without quotation marks.');
  elsif new.name = 'find_duplicates' and new.value not in ('"on"', '"off"') then
    perform private.refuse_by_hand('find_duplicates is "on" or "off", in quotation marks.');
  elsif new.name = 'admin_passkeys' and new.value not in ('"optional"', '"required"') then
    perform private.refuse_by_hand(
      'admin_passkeys is "optional" or "required", in quotation marks.');
  elsif new.name = 'seller' and exists (
    select from unnest('{nameAr,nameEn,registrationNo,addressAr,phone,email}'::text[]) as field
    where jsonb_typeof(new.value -> field) is distinct from 'string'
  ) then
    perform private.refuse_by_hand(
      'seller is an object with nameAr, nameEn, registrationNo, addressAr, phone and email, each in '
      'quotation marks.');
  elsif new.name = 'reserved_names' and (
    jsonb_typeof(new.value -> 'everybody') is distinct from 'array'
    or jsonb_typeof(new.value -> 'people') is distinct from 'array'
    or new.value @? '$.*[*] ? (@.type() <> "string")'
  ) then
    perform private.refuse_by_hand(
      'reserved_names is an object with two lists of words in quotation marks: everybody, people.');
  elsif new.name = 'app' and exists (
    select from (values
      ('{minVersion,ios}'::text[], '^[0-9]{1,5}([.][0-9]{1,5}){2}$'),
      ('{minVersion,android}', '^[0-9]{1,5}([.][0-9]{1,5}){2}$'),
      ('{minVersion,web}', '^[0-9]{1,5}([.][0-9]{1,5}){2}$'),
      ('{storeUrl,ios}', '^https://\S+$'),
      ('{storeUrl,android}', '^https://\S+$'),
      ('{privacyUrl}', '^https://\S+$'),
      ('{support,phone}', '^[+]?[0-9]{3,15}$'),
      ('{support,email}', '^[^@\s]+@[^@\s]+$'),
      ('{support,whatsapp}', '^[+]?[0-9]{3,15}$')
    ) as field (path, form)
    where coalesce(case jsonb_typeof(new.value #> path)
      when 'string' then new.value #>> path !~ form
      when 'null' then false
    end, true)
  ) then
    perform private.refuse_by_hand(
      'app has minVersion (ios, android, web: as 1.4.0), storeUrl (ios, android), privacyUrl (https://…) '
      'and support (phone, email, whatsapp); null where nothing is said.');
  elsif new.name = 'maintenance' and new.value <> 'null' and not coalesce(
    jsonb_typeof(new.value -> 'ar') = 'string' and jsonb_typeof(new.value -> 'en') = 'string'
    and new.value ->> 'ar' ~ '\S' and new.value ->> 'en' ~ '\S'
    and greatest(char_length(new.value ->> 'ar'), char_length(new.value ->> 'en')) <= 300, false)
  then
    perform private.refuse_by_hand(
      'maintenance is null, or has ar and en: what people read while only administrators get in, in '
      'quotation marks, 300 characters at most.');
  elsif new.name = 'terms' and new.value <> 'null' then
    if not coalesce(jsonb_typeof(new.value -> 'version') = 'string'
      and new.value ->> 'version' ~ '^[!-~]{1,40}$' and new.value ->> 'url' ~ '^https://\S+$'
      and new.value ->> 'requiredFrom' ~ '^\d{4}-\d\d-\d\d$'
      and pg_input_is_valid(new.value ->> 'requiredFrom', 'date'), false) then
      perform private.refuse_by_hand(
        'terms is null, or has version (up to 40 characters, no blanks, in quotation marks), url '
        '(https://…) and requiredFrom (the first day, as 2026-12-31).');
    -- The date of an unchanged version may be postponed. Otherwise it must be at least 14 days
    -- ahead.
    elsif (new.value ->> 'requiredFrom')::date::timestamp at time zone 'Asia/Kuwait'
        < now() + interval '14 days'
      and not coalesce(new.value ->> 'version' = old.value ->> 'version'
        and new.value ->> 'requiredFrom' >= old.value ->> 'requiredFrom', false) then
      perform private.refuse_by_hand(format(
        'requiredFrom lies at least 14 days ahead, so from %s on: people are told of new terms before '
        'they are held to them.',
        ((now() + interval '14 days') at time zone 'Asia/Kuwait')::date + 1));
    end if;
  end if;
  return new;
end
$$;
comment on function private.check_setting is
  'Rejects values that the functions using the setting could not handle.';

create trigger settings_are_understood
  before insert or update on private.settings
  for each row execute function private.check_setting();
comment on trigger settings_are_understood on private.settings is 'May run in any order.';
create trigger settings_of_functions_are_theirs
  before update of value on private.settings
  for each row when (
    old.name in ('files_url', 'share_url', 'codes_are_sent') and old.value <> new.value
  )
  execute function private.refuse_edit(
    'files_url, share_url and codes_are_sent are written by the functions, from their own settings.');
create trigger rates_keep_what_was_edited
  before update on private.rates
  for each row execute function private.keep_edits();
