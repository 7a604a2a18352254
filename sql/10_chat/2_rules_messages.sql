-- What a message may say.

create function private.clean_message_body(type text, body text) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  clean text := btrim(coalesce(clean_message_body.body, ''), E' \t\r\n');
  place text[];
begin
  if not private.is_clean(clean) then
    perform private.refuse_field('body', 'invalid');
  elsif char_length(clean) > 4000 then
    perform private.refuse_field('body', 'message_too_long');
  end if;
  case clean_message_body.type
    when 'text' then
      -- Spaces of every kind and invisible characters, as in private.is_name, are no text.
      if clean !~ (
        '[^[:space:]\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F'
        '\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB'
        '\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]'
      ) then
        perform private.refuse_field('body', 'message_empty');
      end if;
    when 'image' then null;
    when 'location' then
      place := regexp_match(clean,
        '^(-?[0-9]{1,2}(?:\.[0-9]{1,7})?),(-?[0-9]{1,3}(?:\.[0-9]{1,7})?)$');
      if not coalesce(place[1]::numeric between -90 and 90
        and place[2]::numeric between -180 and 180, false) then
        perform private.refuse_field('body', 'invalid');
      end if;
    when 'property' then
      if clean !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
        perform private.refuse_field('body', 'invalid');
      end if;
    else
      perform private.refuse_field('type', 'invalid');
  end case;
  return clean;
end
$$;
comment on function private.clean_message_body is
  'The body of a message of its type: a text that shows, a caption or nothing, "lat,lng", the id '
  'of a listing. 422 message_empty, message_too_long.';
