-- What a notification says, in Arabic and English, from its kind and the facts of the event.

-- plpgsql keeps its plans for the session, where a function in SQL is planned again at every call:
-- some of these run for every message.
create function private.notification_kinds()
  returns table (kind text, category text, route text, collapses boolean)
  language plpgsql
  immutable
  rows 16
  set search_path = ''
as $$
begin
  return query
  values
    ('message_new', 'messages', 'conversation', true),
    ('lead_new', 'leads', 'leads', true),
    ('favorite_price_drop', 'favorites', 'property', true),
    ('favorite_unavailable', 'favorites', 'favorites', true),
    ('listing_expiring', 'listings', 'my_property', true),
    ('listing_approved', 'listings', 'my_property', false),
    ('listing_rejected', 'listings', 'my_property', false),
    ('invoice_paid', 'billing', 'invoice', false),
    ('invoice_failed', 'billing', 'invoice', false),
    ('refund', 'billing', 'invoice', false),
    ('plan_expiring', 'billing', 'plan', false),
    ('identity_verified', 'account', 'identity', false),
    ('identity_rejected', 'account', 'identity', false),
    ('review_new', 'account', 'review', false),
    ('security_login', 'account', 'sessions', false),
    ('system', 'account', 'notifications', false);
end
$$;
comment on function private.notification_kinds is
  'Every kind of notification: the category of its preferences (vocabulary notification_category), '
  'the screen that it opens, whether news of one thing are one unread notification.';

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

create function private.price_text_en(type text, price numeric) returns text
  language plpgsql
  immutable
  set search_path = ''
as $$
begin
  return rtrim(to_char(price, 'FM99,999,999,990.999'), '.') || ' KWD'
    || case type when 'RENT' then ' a month' else '' end;
end
$$;
comment on function private.price_text_en is 'The English counterpart of private.price_label.';

create type private.notification_text as (
  title_ar text, body_ar text, title_en text, body_en text
);
comment on type private.notification_text is 'Title and body of a notification in both languages.';

-- Facts: name, preview, type of the last message; times is how many came unread.
create function private.message_texts(facts jsonb, times bigint) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  texts private.notification_text;
begin
  texts.title_ar := facts ->> 'name';
  texts.title_en := facts ->> 'name';
  texts.body_ar := case facts ->> 'type'
    when 'image' then 'أرسل لك صورة'
    when 'location' then 'أرسل لك موقعاً'
    when 'property' then 'أرسل لك إعلاناً'
    else facts ->> 'preview' end;
  texts.body_en := case facts ->> 'type'
    when 'image' then 'Sent you a picture'
    when 'location' then 'Sent you a location'
    when 'property' then 'Sent you a listing'
    else facts ->> 'preview' end;
  if times > 1 then
    texts.body_ar := private.counted_ar(times,
      'رسالة جديدة', 'رسالتان جديدتان', 'رسائل جديدة', 'رسالة جديدة') || ': ' || texts.body_ar;
    texts.body_en := times || ' new messages: ' || texts.body_en;
  end if;
  return texts;
end
$$;
comment on function private.message_texts is 'Texts of message_new.';

-- Facts: titleAr, titleEn, and by kind way, type, price, before, status, days, reason, change.
create function private.listing_texts(kind text, facts jsonb, times bigint)
  returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  name_ar text := '«' || (facts ->> 'titleAr') || '»';
  name_en text := '“' || coalesce(facts ->> 'titleEn', facts ->> 'titleAr') || '”';
  reason text := facts ->> 'reason';
  days bigint := facts ->> 'days';
  change boolean := coalesce((facts ->> 'change')::boolean, false);
  texts private.notification_text;
begin
  case kind
    when 'lead_new' then
      texts.title_ar := private.counted_ar(times, 'طلب تواصل جديد', 'طلبا تواصل جديدان',
        'طلبات تواصل جديدة', 'طلب تواصل جديداً');
      texts.title_en := case when times = 1 then 'New lead' else times || ' new leads' end;
      texts.body_ar := case
        when times > 1 then 'على إعلانك ' || name_ar
        when facts ->> 'way' = 'call' then 'أحد المهتمين طلب رقم هاتفك بخصوص ' || name_ar
        when facts ->> 'way' = 'whatsapp' then
          'أحد المهتمين يود مراسلتك على واتساب بخصوص ' || name_ar
        else 'أحد المهتمين يود محادثتك بخصوص ' || name_ar end;
      texts.body_en := case
        when times > 1 then 'On your listing ' || name_en
        when facts ->> 'way' = 'call' then 'Somebody asked for your number about ' || name_en
        when facts ->> 'way' = 'whatsapp' then
          'Somebody would like to write to you on WhatsApp about ' || name_en
        else 'Somebody would like to chat with you about ' || name_en end;
    when 'favorite_price_drop' then
      texts.title_ar := 'انخفض سعر عقار في مفضلتك';
      texts.title_en := 'Lower price on a saved property';
      texts.body_ar := format('انخفض سعر %s من %s إلى %s', name_ar,
        private.price_label(facts ->> 'type', (facts ->> 'before')::numeric),
        private.price_label(facts ->> 'type', (facts ->> 'price')::numeric));
      texts.body_en := format('%s went from %s to %s', name_en,
        private.price_text_en(facts ->> 'type', (facts ->> 'before')::numeric),
        private.price_text_en(facts ->> 'type', (facts ->> 'price')::numeric));
    when 'favorite_unavailable' then
      texts.title_ar := 'عقار في مفضلتك لم يعد متاحاً';
      texts.title_en := 'A saved property is no longer available';
      -- Why is its owner's to tell: no title, no reason (contract, favorites).
      texts.body_ar := coalesce(case facts ->> 'status'
        when 'sold' then 'تم بيع ' || name_ar
        when 'rented' then 'تم تأجير ' || name_ar
        when 'exchanged' then 'تمت مبادلة ' || name_ar
        when 'paused' then 'أوقف المعلن عرض ' || name_ar || ' مؤقتاً'
        else 'انتهى عرض ' || name_ar end, 'أحد العقارات التي حفظتها لم يعد معروضاً');
      texts.body_en := coalesce(case facts ->> 'status'
        when 'sold' then name_en || ' has been sold'
        when 'rented' then name_en || ' has been rented out'
        when 'exchanged' then name_en || ' has been exchanged'
        when 'paused' then name_en || ' has been paused by its owner'
        else name_en || ' is no longer offered' end,
        'One of the properties that you saved is no longer offered');
    when 'listing_expiring' then
      texts.title_ar := 'إعلانك على وشك الانتهاء';
      texts.title_en := 'Your listing is about to expire';
      texts.body_ar := format('ينتهي عرض %s خلال %s، ويمكنك تجديده بعد ذلك', name_ar,
        private.counted_ar(days, 'يوم', 'يومين', 'أيام', 'يوماً'));
      texts.body_en := format('%s expires in %s; you can renew it then', name_en,
        case when days = 1 then 'a day' else days || ' days' end);
    when 'listing_approved' then
      texts.title_ar := case when change then 'تم اعتماد تعديلاتك' else 'تم نشر إعلانك' end;
      texts.title_en := case when change then 'Your changes are live' else 'Your listing is live' end;
      texts.body_ar := case
        when change then 'أصبحت تعديلاتك على ' || name_ar || ' ظاهرة للجميع'
        else 'تمت الموافقة على ' || name_ar || ' وأصبح ظاهراً للجميع' end;
      texts.body_en := case
        when change then 'Everybody sees your changes to ' || name_en || ' now'
        else name_en || ' was approved and everybody sees it now' end;
    when 'listing_rejected' then
      texts.title_ar :=
        case when change then 'لم تُعتمد تعديلاتك' else 'لم تتم الموافقة على إعلانك' end;
      texts.title_en :=
        case when change then 'Your changes were not approved'
        else 'Your listing was not approved' end;
      texts.body_ar := name_ar || coalesce(': ' || reason, '') || case
        when change then '. بقي إعلانك كما كان'
        else '. يمكنك تعديله وإرساله من جديد' end;
      texts.body_en := name_en || coalesce(': ' || reason, '') || case
        when change then '. Your listing stays as it was'
        else '. You can change it and send it again' end;
  end case;
  return texts;
end
$$;
comment on function private.listing_texts is 'Texts of what is about a listing.';

-- Facts: number, amount, to; nameAr, nameEn, days.
create function private.billing_texts(kind text, facts jsonb) returns private.notification_text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  number text := facts ->> 'number';
  amount text := private.kwd_text((facts ->> 'amount')::numeric);
  days bigint := facts ->> 'days';
  texts text[];
begin
  texts := case kind
    when 'invoice_paid' then array[
      'تم الدفع بنجاح',
      format('استلمنا %s د.ك عن الفاتورة %s، شكراً لك', amount, number),
      'Payment received',
      format('We received %s KWD for invoice %s, thank you', amount, number)]
    when 'invoice_failed' then array[
      'لم تتم عملية الدفع',
      format('تعذر دفع الفاتورة %s بمبلغ %s د.ك، يمكنك المحاولة مرة أخرى', number, amount),
      'Payment failed',
      format('Invoice %s of %s KWD could not be paid, you can try again', number, amount)]
    when 'refund' then array[
      'تم استرداد مبلغ',
      format('أعدنا %s د.ك عن الفاتورة %s إلى %s', amount, number,
        case facts ->> 'to' when 'wallet' then 'محفظتك' else 'وسيلة الدفع التي استخدمتها' end),
      'Refund',
      format('%s KWD of invoice %s went back to %s', amount, number,
        case facts ->> 'to' when 'wallet' then 'your wallet' else 'your means of payment' end)]
    when 'plan_expiring' then array[
      'باقتك على وشك الانتهاء',
      format('تنتهي باقة «%s» خلال %s، جدّدها لتبقى مزاياها', facts ->> 'nameAr',
        private.counted_ar(days, 'يوم', 'يومين', 'أيام', 'يوماً')),
      'Your plan is about to end',
      format('The plan “%s” ends in %s, renew it to keep what it gives',
        coalesce(facts ->> 'nameEn', facts ->> 'nameAr'),
        case when days = 1 then 'a day' else days || ' days' end)]
  end;
  return row(texts[1], texts[2], texts[3], texts[4])::private.notification_text;
end
$$;
comment on function private.billing_texts is 'Texts of invoices, refunds and plans.';

-- Facts: name, reason, rating, at; of system the texts themselves.
create function private.account_texts(kind text, facts jsonb) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  name text := facts ->> 'name';
  reason text := facts ->> 'reason';
  rating bigint := facts ->> 'rating';
  at text := to_char(
    (facts ->> 'at')::timestamptz at time zone 'Asia/Kuwait', 'YYYY/MM/DD HH24:MI');
  texts text[];
begin
  texts := case kind
    when 'identity_verified' then array[
      'تم التوثيق',
      format('تم توثيق «%s»، ويمكنك استخدام هذه الهوية من الآن', name),
      'Verified',
      format('“%s” is verified, you can act as it from now on', name)]
    when 'identity_rejected' then array[
      'تعذر التوثيق',
      format('لم يتم توثيق «%s»%s. يمكنك تعديل البيانات وإرسالها من جديد', name,
        coalesce(': ' || reason, '')),
      'Not verified',
      format('“%s” was not verified%s. You can change the details and send them again', name,
        coalesce(': ' || reason, ''))]
    when 'review_new' then array[
      'تقييم جديد',
      format('وصلك تقييم من %s: %s', name,
        private.counted_ar(rating, 'نجمة واحدة', 'نجمتان', 'نجوم', 'نجمة')),
      'New review',
      format('%s reviewed you: %s', name,
        case when rating = 1 then 'one star' else rating || ' stars' end)]
    when 'security_login' then array[
      'تسجيل دخول جديد إلى حسابك',
      format('تم تسجيل الدخول إلى حسابك في %s. إن لم تكن أنت، غيّر كلمة المرور وسجّل الخروج '
        'من الأجهزة الأخرى', at),
      'New sign-in to your account',
      format('Your account was signed in to on %s. If that was not you, change your password and '
        'sign out of the other devices', at)]
    when 'system' then array[
      facts ->> 'titleAr', facts ->> 'bodyAr', facts ->> 'titleEn', facts ->> 'bodyEn']
  end;
  return row(texts[1], texts[2], texts[3], texts[4])::private.notification_text;
end
$$;
comment on function private.account_texts is 'Texts of what is about the account and its identities.';

create function private.notification_texts(
  kind text, category text, facts jsonb, times bigint
) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return case
    when kind = 'message_new' then private.message_texts(facts, times)
    when category in ('leads', 'favorites', 'listings')
      then private.listing_texts(kind, facts, times)
    when category = 'billing' then private.billing_texts(kind, facts)
    else private.account_texts(kind, facts)
  end;
end
$$;
comment on function private.notification_texts is
  'Title and body in both languages; times is how often the same news came while it was unread.';

revoke execute on all functions in schema private from public;
