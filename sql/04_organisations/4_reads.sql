create function private.word_query(words text[]) returns tsquery
  language plpgsql immutable parallel safe set search_path = ''
as $$
begin
  -- Words contain only letters and digits, so quoting is enough.
  return (
    select string_agg(private.quote_lexeme(word) || ':*', '&') from unnest(words) as word
  )::tsquery;
end
$$;

create function private.organisations_after(
  filters public.organisations, sort text, query tsquery, key jsonb, take integer
) returns uuid[]
  language plpgsql stable
  security definer -- under row-level security, words and ratings could not use an index
  set search_path = ''
as $$
declare
  -- All parts of the query are constant SQL; values from callers are passed as parameters.
  sort_key text := case sort
    when 'rating' then '(- organisations.rating_weighed)'
    when 'listings' then '(- organisations.active_listings_count)'
    else 'organisations.created_at'
  end;
  key_type text := case sort
    when 'rating' then 'numeric' when 'listings' then 'integer' else 'timestamptz'
  end;
  direction text := case when sort = 'newest' then ' desc' else '' end;
  found_some text := 'select ' || sort_key || ' as key, organisations.identity_id as id, '
    || 'organisations.words from public.organisations '
    || 'where organisations.listed and organisations.type = ($1).type'
    || case
      when filters.area_id is not null then ' and organisations.area_id = ($1).area_id'
      when filters.governorate_id is not null
        then ' and organisations.governorate_id = ($1).governorate_id'
      else ''
    end
    || case when key is not null then
      ' and (' || sort_key || ', organisations.identity_id) '
        || case when sort = 'newest' then '<' else '>' end
        || ' (($2 ->> 0)::' || key_type || ', ($2 ->> 1)::uuid)'
    else '' end;
  in_order text := ' order by key' || direction || ', id' || direction;
  ids uuid[];
  scanned integer;
begin
  if query is null then
    execute 'select array(select id from (' || found_some || in_order || ' limit $3) as found)'
      into ids using filters, key, take;
    return ids;
  end if;

  -- For a common word, the first 400 rows in order contain enough matches. A rare word needs the
  -- index on words.
  execute 'with scanned as materialized (' || found_some || in_order || ' limit 400)'
    || ' select array(select id from scanned where words @@ $4' || in_order || ' limit $3),'
    || ' (select count(*) from scanned)'
    into ids, scanned using filters, key, take, query;
  if cardinality(ids) < take and scanned = 400 then
    execute 'with matches as materialized (' || found_some || ' and organisations.words @@ $4)'
      || ' select array(select id from matches' || in_order || ' limit $3)'
      into ids using filters, key, take, query;
  end if;
  return ids;
end
$$;

create function private.check_area(governorate_id text, area_id text) returns void
  language plpgsql stable set search_path = ''
as $$
declare
  areas_governorate_id text := (
    select areas.governorate_id from public.areas where areas.id = check_area.area_id
  );
begin
  if governorate_id is not null and not exists (
    select from public.governorates where governorates.id = check_area.governorate_id
  ) then
    perform private.refuse_field('governorateId', 'invalid');
  elsif area_id is not null and areas_governorate_id is null then
    perform private.refuse_field('areaId', 'invalid');
  elsif area_id is not null and governorate_id <> areas_governorate_id then
    perform private.refuse_field('areaId', 'area_invalid');
  end if;
end
$$;

create function private.list_organisations(
  type text, q text default null, governorate_id text default null, area_id text default null,
  sort text default 'rating', page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  words text[] := private.query_words(q);
  query text := concat_ws(' ', 'list_organisations', type, sort, words::text,
    coalesce(governorate_id, '-'), coalesce(area_id, '-'));
  filters public.organisations;
  ids uuid[] := '{}';
begin
  if type is null or type not in ('company', 'office') then
    perform private.refuse_field('type', 'invalid');
  elsif sort is null or sort not in ('rating', 'listings', 'newest') then
    perform private.refuse_field('sort', 'invalid');
  end if;
  perform private.check_area(governorate_id, area_id);
  filters.type := list_organisations.type;
  filters.governorate_id := list_organisations.governorate_id;
  filters.area_id := list_organisations.area_id;
  -- A query without a letter or digit matches no name.
  if words <> '{}' or not private.is_query(q) then
    ids := private.organisations_after(filters, sort, private.word_query(words),
      private.cursor_key(query, page_cursor), private.page_size(page_size) + 1);
  end if;

  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    case when cardinality(ids) > page_size then (
      select private.cursor_of(query, jsonb_build_array(
        case sort
          when 'rating' then to_jsonb(- organisations.rating_weighed)
          when 'listings' then to_jsonb(- organisations.active_listings_count)
          else to_jsonb(organisations.created_at)
        end, organisations.identity_id))
      from public.organisations where organisations.identity_id = ids[page_size]
    ) end
  from private.organisation_records(ids[:page_size]) as records;
end
$$;
comment on function private.list_organisations is
  'Api: Lists verified companies or offices (type) whose names contain these words, sorted by '
  'rating, listings or newest.';

create function private.get_organisation_profile(type text) returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return private.organisation_profile(private.require_identity_type(get_organisation_profile.type));
end
$$;
comment on function private.get_organisation_profile is
  'Api: The page of the acting company or office (type). 403 identity_type_required for others.';

grant execute on function private.list_organisations to anon, authenticated;
grant execute on function private.get_organisation_profile to authenticated;
