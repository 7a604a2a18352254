-- Search documents follow the listings.

create function private.update_search_document() returns trigger
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
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
comment on function private.update_search_document is 'Keeps private.search_documents up to date.';

create trigger properties_are_searched_on_insert
  after insert on public.properties
  for each row when (new.listed) execute function private.update_search_document();
create trigger properties_are_searched
  after update on public.properties
  for each row when (
    (old.listed or new.listed) and (
      old.listed, old.type, old.kind, old.usage, old.governorate_id, old.area_id, old.price,
      old.area_m2, old.bedrooms, old.bathrooms, old.furnished, old.is_direct, old.request_year,
      old.owner_type, old.owner_verified, old.published_at, old.auction_ends_at, old.drop_pct,
      old.drop_until, old.shown_lat, old.shown_lng, old.title_ar, old.title_en,
      old.description_ar, old.description_en, old.floor_no, old.plot_position, old.block,
      old.location_precision
    ) is distinct from (
      new.listed, new.type, new.kind, new.usage, new.governorate_id, new.area_id, new.price,
      new.area_m2, new.bedrooms, new.bathrooms, new.furnished, new.is_direct, new.request_year,
      new.owner_type, new.owner_verified, new.published_at, new.auction_ends_at, new.drop_pct,
      new.drop_until, new.shown_lat, new.shown_lng, new.title_ar, new.title_en,
      new.description_ar, new.description_en, new.floor_no, new.plot_position, new.block,
      new.location_precision
    )
  )
  execute function private.update_search_document();
