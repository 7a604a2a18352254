-- What notifications about a listing say, to its owner and to whoever saved it.

-- Details: titleAr, titleEn, and by kind way, type, price, before, status, days, reason, change.
create function private.listing_texts(kind text, details jsonb, times bigint)
  returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  name_ar text := '«' || (details ->> 'titleAr') || '»';
  name_en text := '“' || coalesce(details ->> 'titleEn', details ->> 'titleAr') || '”';
  reason text := details ->> 'reason';
  days bigint := details ->> 'days';
  change boolean := coalesce((details ->> 'change')::boolean, false);
  texts private.notification_text;
begin
  case kind
    when 'lead_new' then
      texts.title_ar := private.counted_ar(times, 'طلب تواصل جديد', 'طلبا تواصل جديدان',
        'طلبات تواصل جديدة', 'طلب تواصل جديداً');
      texts.title_en := case when times = 1 then 'New lead' else times || ' new leads' end;
      texts.body_ar := case
        when times > 1 then 'على إعلانك ' || name_ar
        when details ->> 'way' = 'call' then 'أحد المهتمين طلب رقم هاتفك بخصوص ' || name_ar
        when details ->> 'way' = 'whatsapp' then
          'أحد المهتمين يود مراسلتك على واتساب بخصوص ' || name_ar
        else 'أحد المهتمين يود محادثتك بخصوص ' || name_ar end;
      texts.body_en := case
        when times > 1 then 'On your listing ' || name_en
        when details ->> 'way' = 'call' then 'Somebody asked for your number about ' || name_en
        when details ->> 'way' = 'whatsapp' then
          'Somebody would like to write to you on WhatsApp about ' || name_en
        else 'Somebody would like to chat with you about ' || name_en end;
    when 'favorite_price_drop' then
      texts.title_ar := 'انخفض سعر عقار في مفضلتك';
      texts.title_en := 'Lower price on a saved property';
      texts.body_ar := format('انخفض سعر %s من %s إلى %s', name_ar,
        private.price_label(details ->> 'type', (details ->> 'before')::numeric, false),
        private.price_label(details ->> 'type', (details ->> 'price')::numeric, false));
      texts.body_en := format('%s went from %s to %s', name_en,
        private.price_label(details ->> 'type', (details ->> 'before')::numeric, true),
        private.price_label(details ->> 'type', (details ->> 'price')::numeric, true));
    when 'favorite_unavailable' then
      texts.title_ar := 'عقار في مفضلتك لم يعد متاحاً';
      texts.title_en := 'A saved property is no longer available';
      -- Only the owner may say why: otherwise no title, no reason (contract, section 4).
      texts.body_ar := coalesce(case details ->> 'status'
        when 'sold' then 'تم بيع ' || name_ar
        when 'rented' then 'تم تأجير ' || name_ar
        when 'exchanged' then 'تمت مبادلة ' || name_ar
        when 'paused' then 'أوقف المعلن عرض ' || name_ar || ' مؤقتاً'
        else 'انتهى عرض ' || name_ar end, 'أحد العقارات التي حفظتها لم يعد معروضاً');
      texts.body_en := coalesce(case details ->> 'status'
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
      texts.title_en :=
        case when change then 'Your changes are live' else 'Your listing is live' end;
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
    when 'listing_suspended' then
      texts.title_ar := 'تم إيقاف إعلانك';
      texts.title_en := 'Your listing was suspended';
      texts.body_ar := name_ar || coalesce(': ' || reason, '') || '. لم يعد ظاهراً للآخرين';
      texts.body_en := name_en || coalesce(': ' || reason, '') || '. Others do not see it any more';
    when 'listing_restored' then
      texts.title_ar := 'رُفع الإيقاف عن إعلانك';
      texts.title_en := 'Your listing is back';
      texts.body_ar := case details ->> 'status'
        when 'active' then 'أصبح ' || name_ar || ' ظاهراً للجميع من جديد'
        when 'paused' then 'عاد ' || name_ar || ' إلى إعلاناتك متوقفاً، ويمكنك استئناف عرضه'
        else 'عاد ' || name_ar || ' إلى إعلاناتك كما كان' end;
      texts.body_en := case details ->> 'status'
        when 'active' then 'Everybody sees ' || name_en || ' again'
        when 'paused' then name_en || ' is back among your listings, paused: you can resume it'
        else name_en || ' is back among your listings as it was' end;
  end case;
  return texts;
end
$$;
comment on function private.listing_texts is 'Texts of what is about a listing.';
