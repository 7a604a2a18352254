create function private.search_block(block text) returns text
  language sql immutable parallel safe
  return nullif(regexp_replace(
    replace(private.search_text(block), ' ', ''), '^(قطعه|ق|block)(?=[0-9])', ''), '');
comment on function private.search_block is
  'Normalises a block: ٥ and قطعة 5 both become 5. Null if nothing is left.';

create function private.said_terms(plain text) returns text[]
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  -- The text, followed by a copy without attached prefixes ("and", "with", "the").
  said constant text := ' ' || plain || ' '
    || regexp_replace(plain, '(^| )(?:[بو]ال|لل|[بو])(?=[^ ]{3})', '\1', 'g') || ' ';
begin
  return array(
    with met as materialized (
      select listed.field, listed.value, ' ' || listed.phrase || ' ' as phrase
      from private.reading_words as listed
      where listed.field in (
        'furnished', 'plot_position', 'floor', 'bathrooms', 'amenity', 'direct')
        and strpos(said, ' ' || listed.phrase || ' ') > 0
    )
    select stated.field || ':' || coalesce(n::text, stated.value)
    from (
      select met.field, met.value from met
      where not exists (
        select from met as longer where longer.field = met.field and longer.phrase <> met.phrase
          and strpos(longer.phrase, met.phrase) > 0
      ) and not exists (
        select from private.reading_words as negation
        where negation.field = 'negation' and negation.value = ''
          and strpos(said, ' ' || negation.phrase || met.phrase) > 0
      )
      union
      select part.value, coalesce((
        select listed.value from private.reading_words as listed
        where listed.phrase in (beside.word, ltrim(beside.word, 'و'))
          and listed.field = case part.value when 'bathrooms' then 'count' else 'ordinal' end
        limit 1
      ), beside.digits)
      from (
        select given.word, lag(given.word) over ordered as before, lead(given.word) over ordered as next,
          lead(given.word, 2) over ordered as behind, lead(given.word, 3) over ordered as last,
          regexp_replace(given.word, '^(?:[بوفل]ال|لل|[بوفل])', '') as bare
        from string_to_table(
          regexp_replace(plain, '([^ 0-9])(?: رقم)? ?([0-9]{1,3})(?= |$)', '\1 \2', 'g'), ' '
        ) with ordinality as given (word, index)
        window ordered as (order by given.index)
      ) as words
      join private.reading_words as part on part.phrase in (words.word, words.bare)
        and part.field in ('unit', 'kind') and part.value in ('block', 'floor', 'bathrooms')
      cross join lateral (values
        -- In "a floor of 3 rooms", the number does not number the floor. In "floor 3, rooms 5", it does.
        (case when part.value <> 'bathrooms' and words.next ~ '^[0-9]{1,3}$' and (
          words.last ~ '^[0-9]' or not exists (
            select from private.reading_words as unit
            where unit.phrase = words.behind and unit.field in ('unit', 'times')
              and unit.value not in ('block', 'floor')
          )) then words.next end, null),
        (null, case when part.value = 'floor' then words.next end), -- الدور الثالث
        (null, case when part.value = 'floor' and not coalesce(words.next ~ '^[0-9]', false)
          and not exists (
            select from private.reading_words as own
            where own.phrase = words.next and own.field in ('ordinal', 'floor')
          ) then words.before end), -- the third floor
        (case when part.value = 'bathrooms' and words.before ~ '^[0-9]$' then words.before end,
          case when part.value = 'bathrooms' then words.before end) -- 3 bathrooms
      ) as beside (digits, word)
    ) as stated (field, value)
    left join generate_series(1, 10) as n
      on n <= case stated.field when 'bathrooms' then stated.value::numeric end
    where stated.value is not null
  );
end
$$;
comment on function private.said_terms is
  'Extracts from the text of a listing the terms of fields that can be empty, such as '
  'furnished:none or block:5. Of overlapping phrases, only the longest counts. A phrase after a '
  'negation does not count. Later changes of private.reading_words do not affect documents that '
  'are already stored.';

create function private.search_document(property public.properties)
  returns private.search_documents
  language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
declare
  answer private.search_documents := row(
    property.id, property.type, property.kind, property.usage, property.governorate_id,
    property.area_id, nullif(property.price, 0), property.area_m2, property.bedrooms,
    property.bathrooms, property.furnished, property.is_direct, property.request_year, property.owner_identity_id,
    property.owner_type, property.owner_verified,
    coalesce(property.published_at, property.created_at), property.auction_ends_at,
    property.drop_pct, property.drop_until, property.shown_lat, property.shown_lng,
    property.lat is not null, case when property.lat is not null then
      private.earth_point(property.shown_lat, property.shown_lng) end,
    property.floor_no, property.plot_position, property.amenities,
    case when private.shows_street(property.location_precision) then
      private.search_block(property.block) end,
    null
  );
  fields constant jsonb := to_jsonb(answer);
  own text[];
  plain constant text := private.search_text(concat_ws(' ',
    property.title_ar, property.title_en, property.description_ar, property.description_en,
    'KW-' || property.ref_no, 'KW' || property.ref_no));
begin
  -- Adds terms for the fields that filters look up by term. A number of rooms gets one term for itself
  -- and one for each smaller number.
  own := array(
    select distinct coalesce(rule.term, rule.said) || ':' || coalesce(n::text, held #>> '{}')
    from private.search_filter_rules as rule
    cross join lateral jsonb_path_query(fields -> rule.compared, '$[*]') as held
    left join generate_series(1, 10) as n
      on rule.form = 'integer' and rule.term is not null and n <= held::numeric
    where coalesce(rule.term, rule.said) is not null and held not in ('null', 'false')
      and (held <> '0' or rule.term is null)
  ) || array_remove(array[
    case when property.drop_pct is not null then 'strategy:deal' end,
    case when property.auction_ends_at is not null then 'strategy:auction' end,
    case when property.owner_type = 'company' and property.owner_verified then 'strategy:company' end
  ], null);
  -- Words contain no colon, so no text can imitate a term.
  answer.document := array_to_tsvector(array(
    select left(word, 60) from string_to_table(plain, ' ') as word where word <> ''
  ) || own || array(
    select said from unnest(private.said_terms(plain)) as said
    where said ~ '^amenity:' or not exists (
      select from unnest(own) as term where split_part(term, ':', 1) = split_part(said, ':', 1))
  ));
  return answer;
end
$$;
