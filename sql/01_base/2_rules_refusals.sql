create function private.refuse(
  status integer, code text, detail jsonb default '{}', by_hand text default null
) returns void
  language plpgsql set search_path = ''
as $$
begin
  -- Studio shows only the message of an error, so the message itself must explain the error.
  if by_hand is not null and session_user <> 'facade'
    and coalesce(current_setting('request.jwt.claims', true), '') = '' then
    raise exception using errcode = 'PT' || status, message = by_hand, hint = code;
  end if;
  raise exception using errcode = 'PT' || status, message = code, detail = refuse.detail::text;
end
$$;
comment on function private.refuse is
  'Raises an API error (contract, section 9). If the change was made by hand, the message is '
  'by_hand.';

create function private.field_problem(
  path text, code text, fewest numeric default null, most numeric default null
) returns jsonb
  language sql stable
  return jsonb_strip_nulls(jsonb_build_object('path', path, 'code', code,
    'min', case code when 'too_short' then fewest end,
    'max', case code when 'too_long' then most end));
comment on function private.field_problem is
  'An entry of an error''s list of invalid fields. fewest and most are the minimum and maximum '
  'number of characters of a text.';

create function private.refuse_fields(
  problems jsonb, status integer default 422, by_hand text default null
) returns void
  language plpgsql set search_path = ''
as $$
begin
  if jsonb_array_length(problems) > 0 then
    perform private.refuse(
      status,
      coalesce((
        select problem ->> 'code' from jsonb_array_elements(problems) as problem
        where problem ->> 'code' not in ('required', 'unknown', 'too_short', 'too_long', 'too_small',
          'too_big', 'self', 'invalid')
        limit 1
      ), 'validation_failed'),
      jsonb_build_object('fields', problems),
      by_hand);
  end if;
end
$$;
comment on function private.refuse_fields is
  'Raises one error that lists all problems, if there are any. The error has the code of the first '
  'specific problem. If all are generic (required, invalid and the like), its code is '
  'validation_failed.';

create function private.refuse_field(
  path text, code text, status integer default 422, by_hand text default null,
  fewest numeric default null, most numeric default null
) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.refuse_fields(
    jsonb_build_array(private.field_problem(path, code, fewest, most)), status, by_hand);
end
$$;

create function private.refuse_value(path text, value text, by_hand text default null)
  returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.refuse_field(
    path, case when value is null then 'required' else 'invalid' end, by_hand => by_hand);
end
$$;
comment on function private.refuse_value is 'Refuses a value that is missing or invalid.';

create function private.or_null(value jsonb) returns jsonb
  language sql immutable
  return coalesce(nullif(or_null.value, '""'), 'null');
comment on function private.or_null is
  'The value of a field that can be cleared with null; an empty string clears it too.';

create function private.given_fields(fields jsonb, clearable text[]) returns jsonb
  language plpgsql immutable set search_path = ''
as $$
begin
  return case when jsonb_typeof(fields) = 'object' then (
    select coalesce(jsonb_object_agg(given.key, case when given.key = any (clearable)
      then private.or_null(given.value) else given.value end), '{}')
    from jsonb_each(fields) as given
    where given.value <> 'null' or given.key = any (clearable)
  ) else fields end;
end
$$;
comment on function private.given_fields is
  'The fields that a request sets. A field with null is left out, unless it is clearable.';

grant execute on function
  private.refuse, private.field_problem, private.refuse_fields, private.refuse_field,
  private.refuse_value
  to anon, authenticated, service_role, backend;
