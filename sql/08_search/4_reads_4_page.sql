create function private.default_sort(strategy text) returns text
  language sql immutable
  return case default_sort.strategy
    when 'deal' then 'drop_desc' when 'auction' then 'ends_at' else 'newest' end;

create function private.require_search(
  strategy text, sort text, given private.search_filters
) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  sorts text[];
begin
  if (strategy in ('standard', 'exchange', 'auction', 'deal', 'company')) is not true then
    perform private.refuse_field('strategy', 'invalid');
  end if;
  sorts := array['newest', 'price_asc', 'price_desc', 'area_desc']
    || case strategy when 'deal' then '{drop_desc}' when 'auction' then '{ends_at}' end::text[]
    || case when given.near is not null then '{distance}' end::text[];
  if not sort = any (sorts) then
    perform private.refuse(422, 'validation_failed', jsonb_build_object(
      'fields', '[{"path":"sort","code":"invalid"}]'::jsonb, 'allowed', sorts));
  end if;
end
$$;
comment on function private.require_search is
  'Refuses unknown values. drop_desc is allowed only for deals, ends_at only for auctions, and '
  'distance only with near.';

create function private.search_page(
  strategy text, sort text, given private.search_filters, q text, literal boolean,
  cursor_state jsonb, page_size integer,
  out items text[], out names text[], out understood jsonb, out next_state jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  order_of text := coalesce(sort, private.default_sort(strategy));
  exact record;
  reading text;
  found record;
  others record;
begin
  if cursor_state ? 'rest' then
    names := array(select name #>> '{}' from jsonb_path_query(cursor_state -> 'names', '$[*]') as name);
    items := array(select item #>> '{}' from jsonb_path_query(cursor_state -> 'rest', '$[*]') as item);
    if cardinality(items) > 34 or exists (select from unnest(items) as item
      where item !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){4}[0-9a-f]{8}[01]*$') then
      perform private.refuse_field('cursor', 'cursor_invalid');
    end if;
    found := private.find_listings(strategy, order_of, given, null,
      array(select left(item, 36)::uuid from unnest(items) as item), null, null, 34);
    items := array(
      select rest.item from unnest(items) with ordinality as rest (item, index)
      where left(rest.item, 36)::uuid = any (found.ids) order by rest.index);
  else
    exact := private.exact_query(strategy, sort, given, q, literal);
    order_of := coalesce(sort, (exact.read).sort, order_of);
    reading := case when (exact.read).filters <> '{}' or exact.words is not null
      then md5(concat_ws(' ', order_of, (exact.read).filters, exact.words)) end;
    if cursor_state ->> 'reading' <> reading then -- an administrator has changed a word since the last page
      perform private.refuse_field('cursor', 'cursor_invalid');
    end if;
    -- At least 5 are read, because similar listings follow if fewer match.
    found := private.find_listings(strategy, order_of, exact.filters, exact.words, null,
      cursor_state ->> 'key', (cursor_state ->> 'id')::uuid, greatest(page_size + 1, 5));
    items := found.ids;
    if cursor_state is null then
      understood := exact.understood;
      if (exact.read).words is not null and cardinality(items) < 5 then
        others := private.similar_listings(
          strategy, order_of, given, exact.read, exact.words, literal, found.ids);
        items := items || others.items;
        names := others.names;
        understood := understood || jsonb_build_object('guessed', others.guessed);
      end if;
    end if;
  end if;
  if cardinality(items) > page_size then
    next_state := case
      when names is not null then jsonb_build_object('names', names, 'rest', items[page_size + 1:])
      else jsonb_build_object(
        'reading', reading, 'key', found.keys[page_size], 'id', found.ids[page_size]) end;
  end if;
  items := items[:page_size];
end
$$;
comment on function private.search_page is
  'Returns the ids of a page. Those of similar listings are followed by digits, as in '
  'private.ranked_listings. If there are similar listings, the next cursor contains the rest of '
  'the list, otherwise the key of the last listing.';

create function private.search(
  strategy text, filters jsonb, q text default null, sort text default null,
  page_cursor text default null, page_size integer default 20, fields text default 'card',
  literal boolean default false
) returns text
  language plpgsql stable security definer set search_path = ''
  set extra_float_digits = 1 -- a distance in a cursor must be exact
as $$
declare
  given constant private.search_filters := private.parse_search_filters(filters, strategy);
  query text;
  page record;
  shown uuid[];
  changes jsonb := '[]';
begin
  perform private.require_search(strategy, sort, given);
  perform private.page_size(page_size);
  query := concat_ws(' ', 'search', strategy, coalesce(sort, private.default_sort(strategy)),
    private.query_words(q), given, case when literal then 'literal' end);
  page := private.search_page(strategy, sort, given, q, coalesce(literal, false),
    private.cursor_key(query, page_cursor), page_size);
  if page.names is null then
    shown := page.items::uuid[];
  else
    shown := array(select left(item, 36)::uuid from unnest(page.items) as item);
  end if;
  if private.claims() is not null then -- a guest has no blocks
    shown := private.without_blocked(shown);
  end if;
  if page.names is not null then
    select coalesce(jsonb_agg(jsonb_build_object('from', part.index, 'changed', array(
      select name from unnest(page.names, string_to_array(part.unmet, null)) as given (name, is_unmet)
      where is_unmet = '1')) order by part.index), '[]')
    into changes
    from (
      select row_number() over ordered - 1 as index, substr(one.item, 37) as unmet,
        lag(substr(one.item, 37), 1, '') over ordered as unmet_before
      from unnest(page.items) with ordinality as one (item, index)
      where left(one.item, 36)::uuid = any (shown)
      window ordered as (order by one.index)
    ) as part
    where part.unmet <> part.unmet_before;
  end if;
  return '{"items":' || private.list_items(shown, private.identity_id(), fields)
    || ',"nextCursor":' || coalesce('"' || private.cursor_of(query, page.next_state) || '"', 'null')
    || ',"similarFrom":' || coalesce(changes -> 0 ->> 'from', 'null')
    || ',"similar":' || changes
    || ',"understood":' || coalesce(page.understood::text, 'null') || '}';
end
$$;
comment on function private.search is
  'Facade: returns a page of search results as JSON text. The facade has already validated the '
  'arguments. Unless literal is true, q is interpreted; understood is the interpretation. If fewer '
  'than 5 listings match, similar ones follow. similar contains, for each group of these, the '
  'index of its first listing and the filters that were dropped or widened.';

grant execute on function private.search to anon, authenticated;
