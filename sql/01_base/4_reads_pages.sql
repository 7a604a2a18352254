-- A cursor contains the sort key of the last row of a page, and a checksum that ties the cursor to
-- its query.

create function private.page_size(given integer) returns integer
  language plpgsql immutable set search_path = ''
as $$
begin
  if given is null or given not between 1 and 50 then
    perform private.refuse_field('limit', 'invalid');
  end if;
  return given;
end
$$;

create function private.cursor_checksum(query text, key text) returns text
  language sql stable parallel safe
  return left(encode(sha256(convert_to(query || E'\n' || key, 'UTF8')), 'hex'), 12);
comment on function private.cursor_checksum is
  'Ties a cursor to its query and detects a modified cursor.';

create function private.cursor_of(query text, key jsonb) returns text
  language sql stable parallel safe
  return private.cursor_checksum(query, key::text)
    || translate(encode(convert_to(key::text, 'UTF8'), 'base64'), E'+/=\n', '-_');

create function private.next_cursor(query text, last_keys jsonb) returns text
  language plpgsql stable parallel safe set search_path = ''
as $$
begin
  return case when jsonb_array_length(last_keys) > 1
    then private.cursor_of(query, last_keys -> 0) end;
end
$$;
comment on function private.next_cursor is
  'The cursor for the next page; null on the last page. last_keys has the key of the last row of '
  'this page and, if there is another page, the key of its first row.';

create function private.cursor_key(query text, page_cursor text) returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  packed constant text := substr(left(page_cursor, 4000), 13);
  key text;
begin
  if page_cursor is null then
    return null;
  elsif octet_length(page_cursor) > 4000 then
    perform private.refuse_field('cursor', 'cursor_invalid');
  end if;
  begin
    key := convert_from(
      decode(translate(packed, '-_', '+/') || repeat('=', (4 - length(packed) % 4) % 4), 'base64'),
      'UTF8'
    );
    if private.cursor_checksum(query, key) = left(page_cursor, 12) then
      return key::jsonb;
    end if;
  exception
    when others then null; -- it is not one of our cursors
  end;
  perform private.refuse_field('cursor', 'cursor_invalid');
end
$$;
comment on function private.cursor_key is
  'Extracts the key from a cursor. Raises 422 cursor_invalid if the cursor is damaged or belongs '
  'to another query.';

create function private.is_sort(sorts jsonb, sort text) returns boolean
  language sql immutable
  return coalesce(sort = 'newest' or sorts ? regexp_replace(sort, '^-', ''), false);
comment on function private.is_sort is
  'Whether a sort order exists. A leading - reverses the order; newest is an alias of -oldest.';

create function private.sorted_keys(
  source text, sorts jsonb, sort text, filters jsonb, after_key jsonb, page_size integer
) returns jsonb[]
  language plpgsql stable set search_path = ''
as $$
declare
  canonical_sort constant text := case sort when 'newest' then '-oldest' else sort end;
  columns constant jsonb := sorts -> regexp_replace(canonical_sort, '^-', '');
  value constant text := columns ->> 0;
  id constant text := columns ->> 1;
  backwards constant boolean := starts_with(canonical_sort, '-');
  direction constant text := case when backwards then 'desc' else 'asc' end;
  after constant text := case when after_key is not null then format(' and (%s, %s) %s (%L, %L)',
    value, id, case when backwards then '<' else '>' end, after_key ->> 0, after_key ->> 1) end;
  keys jsonb[];
begin
  execute format(
    'select array(select jsonb_build_array(%1$s, %2$s) %3$s '
    'order by %1$s %4$s, %2$s %4$s limit %5$s)',
    value, id, source || coalesce(after, ''), direction, private.page_size(page_size) + 1
  ) into keys using filters;
  return keys;
end
$$;
comment on function private.sorted_keys is
  'The keys [value, id] of a page and of one more row, which shows whether another page follows. '
  'sorts maps each sort order to two SQL expressions over the indexed table: a value, which is '
  'never null, and an id. source is the from and where clause, in which $1 stands for the filters. '
  'sorts and source are executed as SQL, so they must be constants.';

create function private.key_ids(keys jsonb[]) returns text[]
  language sql immutable set search_path = ''
as $$
  select array(
    select page.key ->> 1 from unnest(keys) with ordinality as page (key, ordinal)
    order by page.ordinal
  )
$$;

grant execute on function
  private.cursor_checksum, private.cursor_of, private.next_cursor, private.cursor_key
  to anon, authenticated, service_role, backend;
