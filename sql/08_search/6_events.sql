create function private.update_search_document() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  document private.search_documents;
  removed text[];
  added text[];
begin
  delete from private.search_documents where search_documents.property_id = new.id
  returning private.guessable_words(search_documents.document) into removed;
  if new.listed then
    document := private.search_document(new);
    insert into private.search_documents select document.*;
    added := private.guessable_words(document.document);
  end if;
  if added is distinct from removed then
    insert into private.search_word_changes (writer, added, removed)
    select private.word_writer(accounts),
      array(select unnest(added) except select unnest(removed)),
      array(select unnest(removed) except select unnest(added))
    from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = new.owner_identity_id;
  end if;
  return null;
end
$$;
comment on function private.update_search_document is
  'Updates private.search_documents, and queues the words that were added or removed for counting.';

create trigger properties_are_searched_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.update_search_document();
do $$
declare
  compared constant text[] := array['listed'] || private.property_columns('searched') || array[
    'area_m2', 'owner_identity_id', 'owner_type', 'owner_verified', 'published_at',
    'auction_ends_at', 'drop_pct', 'drop_until', 'shown_lat', 'shown_lng', 'location_precision'
  ];
begin
  execute format(
    'create trigger properties_are_searched after update on public.properties '
    'for each row when ((old.listed or new.listed) and (%s) is distinct from (%s)) '
    'execute function private.update_search_document()',
    'old.' || array_to_string(compared, ', old.'), 'new.' || array_to_string(compared, ', new.'));
end
$$;
