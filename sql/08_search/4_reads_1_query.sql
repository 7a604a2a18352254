create function private.both_filters(
  given private.search_filters, understood jsonb,
  out filters private.search_filters, out conflicts text[]
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  own constant jsonb := jsonb_strip_nulls(to_jsonb(given));
  joined jsonb;
begin
  filters := given;
  conflicts := '{}';
  if understood = '{}' then
    return;
  end if;
  select
    jsonb_object_agg(read.name, case
      when rule.said is not null then own -> read.name
      when rule.comparison = '>=' then greatest(own -> read.name, read.value)
      when rule.comparison = '<=' then least(own -> read.name, read.value)
      when rule.comparison = '= any' then (
        select coalesce(jsonb_agg(code), '[]')
        from jsonb_array_elements(coalesce(own -> read.name, read.value)) as code
        where read.value @> code)
      when rule.comparison = '<> all' then coalesce(own -> read.name, '[]') || read.value
      else coalesce(own -> read.name, read.value)
    end),
    array_remove(array_agg(case rule.comparison
      when '>=' then case when own -> opposite.name < read.value then opposite.name end
      when '<=' then case when own -> opposite.name > read.value then opposite.name end
      when '= any' then case
        when not own -> read.name ?| array(select jsonb_array_elements_text(read.value))
          then read.name
        when own -> opposite.name @> read.value then opposite.name end
      when '<> all' then case when read.value @> (own -> opposite.name) then opposite.name end
      else case when own -> read.name <> read.value then read.name end
    end order by read.index), null)
  into joined, conflicts
  from jsonb_each(understood) with ordinality as read (name, value, index)
  join private.search_filter_rules as rule on rule.name = read.name
  left join private.search_filter_rules as opposite
    on opposite.compared = rule.compared and opposite.comparison <> rule.comparison;
  filters := jsonb_populate_record(given, joined);
  filters.said := private.search_terms(understood, true);
end
$$;
comment on function private.both_filters is
  'Joins given filters with those read from a query. conflicts: the given filters that contradict '
  'those read.';

create function private.exact_query(
  strategy text, given private.search_filters, q text, literal boolean,
  out filters private.search_filters, out words tsquery, out understood jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  typed record;
  together record;
begin
  filters := given;
  if not private.is_query(q) then
    return;
  end if;
  typed := private.typed_reading(q, strategy, literal, given.kinds);
  together := private.both_filters(given, (typed.reading).filters);
  filters := together.filters;
  words := private.search_query((typed.reading).words);
  if literal is not true then
    understood := private.understood(typed.read, typed.reading, '{}', together.conflicts);
  end if;
  if private.query_words(q) = '{}' or together.conflicts <> '{}'
    or (typed.read).strategy is not null then
    -- In these cases no listing may match, so the query is a term that no document has.
    filters := given;
    words := '''none:'''::tsquery;
  end if;
end
$$;
comment on function private.exact_query is
  'The filters and words of a query with nothing left out or guessed, and how it was understood.';

create function private.is_in_listings(strategy text, words tsquery) returns boolean
  language plpgsql
  stable
  security definer -- reads the documents of all listings
  set search_path = ''
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  text_query constant tsquery := coalesce(words && private.strategy_terms(strategy), words);
begin
  -- A common word is usually in one of the newest listings, but few of them are deals or auctions.
  -- "offset 0" keeps the planner from using another index.
  return strategy not in ('deal', 'auction') and exists (
    select from (
      select listing.type, listing.auction_ends_at, listing.drop_until, listing.document
      from private.search_documents as listing
      order by listing.published_at desc, listing.property_id desc
      limit 100
    ) as newest
    where newest.document @@ text_query and private.is_running(
      is_in_listings.strategy, newest.type, newest.auction_ends_at, newest.drop_until)
  ) or exists (
    select from (
      select listing.type, listing.auction_ends_at, listing.drop_until
      from private.search_documents as listing
      where listing.document @@ text_query
      offset 0
    ) as found
    where private.is_running(
      is_in_listings.strategy, found.type, found.auction_ends_at, found.drop_until)
  );
end
$$;

create function private.fitting_listings(
  strategy text, filters jsonb, words tsquery, most integer
) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (private.find_listings(strategy, private.default_sort(strategy),
    (private.both_filters(null, filters)).filters, words, null, null, null, null, most)).ids;
end
$$;
