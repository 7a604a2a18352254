-- What an admin may change of listings by hand: 01_base/2_rules_edits.sql.

create function private.on_property_edited() returns trigger
  language plpgsql
  security definer -- reads the vocabularies, for whoever edits
  set search_path = ''
as $$
declare
  stack text;
  unknown text;
begin
  get diagnostics stack = pg_context;
  if not private.is_by_hand(stack) then
    return new;
  end if;
  select format('%s is no code of %s', code, vocabulary) into unknown
  from (values
    ('kind', array[old.kind], array[new.kind]),
    ('usage', array[old.usage], array[new.usage]),
    ('furnished', array[old.furnished], array[new.furnished]),
    ('plot_position', array[old.plot_position], array[new.plot_position]),
    ('finishing', array[old.finishing], array[new.finishing]),
    ('document_type', array[old.document_type], array[new.document_type]),
    ('amenity', old.amenities, new.amenities),
    ('location_precision', array[old.location_precision], array[new.location_precision])
  ) as given (vocabulary, were, are)
  cross join unnest(given.are) as code
  where given.were is distinct from given.are and code is not null
    and not private.is_word(given.vocabulary, code)
  limit 1;
  if unknown is not null then
    perform private.refuse_by_hand(format('Not saved: %s, see vocabularies.', unknown));
  end if;
  -- Whoever has the listing open writes over nothing that they did not see.
  new.version := old.version + 1;
  return new;
end
$$;
comment on function private.on_property_edited is
  'A listing changed by hand has known codes only, and another version.';

create trigger properties_edited_are_another_version
  before update on public.properties
  for each row when (session_user <> 'facade')
  execute function private.on_property_edited();
comment on trigger properties_edited_are_another_version on public.properties is 'In any order.';
