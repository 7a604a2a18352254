create function private.message_excerpt(message public.messages) returns text
  language plpgsql stable set search_path = ''
as $$
begin
  if message.type = 'property' then
    return (
      select private.shown_title(properties, null) from public.properties
      where properties.id = message.body::uuid
    );
  end if;
  return private.beginning(regexp_replace(message.body, '[[:space:]]+', ' ', 'g'), 140);
end
$$;

create function private.message_body_ar(type text, preview text, times bigint) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  said constant text := case type
    when 'image' then 'أرسل لك صورة'
    when 'location' then 'أرسل لك موقعاً'
    when 'property' then 'أرسل لك إعلاناً' || coalesce(': ' || preview, '')
    else preview end;
begin
  return case when times > 1
    then private.counted_ar(times,
      'رسالة جديدة', 'رسالتان جديدتان', 'رسائل جديدة', 'رسالة جديدة') || ': ' || said
    else said end;
end
$$;

create function private.message_body_en(type text, preview text, times bigint) returns text
  language plpgsql immutable set search_path = ''
as $$
declare
  said constant text := case type
    when 'image' then 'Sent you a picture'
    when 'location' then 'Sent you a location'
    when 'property' then 'Sent you a listing' || coalesce(': ' || preview, '')
    else preview end;
begin
  return case when times > 1 then times || ' new messages: ' || said else said end;
end
$$;

create function private.message_texts(heading text, message public.messages, unread bigint)
  returns private.notification_text
  language plpgsql stable set search_path = ''
as $$
declare
  excerpt constant text := private.message_excerpt(message);
begin
  return (
    heading, private.message_body_ar(message.type, excerpt, unread),
    heading, private.message_body_en(message.type, excerpt, unread)
  )::private.notification_text;
end
$$;

create function private.unread_messages(
  conversation_id uuid, reader_id uuid, out texts private.notification_text, out last_seq bigint
)
  language plpgsql stable
  security definer -- reads both sides of the conversation
  set search_path = ''
as $$
declare
  unread bigint;
  latest public.messages;
begin
  select participants.unread into unread from public.participants
  where participants.conversation_id = unread_messages.conversation_id
    and participants.identity_id = reader_id;
  select * into latest from public.messages
  where messages.conversation_id = unread_messages.conversation_id
    and messages.sender_identity_id <> reader_id and messages.hidden_at is null
  order by messages.seq desc
  limit 1;
  if unread > 0 and latest.seq is not null then
    last_seq := latest.seq;
    texts := private.message_texts(
      (private.message_ends(latest.conversation_id, latest.sender_identity_id)).heading,
      latest, unread);
  end if;
end
$$;
comment on function private.unread_messages is
  'Returns the texts of a conversation''s notification (the number of unread messages and the last '
  'visible message) and the seq of that message. Both are null if nothing is unread.';
