-- What an admin changes by hand, in Studio or by SQL, either has the effects that the route has, by
-- the triggers of each area, or is refused with a sentence that says what to do instead.

create function private.refuse_by_hand(sentence text) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  raise exception using errcode = 'check_violation', message = sentence;
end
$$;
comment on function private.refuse_by_hand is
  'Refuses a change that no route makes; whoever changes rows by hand reads the sentence.';

create function private.refuse_edit() returns trigger
  language plpgsql
  set search_path = ''
as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  -- A single line is this trigger alone, so none of our functions and triggers made the change.
  if position(E'\n' in stack) = 0 then
    perform private.refuse_by_hand(tg_argv[0]);
  end if;
  return new;
end
$$;
comment on function private.refuse_edit is
  'Refuses a change that was made by hand. Argument: what to do instead.';

create function private.refuse_rewriting() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  raise exception '% is only added to', tg_table_name using errcode = '42501';
end
$$;
comment on function private.refuse_rewriting is
  'Refuses the change for everybody, the owner included.';

create function private.check_setting() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and old.name <> new.name then
    perform private.refuse_by_hand('A setting keeps its name: functions read it by that.');
  elsif new.name = 'review_listings' and jsonb_typeof(new.value) <> 'boolean' then
    perform private.refuse_by_hand('review_listings is true or false, without quotation marks.');
  elsif new.name = 'seller' and (jsonb_typeof(new.value) <> 'object' or not new.value ?& array[
    'nameAr', 'nameEn', 'registrationNo', 'addressAr', 'phone', 'email'
  ]) then
    perform private.refuse_by_hand(
      'seller is an object with nameAr, nameEn, registrationNo, addressAr, phone and email.');
  end if;
  return new;
end
$$;
comment on function private.check_setting is
  'Refuses a value that no function would understand.';

create trigger settings_are_understood
  before insert or update on private.settings
  for each row execute function private.check_setting();
create trigger rates_keep_their_name
  before update of rule on private.rates
  for each row when (old.rule <> new.rule)
  execute function private.refuse_edit(
    'A rate keeps its name: functions count under it. A max of a million or more is no limit.');
create trigger settings_of_functions_are_theirs
  before update of value on private.settings
  for each row when (old.name = 'files_url' and old.value <> new.value)
  execute function private.refuse_edit(
    'files_url is written by the functions, which know where the project is reached.');
