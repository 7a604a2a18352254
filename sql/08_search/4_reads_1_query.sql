-- A query as a search uses it: its filters and those that were given both hold.

create function private.both_filters(
  given private.search_filters, understood jsonb,
  out wanted private.search_filters, out conflicts text[]
)
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  own constant jsonb := jsonb_strip_nulls(to_jsonb(given));
  joined jsonb;
begin
  wanted := given;
  conflicts := '{}';
  if understood = '{}' then
    return;
  end if;
  select
    jsonb_object_agg(read.name, case rule.comparison
      when '>=' then greatest(own -> read.name, read.value)
      when '<=' then least(own -> read.name, read.value)
      when '= any' then (
        select coalesce(jsonb_agg(code), '[]')
        from jsonb_array_elements(coalesce(own -> read.name, read.value)) as code
        where read.value @> code)
      else coalesce(own -> read.name, read.value)
    end),
    array_remove(array_agg(case rule.comparison
      when '>=' then case when own -> opposite.name < read.value then opposite.name end
      when '<=' then case when own -> opposite.name > read.value then opposite.name end
      when '= any' then case when not own -> read.name ?| array(
        select jsonb_array_elements_text(read.value)) then read.name end
      else case when own -> read.name <> read.value then read.name end
    end), null)
  into joined, conflicts
  from jsonb_each(understood) as read (name, value)
  join private.search_filter_rules as rule on rule.name = read.name
  cross join lateral (select case rule.comparison
    when '>=' then replace(read.name, 'Min', 'Max') else replace(read.name, 'Max', 'Min')
  end) as opposite (name);
  wanted := jsonb_populate_record(given, joined);
end
$$;
comment on function private.both_filters is
  'The filters that were given and those that were read from a query, together, and the names of '
  'given ones that exclude what was read.';

create function private.exact_query(
  strategy text, given private.search_filters, q text, literal boolean,
  out wanted private.search_filters, out words tsquery, out understood jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  typed record;
  together record;
begin
  wanted := given;
  if (q ~ '[^[:space:]]') is not true then
    return;
  end if;
  typed := private.typed_reading(q, strategy, literal);
  together := private.both_filters(given, (typed.reading).filters);
  wanted := together.wanted;
  words := private.reading_query(typed.reading);
  if literal is not true then
    understood := private.understood(typed.read, typed.reading, '{}', together.conflicts);
  end if;
  if private.query_words(q) = '{}' or together.conflicts <> '{}'
    or (typed.read).strategy is not null then
    -- A text without letters and digits is in no listing.
    words := '''none:'''::tsquery;
  end if;
end
$$;
comment on function private.exact_query is
  'The filters and words that are asked of a listing by a query and the filters that were given, with '
  'nothing left out or guessed, and what was understood.';

create function private.fitting_listings(
  strategy text, reading private.search_reading, most integer, alike tsquery default null
) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  exact constant tsquery := private.reading_query(reading);
begin
  return (private.find_listings(strategy, private.default_sort(strategy),
    jsonb_populate_record(null::private.search_filters, reading.filters),
    coalesce(exact && alike, exact, alike), null, null, null, null, most)).ids;
end
$$;
comment on function private.fitting_listings is
  'The first listings of a strategy that fit a query, and words that are like those left out of it.';
