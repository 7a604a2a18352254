create function private.message_location(body text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  coordinates constant text[] := regexp_match(
    translate(private.ascii_digits(body), '٫،', '.,'),
    '^(-?[0-9]{1,3}(?:\.[0-9]+)?)[[:space:]]*,[[:space:]]*(-?[0-9]{1,3}(?:\.[0-9]+)?)$');
begin
  return case when coordinates[1]::numeric between -90 and 90
    and coordinates[2]::numeric between -180 and 180
    then trim_scale(round(coordinates[1]::numeric, 6)) || ','
      || trim_scale(round(coordinates[2]::numeric, 6)) end;
end
$$;
comment on function private.message_location is
  'Normalises a location to "lat,lng" with at most six decimals. Null if body is not a location.';

create function private.message_problem(type text, clean text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  problem constant text := private.text_problem(clean, 4000);
begin
  if problem = 'too_long' or char_length(clean) > 4000 then
    return 'message_too_long';
  elsif problem is not null or not private.is_clean(clean) then
    return 'invalid';
  end if;
  case message_problem.type
    when 'text' then
      -- A body that consists only of spaces and invisible characters counts as empty.
      return case when clean !~ (
        '[^[:space:]\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F'
        '\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
        '\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]'
      ) then 'message_empty' end;
    when 'location' then
      return case when private.message_location(clean) is null then 'invalid' end;
    when 'property' then
      return case when clean !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then 'invalid' end;
    else
      return null;
  end case;
end
$$;

create function private.trimmed_message(body text) returns text
  language sql immutable parallel safe
  return btrim(coalesce(trimmed_message.body, ''), E' \t\r\n');

create function private.clean_message_body(type text, body text) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  -- A text that message_problem will reject is neither normalised nor trimmed.
  clean text := case when private.text_problem(body, 4000) is not null then body
    else private.trimmed_message(private.normal_form(body, 'nfc', 4000, 'body')) end;
  problem text := private.message_problem(type, clean);
begin
  if problem is not null then
    perform private.refuse_field('body', problem);
  elsif (clean_message_body.type in ('text', 'image', 'location', 'property')) is not true then
    perform private.refuse_value('type', type);
  end if;
  return case clean_message_body.type
    when 'location' then private.message_location(clean)
    when 'property' then lower(clean)
    else clean
  end;
end
$$;

-- Realtime can deliver an event before the commit that sent it is visible to other sessions. Writers
-- hold the following lock until the commit is visible, so a client that reacts to the event by reading
-- waits until then.

create function private.announce_messages(conversation_ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('history ' || conversation_id, 0))
  from unnest(conversation_ids) as conversation_id;
end
$$;

create function private.wait_for_announced(conversation_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('history ' || conversation_id, 0));
end
$$;
