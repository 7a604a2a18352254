create type private.notification_text as (
  title_ar text, body_ar text, title_en text, body_en text
);

create function private.texts_of_kind(kind text, details jsonb, times bigint)
  returns private.notification_text
  language plpgsql stable set search_path = ''
as $$
declare
  given constant jsonb := details || jsonb_build_object('times', times);
  texts text[];
  pieces text[];
  filled text;
  piece text;
  parts text[]; -- the name of the value, then a default or the plural forms
  value text;
begin
  select array[stored.title_ar, stored.body_ar, stored.title_en, stored.body_en]
  into strict texts
  from private.notification_texts as stored
  where stored.kind = texts_of_kind.kind
    and (stored.holds_for is null or given @@ stored.holds_for)
  order by stored.position
  limit 1;
  -- One long function, because calling a helper that has a search_path would cost more than its work.
  for nth in 1 .. 4 loop
    continue when strpos(texts[nth], '{') = 0;
    pieces := string_to_array(texts[nth], '{');
    filled := pieces[1];
    foreach piece in array pieces[2:] loop
      parts := string_to_array(split_part(piece, '}', 1), '|');
      value := case parts[1]
        when 'at' then to_char(
          coalesce((given ->> 'at')::timestamptz, now()) at time zone 'Asia/Kuwait',
          'YYYY/MM/DD HH24:MI')
        when 'titleEn' then coalesce(given ->> 'titleEn', given ->> 'titleAr')
        when 'nameEn' then coalesce(given ->> 'nameEn', given ->> 'nameAr')
        when 'because' then ': ' || (given ->> 'reason')
        when 'amount' then private.kwd_text((given ->> 'amount')::numeric)
        when 'priceAr' then
          private.price_label(given ->> 'type', (given ->> 'price')::numeric, false)
        when 'priceEn' then
          private.price_label(given ->> 'type', (given ->> 'price')::numeric, true)
        when 'beforeAr' then
          private.price_label(given ->> 'type', (given ->> 'before')::numeric, false)
        when 'beforeEn' then
          private.price_label(given ->> 'type', (given ->> 'before')::numeric, true)
        when 'requiredFrom' then replace(given ->> 'requiredFrom', '-', '/')
        when 'day' then replace(given ->> 'day', '-', '/')
        when 'provider' then initcap(given ->> 'provider') -- Google or Apple
        when 'contactAr' then case given ->> 'kind' when 'phone' then 'رقم الهاتف'
          when 'email' then 'البريد الإلكتروني'
          else 'الدخول عن طريق ' || initcap(given ->> 'provider') end
        when 'contactEn' then case given ->> 'kind' when 'phone' then 'phone number'
          when 'email' then 'email' else 'sign-in with ' || initcap(given ->> 'provider') end
        else given ->> parts[1]
      end;
      filled := filled || case cardinality(parts)
        when 1 then value
        when 2 then coalesce(value, parts[2])
        when 3 then case value when '1' then parts[2] else value || ' ' || parts[3] end
        else private.counted_ar(value::bigint, parts[2], parts[3], parts[4], parts[5])
      end || substr(piece, strpos(piece, '}') + 1);
    end loop;
    texts[nth] := filled;
  end loop;
  return (texts[1], texts[2], texts[3], texts[4])::private.notification_text;
end
$$;
comment on function private.texts_of_kind is
  'Fills in the placeholders {name}, {name|default}, {count|one|many} (English) and '
  '{count|one|two|few|many} (Arabic). A text is null if a value without a default is missing. '
  'times is the number of events.';

create function private.waiting_text(language text, waiting bigint, out title text, out body text)
  language plpgsql immutable set search_path = ''
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

create function private.counted_ar(n bigint, one text, two text, few text, many text) returns text
  language plpgsql immutable set search_path = ''
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
