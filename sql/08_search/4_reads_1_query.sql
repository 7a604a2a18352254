create function private.both_filters(
  given private.search_filters, understood jsonb,
  out filters private.search_filters, out conflicts text[]
)
  language plpgsql stable
  security definer -- otherwise, each calling role would need its own plan
  set search_path = '' set plan_cache_mode = force_generic_plan
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
      when '=' then case when own -> read.name <> read.value then read.name end
      else case when rule.form = 'circle' and own -> read.name <> read.value then read.name end
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
  'Combines the filters of the client (given) with the filters that were read from q (understood). '
  'conflicts: the names of filters of the client that contradict those of q.';

create function private.exact_query(
  strategy text, sort text, given private.search_filters, q text, literal boolean,
  out filters private.search_filters, out words tsquery, out understood jsonb,
  out read private.reading
)
  language plpgsql stable set search_path = ''
as $$
declare
  together record;
begin
  filters := given;
  if not private.is_query(q) then
    return;
  elsif literal then
    read.words := private.query_words(q);
    read.filters := '{}';
  else
    read := private.read_query(q, strategy, sort);
    if not 'floor' = any (given.kinds) and read.filters -> 'kinds' = '["floor"]'
      and read.filters ? 'floorMin' then
      -- If the client filters by other kinds, دور ارضي means a ground floor of one of those kinds.
      read.filters := read.filters - 'kinds';
      read.found := jsonb_path_query_array(read.found, '$[*] ? (@.field != "kinds")');
    end if;
  end if;
  together := private.both_filters(given, read.filters);
  if literal is not true then
    understood := jsonb_build_object('found', read.found, 'words', read.typed,
      'ignored', read.ignored, 'guessed', '[]'::jsonb, 'conflicts', together.conflicts,
      'strategy', read.strategy, 'sort', read.sort);
  end if;
  if private.query_words(q) = '{}' or together.conflicts <> '{}' or read.strategy is not null then
    -- In these cases no listing may match, so the query is a term that no document has.
    words := '''none:'''::tsquery;
    read := null;
  else
    filters := together.filters;
    words := private.search_query(read.words);
  end if;
end
$$;
comment on function private.exact_query is
  'Returns the filters and words of a search, the interpretation of q that clients see '
  '(understood), and the full interpretation (read), which is null if no listing may match.';
