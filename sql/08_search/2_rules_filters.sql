-- Each filter is defined by an attribute of search_filters and a row of search_filter_rules
-- (sql/91_data_filters.sql). test/search/filters.test.ts compares these rows with the schemas of the
-- OpenAPI description (functions/api/search/schemas-filters.ts).

create type private.search_filters as (
  type text,
  kinds text[],
  usage text,
  "governorateIds" text[],
  "areaIds" text[],
  "notKinds" text[],
  "notGovernorateIds" text[],
  "notAreaIds" text[],
  "priceMin" numeric,
  "priceMax" numeric,
  "areaM2Min" numeric,
  "areaM2Max" numeric,
  "bedroomsMin" smallint,
  "bathroomsMin" smallint,
  furnished text[],
  "isDirect" boolean,
  "verifiedOnly" boolean,
  "postedSince" timestamptz,
  bbox double precision[],
  near double precision[],
  "ownerId" uuid,
  "companyId" uuid,
  "requestYearMin" smallint,
  "requestYearMax" smallint,
  "floorMin" smallint,
  "floorMax" smallint,
  "plotPosition" text[],
  amenities text[],
  block text,
  said tsquery
);
comment on type private.search_filters is
  'Parsed filters. bbox is minLng, minLat, maxLng, maxLat; near is lat, lng, km. said: terms read '
  'from q that a listing may also state in its text (private.said_terms).';

create table private.search_filter_rules (
  name text primary key, -- the key of the filter in JSON and the name of the attribute
  form text not null,
  compared text,
  comparison text,
  vocabulary text,
  lowest numeric,
  highest numeric,
  strategy text,
  is_indexed boolean not null,
  term text,
  said text,
  let_go smallint
);
alter table private.search_filter_rules enable row level security;
grant select on private.search_filter_rules to acting;
create policy "functions for clients read all" on private.search_filter_rules
  for select to acting using (true);
comment on table private.search_filter_rules is
  'How each filter is parsed and applied. is_indexed: whether the newest-first indexes contain its '
  'column. said: its term, if a listing whose field is empty can state the value in its text '
  '(private.said_terms). let_go: the step at which private.similar_listings drops or widens the '
  'filter if it was read from q; null if it never does. Never purged: one row per filter.';

create table private.kind_groups (
  kind text primary key,
  name text not null
);
alter table private.kind_groups enable row level security;
grant select on private.kind_groups to acting;
create policy "functions for clients read all" on private.kind_groups
  for select to acting using (true);
comment on table private.kind_groups is
  'Groups of similar kinds; name is the group. If a search finds too few listings of a kind, '
  'listings of the other kinds in its group are shown as similar. Never purged: one row per kind.';

create function private.inside_maximum(lowest numeric, highest numeric, edge numeric)
  returns numeric
  language sql immutable
  return case
    when highest >= edge then edge
    -- The next smaller number in double precision. For a maximum far below 1, this would underflow.
    when highest > lowest and highest > 1
      then (highest::double precision * (1 - 2::double precision ^ -53))::text::numeric
    else highest
  end;
comment on function private.inside_maximum is
  'Returns the largest coordinate inside a box. The maximum itself is outside, so that a listing '
  'on the edge between two boxes is in only one of them. It is inside at the edge of Kuwait, and '
  'if minimum and maximum are equal.';

create function private.parse_bbox(value jsonb) returns jsonb
  language plpgsql immutable set search_path = ''
  set extra_float_digits = 1 -- the number just below a maximum must be exact
as $$
declare
  box numeric[];
begin
  if jsonb_typeof(value) = 'array' and jsonb_array_length(value) = 4
    and not value @? '$[*] ? (@.type() <> "number")' then
    box := array[greatest((value -> 0)::numeric, 46.50), greatest((value -> 1)::numeric, 28.45),
      private.inside_maximum((value -> 0)::numeric, (value -> 2)::numeric, 48.80),
      private.inside_maximum((value -> 1)::numeric, (value -> 3)::numeric, 30.15)];
    -- Inverted boxes stay inverted when clipped, and boxes outside Kuwait become inverted.
    return case when box[1] <= box[3] and box[2] <= box[4] then to_jsonb(box) end;
  end if;
  return null;
end
$$;
comment on function private.parse_bbox is
  'Clips a box to Kuwait. Null if nothing is left or the value is invalid.';

create function private.parse_near(value jsonb) returns jsonb
  language plpgsql immutable set search_path = ''
as $$
begin
  if jsonb_typeof(value) = 'object' and value ?& '{lat,lng,km}' and value - '{lat,lng,km}'::text[] = '{}'
    and not value @? '$.* ? (@.type() <> "number")' then
    return case when (value -> 'lat')::numeric between -90 and 90
      and (value -> 'lng')::numeric between -180 and 180
      and (value -> 'km')::numeric > 0 and (value -> 'km')::numeric <= 50
      then jsonb_build_array(value -> 'lat', value -> 'lng', value -> 'km') end;
  end if;
  return null;
end
$$;

create function private.parse_time(value jsonb) returns jsonb
  language plpgsql immutable set search_path = ''
as $$
declare
  time constant text := value #>> '{}';
  moment constant text := case
    when time ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' then time || ' 00:00 Asia/Kuwait'
    when time ~ ('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?'
      || '(Z|[+-][0-9]{2}:[0-9]{2})$') then time end;
begin
  return case when jsonb_typeof(value) = 'string' and pg_input_is_valid(moment, 'timestamptz')
    then to_jsonb(moment) end;
end
$$;
comment on function private.parse_time is
  'Returns an ISO 8601 time, or the start of a date in Kuwait time. Null if the value is neither a '
  'time nor a date.';

create function private.parse_search_filter(
  rule private.search_filter_rules, value jsonb, out clean jsonb, out problem text
)
  language plpgsql stable set search_path = ''
as $$
begin
  clean := value;
  case rule.form
    when 'number', 'integer' then
      problem := private.number_problem(rule.form, value, rule.lowest, rule.highest);
      clean := case when problem is null then to_jsonb(trim_scale(value::numeric)) end;
    when 'codes' then
      if rule.name = 'furnished' and jsonb_typeof(value) = 'string' then
        value := jsonb_build_array(value);
      end if;
      problem := case
        when jsonb_typeof(value) <> 'array' then 'invalid'
        when jsonb_array_length(value) > 200 then 'too_big'
        when not private.are_codes(rule.vocabulary, value) then 'invalid'
      end;
      -- An empty list counts as no filter. Duplicate codes are removed.
      clean := case
        when problem is not null or value = '[]' then null
        when jsonb_array_length(value) = 1 then value
        else (select jsonb_agg(distinct code) from jsonb_array_elements(value) as code) end;
    when 'type' then
      problem := case when value not in ('"SALE"', '"RENT"', '"EXCHANGE"') then 'invalid' end;
    when 'code' then
      problem := case when not private.is_code(rule.vocabulary, value) then 'invalid' end;
    when 'boolean' then
      problem := case when jsonb_typeof(value) <> 'boolean' then 'invalid' end;
    when 'uuid', 'owner' then
      problem := case
        when jsonb_typeof(value) <> 'string' or not pg_input_is_valid(value #>> '{}', 'uuid')
        then 'invalid' end;
    when 'block' then
      problem := case when jsonb_typeof(value) <> 'string' then 'invalid'
        when char_length(value #>> '{}') > 30 then 'too_long'
        else private.text_problem(value #>> '{}', 30) end;
      if problem is null then
        clean := to_jsonb(private.search_block(value #>> '{}'));
        problem := case when clean is null then 'invalid' end;
      end if;
    else
      clean := case rule.form
        when 'time' then private.parse_time(value)
        when 'box' then private.parse_bbox(value)
        when 'circle' then private.parse_near(value)
      end;
      problem := case when clean is null then
        case rule.form when 'box' then 'bbox_invalid' else 'invalid' end end;
  end case;
end
$$;

create function private.parse_search_filters(filters jsonb, strategy text)
  returns private.search_filters
  language plpgsql stable set search_path = ''
as $$
declare
  clean jsonb := '{}';
  problems jsonb := '[]';
  ranges jsonb := '[]'; -- ranges whose minimum is greater than the maximum
  given record;
  rule private.search_filter_rules;
  parsed record;
begin
  if jsonb_typeof(filters) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  for given in
    select name, value from jsonb_each(filters) as filter (name, value) where value <> 'null'
  loop
    select * into rule from private.search_filter_rules where search_filter_rules.name = given.name;
    if rule.name is null or rule.strategy <> parse_search_filters.strategy then
      problems := problems || jsonb_build_object(
        'path', left(given.name, 100), 'code', 'filter_unknown');
      continue;
    end if;
    parsed := private.parse_search_filter(rule, given.value);
    if parsed.problem is not null then
      -- Only a block can be too long; its maximum length is 30.
      problems := problems || private.field_problem(given.name, parsed.problem, most => 30);
      continue;
    end if;
    clean := jsonb_set(clean, array[given.name], coalesce(parsed.clean, 'null'));
    -- jsonb sorts keys of the same length alphabetically, so a Max is parsed before its Min.
    if parsed.clean > clean -> replace(given.name, 'Min', 'Max') then
      ranges := ranges || jsonb_build_object('path', given.name, 'code', 'range_invalid');
    end if;
  end loop;
  perform private.refuse_fields(case problems when '[]' then ranges else problems end);
  return jsonb_populate_record(null::private.search_filters, clean);
end
$$;

create function private.search_conditions(
  strategy text, filters private.search_filters, out conditions text, out is_indexed boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  given constant jsonb := to_jsonb(filters);
begin
  select
    string_agg(case rule.form
      when 'box' then
        'search_documents.lng between (($1).bbox)[1] and (($1).bbox)[3] and '
        'search_documents.lat between (($1).bbox)[2] and (($1).bbox)[4]'
      when 'circle' then -- the haversine formula needs only columns of the index of cells
        'search_documents.has_pin and '
        'power(sind((search_documents.lat - (($1).near)[1]) / 2), 2) + cosd((($1).near)[1]) '
        '* cosd(search_documents.lat) * power(sind((search_documents.lng - (($1).near)[2]) / 2), 2) '
        '<= power(sin((($1).near)[3] / 12742.0176), 2)'
      when 'owner' then -- companies and offices are found only if they are verified
        '(search_documents.owner_identity_id = ($1)."ownerId" and '
        '(search_documents.owner_type = ''individual'' or search_documents.owner_verified))'
      else format('search_documents.%I %s (($1).%I)', rule.compared, rule.comparison, rule.name)
    end, ' and '),
    search_conditions.strategy in ('standard', 'exchange')
      and coalesce(bool_and(rule.is_indexed), true)
  into conditions, is_indexed
  from private.search_filter_rules as rule
  where given -> rule.name <> 'null';
  conditions := concat_ws(' and ',
    case strategy
      when 'standard' then
        'search_documents.type in (''SALE'', ''RENT'') and '
        '(search_documents.auction_ends_at > now()) is not true'
      when 'exchange' then 'search_documents.type = ''EXCHANGE'''
      when 'auction' then 'search_documents.auction_ends_at > now()'
      when 'deal' then
        'search_documents.type in (''SALE'', ''RENT'') and search_documents.drop_pct is not null '
        'and search_documents.drop_until > now()'
      when 'company' then
        'search_documents.owner_type = ''company'' and search_documents.owner_verified'
      else 'true'
    end, conditions);
end
$$;
comment on function private.search_conditions is
  'Returns the SQL conditions of a strategy (null for any) and of filters ($1). The SQL contains '
  'only constants, never input. is_indexed: whether the newest-first indexes contain all columns '
  'that the conditions use.';

create function private.strategy_terms(strategy text) returns tsquery
  language sql immutable
  return case
    when strategy in ('deal', 'auction', 'company') then ('''strategy:' || strategy || '''')::tsquery
    when strategy = 'exchange' then '''type:EXCHANGE'''::tsquery
  end;

create function private.search_terms(given jsonb, are_said boolean default false) returns tsquery
  language plpgsql stable
  security definer -- otherwise, each calling role would need its own plan
  set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  -- The codes are already validated. A document has one term for each number of rooms up to its own.
  return (
    select string_agg('(' || coalesce((
      select string_agg(private.quote_lexeme(chosen.term || ':' || case
        when rule.form = 'integer' and rule.term is not null then least(code::integer, 10)::text
        else code end), case rule.comparison when '@>' then '&' else '|' end)
      from jsonb_path_query(chosen.value, '$[*]') as item
      cross join lateral (select item #>> '{}') as said (code)
    ), '''none:''') || ')', '&')
    from jsonb_each(given) as part (name, value)
    join private.search_filter_rules as rule on rule.name = part.name
    cross join lateral (select
      case
        when rule.comparison is distinct from '<> all' then part.value
        else (
          select coalesce(jsonb_agg(code), '[]') from unnest(private.reading_values(rule.vocabulary)) as code
          where not part.value ? code
          having count(*) <= 8 -- a longer list would cost more than it saves
        )
      end, case when are_said then rule.said else rule.term end
    ) as chosen (value, term)
    where part.value not in ('null', 'false') and chosen.term is not null
      and (chosen.value <> '0' or rule.term is null)
  )::tsquery;
end
$$;
comment on function private.search_terms is
  'Returns terms with which an index preselects listings. They exclude no listing that meets '
  'private.search_conditions. Excluded codes are expressed by listing the other codes. are_said: '
  'only terms that a listing may state in its text.';
