create function private.count_search_words(changes integer default 500) returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  lost text[];
  counted bigint;
begin
  -- Only one run at a time: two that count the same words could deadlock.
  if not pg_catalog.pg_try_advisory_xact_lock(hashtextextended('count_search_words', 0)) then
    return 0;
  end if;
  with taken as (
    delete from private.search_word_changes
    where search_word_changes.id in (
      select next.id from private.search_word_changes as next
      order by next.id limit count_search_words.changes
    )
    returning *
  ), changed as (
    select taken.writer, unnest(taken.added) as word, 1 as n from taken
    union all
    select taken.writer, unnest(taken.removed), -1 from taken
  ), written as (
    insert into private.search_vocabulary as known (word, listings, writers)
    select changed.word, sum(changed.n), private.five_writers('{}', coalesce(
      array_agg(distinct changed.writer) filter (where changed.n > 0 and changed.writer is not null),
      '{}'))
    from changed
    group by changed.word
    on conflict (word) do update set
      listings = known.listings + excluded.listings,
      writers = private.five_writers(known.writers, excluded.writers)
    returning known.word, known.listings
  )
  select (select count(*) from taken), array_agg(written.word)
  into counted, lost
  from written where written.listings <= 0;
  delete from private.search_vocabulary where search_vocabulary.word = any (lost);
  return counted;
end
$$;
comment on function private.count_search_words is
  'Job: counts the words of the oldest rows of private.search_word_changes, at most changes rows '
  'per run, and deletes these rows.';

create function private.recount_search_words() returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Waits for a running job, which has locked some of the rows that are deleted here.
  perform pg_advisory_xact_lock(hashtextextended('count_search_words', 0));
  delete from private.search_vocabulary;
  delete from private.search_word_changes;
  insert into private.search_word_changes (writer, added, removed)
  select private.word_writer(accounts), private.guessable_words(search_documents.document), '{}'
  from private.search_documents
  join public.identities on identities.id = search_documents.owner_identity_id
  join public.accounts on accounts.id = identities.account_id;
  perform private.count_search_words(2147483647);
end
$$;

create function private.rebuild_search_documents() returns bigint
  language plpgsql security definer set search_path = ''
as $$
declare
  made text[];
begin
  foreach made slice 1 in array '{{search_documents,search_document},{property_cards,property_card},'
    '{listed_records,listed_record}}'::text[] loop
    execute format('delete from private.%I', made[1]);
    execute format('insert into private.%I select made.* from public.properties '
      'cross join lateral private.%I(properties) as made where properties.listed '
      'on conflict do nothing', made[1], made[2]);
  end loop;
  perform private.recount_search_words();
  return (select count(*) from private.search_documents);
end
$$;
comment on function private.rebuild_search_documents is
  'Rebuilds search documents, cards and records. Needed after data was loaded without triggers, or '
  'the functions that build them have changed. Only the owner of the database can call it.';

grant execute on function private.count_search_words to backend;
