create function private.on_property_edited() returns trigger
  language plpgsql
  security definer -- reads the vocabularies, regardless of who edits
  set search_path = ''
as $$
declare
  stack text;
  was jsonb;
  is_now jsonb;
  unknown text;
begin
  get diagnostics stack = pg_context;
  if not private.is_by_hand(stack) then
    return new;
  end if;
  was := to_jsonb(old);
  is_now := to_jsonb(new);
  select format('%s is no code of %s', code, field.vocabulary) into unknown
  from private.property_fields() as field
  cross join lateral (select case field.form when 'location' then 'location_precision'
    else private.column_of(field.name) end) as of_field (name)
  cross join lateral (select was -> of_field.name, is_now -> of_field.name) as given (before, after)
  cross join lateral jsonb_array_elements_text(
    case jsonb_typeof(given.after) when 'array' then given.after
      else jsonb_build_array(given.after) end) as code
  where 'by_hand' = any (field.uses) and field.vocabulary not in ('area', 'governorate')
    and given.before is distinct from given.after and code is not null
    and not private.is_word(field.vocabulary, code)
  limit 1;
  if unknown is not null then
    perform private.refuse_by_hand(format('Not saved: %s, see vocabularies.', unknown));
  end if;
  -- The new version keeps an owner who is editing the listing from overwriting this change unseen.
  new.version := old.version + 1;
  return new;
end
$$;
comment on function private.on_property_edited is
  'Checks the codes of a listing that was edited by hand, and increments its version.';

create trigger properties_edited_are_another_version
  before update on public.properties
  for each row when (session_user <> 'facade')
  execute function private.on_property_edited();
comment on trigger properties_edited_are_another_version on public.properties is
  'The order relative to the other triggers of the table does not matter.';
