create function private.refuse(
  status integer, code text, detail jsonb default '{}', by_hand text default null
) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  -- Studio shows only the message of an error.
  if by_hand is not null and session_user <> 'facade'
    and coalesce(current_setting('request.jwt.claims', true), '') = '' then
    raise exception using errcode = 'PT' || status, message = by_hand, hint = code;
  end if;
  raise exception using errcode = 'PT' || status, message = code, detail = refuse.detail::text;
end
$$;
comment on function private.refuse is
  'Raises an error of the contract (section 9). For a change by hand, its message is by_hand.';

create function private.refuse_field(
  path text, code text, status integer default 422, by_hand text default null
) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.refuse(
    status,
    case when code in ('invalid', 'required', 'unknown', 'too_big', 'too_long', 'self') then 'validation_failed'
      else code end,
    jsonb_build_object('fields', jsonb_build_array(
      jsonb_build_object('path', path, 'code', code))),
    by_hand);
end
$$;
comment on function private.refuse_field is
  'Raises validation_failed for a problem that any field can have, otherwise the code itself.';

create function private.refuse_fields(problems jsonb) returns void
  language plpgsql
  set search_path = ''
as $$
declare
  special text := (
    select problem ->> 'code' from jsonb_array_elements(problems) as problem
    where problem ->> 'code' in ('price_required', 'area_invalid', 'field_not_for_type')
    limit 1
  );
begin
  if jsonb_array_length(problems) > 0 then
    perform private.refuse(
      422, coalesce(special, 'validation_failed'), jsonb_build_object('fields', problems));
  end if;
end
$$;
comment on function private.refuse_fields is
  'Raises one error for all problems: a special code if there is one, else validation_failed.';

grant execute on function private.refuse, private.refuse_field
  to anon, authenticated, service_role, backend;
