-- What a notification says, in Arabic and English, from its kind and the details of the event.
--
-- In plpgsql, which keeps its plans for the session: some of this runs for every message, and a
-- function in SQL would be planned at every call.

create type private.notification_text as (
  title_ar text, body_ar text, title_en text, body_en text
);
comment on type private.notification_text is 'Title and body of a notification in both languages.';

create function private.notification_texts(
  kind text, category text, details jsonb, times bigint
) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case
    when kind = 'message_new' then private.message_texts(details, times)
    when category in ('leads', 'favorites', 'listings')
      then private.listing_texts(kind, details, times)
    when category = 'billing' then private.billing_texts(kind, details)
    else private.account_texts(kind, details)
  end;
end
$$;
comment on function private.notification_texts is
  'Title and body in both languages; times is how many events it stands for.';

-- Details: name, preview, type of the last message; times is how many came unread.
create function private.message_texts(details jsonb, times bigint) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (
    details ->> 'name', private.message_body_ar(details ->> 'type', details ->> 'preview', times),
    details ->> 'name', private.message_body_en(details ->> 'type', details ->> 'preview', times)
  )::private.notification_text;
end
$$;
comment on function private.message_texts is 'Texts of message_new.';

create function private.message_body_ar(type text, preview text, times bigint) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  said constant text := case type
    when 'image' then 'أرسل لك صورة'
    when 'location' then 'أرسل لك موقعاً'
    when 'property' then 'أرسل لك إعلاناً'
    else preview end;
begin
  return case when times > 1
    then private.counted_ar(times,
      'رسالة جديدة', 'رسالتان جديدتان', 'رسائل جديدة', 'رسالة جديدة') || ': ' || said
    else said end;
end
$$;
comment on function private.message_body_ar is
  'What a notification says of the last of so many messages.';

create function private.message_body_en(type text, preview text, times bigint) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  said constant text := case type
    when 'image' then 'Sent you a picture'
    when 'location' then 'Sent you a location'
    when 'property' then 'Sent you a listing'
    else preview end;
begin
  return case when times > 1 then times || ' new messages: ' || said else said end;
end
$$;
comment on function private.message_body_en is 'As message_body_ar, in English.';

create function private.waiting_text(language text, waiting bigint, out title text, out body text)
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  if language = 'en' then
    title := 'Messages from new people';
    body := case when waiting = 1 then '1 message is waiting' else waiting || ' messages are waiting' end;
  else
    title := 'رسائل من أشخاص جدد';
    body := 'بانتظارك ' || private.counted_ar(waiting, 'رسالة', 'رسالتان', 'رسائل', 'رسالة');
  end if;
end
$$;
comment on function private.waiting_text is
  'What a push says of so many messages of strangers that were not pushed.';

create function private.counted_ar(n bigint, one text, two text, few text, many text) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return case
    when n = 1 then one
    when n = 2 then two
    when n % 100 between 3 and 10 then n || ' ' || few
    when n % 100 between 11 and 99 then n || ' ' || many
    else n || ' ' || one
  end;
end
$$;
comment on function private.counted_ar is
  'A counted thing in Arabic: one and two without a number, 3 to 10 plural, from 11 singular.';

create function private.kwd_text(amount numeric) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return to_char(amount, 'FM99,999,999,990.000');
end
$$;
comment on function private.kwd_text is 'An amount as receipts write it: 1,250.000.';
