-- The script can be run repeatedly and keeps names that admins have changed. /meta and the OpenAPI
-- description list the kinds in the order of these rows. functions/_shared/chat/notification-kinds.ts and
-- docs/contract/kinds.md are generated from them.
set edits.by = 'release';

with listed as (
  select rows.*, row_number() over () as position
  from (values
    -- Kind, category, route; always_listed, collapses, at_once; name in Arabic and English.
    ('message_new', 'messages', 'conversation', false, true, false, 'رسالة جديدة', 'New message'),
    ('lead_new', 'leads', 'leads', false, true, false, 'طلب تواصل جديد', 'New lead'),
    ('favorite_price_drop', 'favorites', 'property', false, true, false,
      'انخفاض سعر في المفضلة', 'Price drop of a favorite'),
    ('favorite_unavailable', 'favorites', 'favorites', false, true, false,
      'عقار محفوظ لم يعد متاحاً', 'Favorite unavailable'),
    ('listing_expiring', 'listings', 'my_property', false, true, false,
      'إعلان على وشك الانتهاء', 'Listing about to expire'),
    ('listing_expired', 'listings', 'my_property', false, true, false,
      'إعلان انتهى عرضه', 'Listing expired'),
    ('listing_approved', 'listings', 'my_property', false, false, false,
      'إعلان معتمد', 'Listing approved'),
    ('listing_rejected', 'listings', 'my_property', false, false, false,
      'إعلان مرفوض', 'Listing rejected'),
    ('listing_suspended', 'listings', 'my_property', true, false, false,
      'إعلان موقوف', 'Listing suspended'),
    ('listing_restored', 'listings', 'my_property', true, false, false,
      'إعلان أعيد عرضه', 'Listing restored'),
    ('listings_hidden', 'listings', 'my_properties', false, false, false,
      'إعلانات لم تعد معروضة', 'Listings hidden'),
    ('listings_back', 'listings', 'my_properties', false, false, false,
      'إعلانات عادت للعرض', 'Listings back'),
    ('invoice_paid', 'billing', 'invoice', false, false, false, 'فاتورة مدفوعة', 'Invoice paid'),
    ('invoice_failed', 'billing', 'invoice', false, false, false, 'فشل دفع فاتورة', 'Payment failed'),
    ('refund', 'billing', 'invoice', false, false, false, 'استرداد مبلغ', 'Refund'),
    ('plan_expiring', 'billing', 'plan', false, false, false,
      'باقة على وشك الانتهاء', 'Plan about to end'),
    ('plan_terms_changed', 'billing', 'plan', false, false, false,
      'باقة لن تُجدَّد', 'Plan not renewed'),
    ('identity_verified', 'account', 'identity', false, false, false,
      'توثيق شركة أو مكتب', 'Identity verified'),
    ('identity_rejected', 'account', 'identity', false, false, false,
      'رفض شركة أو مكتب', 'Identity rejected'),
    ('identity_suspended', 'account', 'identity', true, false, false,
      'إيقاف حساب معلن', 'Identity suspended'),
    ('identity_restored', 'account', 'identity', true, false, false,
      'إعادة حساب معلن', 'Identity restored'),
    ('licence_expiring', 'account', 'identity', true, true, false,
      'ترخيص على وشك الانتهاء', 'Licence about to end'),
    ('licence_expired', 'account', 'identity', true, false, false,
      'ترخيص منتهٍ', 'Licence ended'),
    ('deletion_requested', 'account', 'sessions', true, false, true,
      'طلب حذف الحساب', 'Deletion requested'),
    ('deletion_cancelled', 'account', 'sessions', true, false, true,
      'إلغاء حذف الحساب', 'Deletion cancelled'),
    ('review_new', 'reviews', 'review', false, false, false, 'تقييم جديد', 'New review'),
    -- Security notifications are pushed even in quiet hours, so that a break-in is noticed in time.
    ('security_login', 'account', 'sessions', false, false, true, 'تسجيل دخول جديد', 'New sign-in'),
    ('security_password', 'account', 'sessions', true, false, true,
      'تغيير كلمة المرور', 'Password changed'),
    ('security_provider', 'account', 'sessions', true, false, true,
      'تغيير وسيلة الدخول', 'Way to sign in changed'),
    ('security_contact', 'account', 'sessions', true, false, true,
      'تغيير رقم أو بريد', 'Phone or email changed'),
    ('terms_new', 'account', 'terms', true, false, false, 'شروط وأحكام جديدة', 'New terms'),
    ('admin_event', 'account', 'notifications', true, false, false, 'للمشرفين', 'Of administrators'),
    ('system', 'account', 'notifications', false, false, false, 'من الإدارة', 'From the service')
  ) as rows (kind, category, route, always_listed, collapses, at_once, name_ar, name_en)
), kinds as (
  insert into private.notification_kinds
    (kind, category, route, always_listed, collapses, at_once, position)
  select kind, category, route, always_listed, collapses, at_once, position from listed
  on conflict (kind) do update set
    category = excluded.category, route = excluded.route, always_listed = excluded.always_listed,
    collapses = excluded.collapses, at_once = excluded.at_once, position = excluded.position
)
insert into public.vocabularies (vocabulary, code, text_ar, text_en, note, position)
select 'notification_kind', kind, name_ar, name_en, null, position from listed
union all
select 'notification_category', code, name_ar, name_en, (
  select string_agg(kind, ', ' order by position) from listed where category = code
), position
from (values
  ('messages', 'الرسائل', 'Messages', 1),
  ('leads', 'طلبات التواصل', 'Leads', 2),
  ('favorites', 'المفضلة', 'Favorites', 3),
  ('listings', 'إعلاناتي', 'My listings', 4),
  ('reviews', 'التقييمات', 'Reviews', 5),
  ('billing', 'المدفوعات', 'Payments', 6),
  ('account', 'الحساب', 'Account', 7)
) as categories (code, name_ar, name_en, position)
on conflict (vocabulary, code) do update set
  text_ar = excluded.text_ar, text_en = excluded.text_en, note = excluded.note,
  position = excluded.position;

-- A notification uses the first text of its kind whose condition matches the details of the event and times
-- (the number of events). Placeholders: {name} is a detail, {name|…} has a default for a missing detail, and
-- {days|…|…} has the plural forms, of which Arabic has four (one, two, few, many). private.texts_of_kind
-- derives further names from the details. The texts of message_new are in
-- 13_notifications/3_records_texts_messages.sql.
delete from private.notification_texts where true;

insert into private.notification_texts
  (kind, position, holds_for, title_ar, body_ar, title_en, body_en)
select kind, row_number() over (), holds_for::jsonpath, title_ar, body_ar, title_en, body_en
from (values
  ('lead_new', '$.times > 1',
    '{times|طلب تواصل جديد|طلبا تواصل جديدان|طلبات تواصل جديدة|طلب تواصل جديداً}',
    'على إعلانك «{titleAr}»',
    '{times|New lead|new leads}',
    'On your listing “{titleEn}”'),
  ('lead_new', '$.way == "call"',
    'طلب تواصل جديد', 'أحد المهتمين طلب رقم هاتفك بخصوص «{titleAr}»',
    'New lead', 'Somebody asked for your number about “{titleEn}”'),
  ('lead_new', null,
    'طلب تواصل جديد', 'أحد المهتمين يود مراسلتك على واتساب بخصوص «{titleAr}»',
    'New lead', 'Somebody would like to write to you on WhatsApp about “{titleEn}”'),
  ('favorite_price_drop', null,
    'انخفض سعر عقار في مفضلتك', 'انخفض سعر «{titleAr}» من {beforeAr} إلى {priceAr}',
    'Lower price on a saved property', '“{titleEn}” went from {beforeEn} to {priceEn}'),
  -- The title is given only if the owner took the listing down or the listing expired (contract, section 4).
  ('favorite_unavailable', '!exists($.titleAr)',
    'عقار في مفضلتك لم يعد متاحاً', 'أحد العقارات التي حفظتها لم يعد معروضاً',
    'A saved property is no longer available',
    'One of the properties that you saved is no longer offered'),
  ('favorite_unavailable', '$.status == "active"',
    'عاد عقار في مفضلتك', 'أُعيد عرض «{titleAr}»',
    'A saved property is back', '“{titleEn}” is offered again'),
  ('favorite_unavailable', '$.status == "sold"',
    'عقار في مفضلتك لم يعد متاحاً', 'تم بيع «{titleAr}»',
    'A saved property is no longer available', '“{titleEn}” has been sold'),
  ('favorite_unavailable', '$.status == "rented"',
    'عقار في مفضلتك لم يعد متاحاً', 'تم تأجير «{titleAr}»',
    'A saved property is no longer available', '“{titleEn}” has been rented out'),
  ('favorite_unavailable', '$.status == "exchanged"',
    'عقار في مفضلتك لم يعد متاحاً', 'تمت مبادلة «{titleAr}»',
    'A saved property is no longer available', '“{titleEn}” has been exchanged'),
  ('favorite_unavailable', '$.status == "paused"',
    'عقار في مفضلتك لم يعد متاحاً', 'أوقف المعلن عرض «{titleAr}» مؤقتاً',
    'A saved property is no longer available', '“{titleEn}” has been paused by its owner'),
  ('favorite_unavailable', null,
    'عقار في مفضلتك لم يعد متاحاً', 'انتهى عرض «{titleAr}»',
    'A saved property is no longer available', '“{titleEn}” is no longer offered'),
  ('listing_expiring', null,
    'إعلانك على وشك الانتهاء',
    'ينتهي عرض «{titleAr}» خلال {days|يوم|يومين|أيام|يوماً}، ويمكنك تجديده من الآن',
    'Your listing is about to expire',
    '“{titleEn}” expires in {days|a day|days}; you can renew it now'),
  ('listing_expired', null,
    'انتهى عرض إعلانك', 'انتهى عرض «{titleAr}»، ويمكنك تجديده خلال 90 يوماً',
    'Your listing has expired', '“{titleEn}” has expired; you can renew it within 90 days'),
  ('listing_approved', '$.change == true',
    'تم اعتماد تعديلاتك', 'أصبحت تعديلاتك على «{titleAr}» ظاهرة للجميع',
    'Your changes are live', 'Everybody sees your changes to “{titleEn}” now'),
  ('listing_approved', null,
    'تم نشر إعلانك', 'تمت الموافقة على «{titleAr}» وأصبح ظاهراً للجميع',
    'Your listing is live', '“{titleEn}” was approved and everybody sees it now'),
  ('listing_rejected', '$.change == true',
    'لم تُعتمد تعديلاتك', '«{titleAr}»{because|}. بقي إعلانك كما كان',
    'Your changes were not approved', '“{titleEn}”{because|}. Your listing stays as it was'),
  ('listing_rejected', null,
    'لم تتم الموافقة على إعلانك', '«{titleAr}»{because|}. يمكنك تعديله وإرساله من جديد',
    'Your listing was not approved', '“{titleEn}”{because|}. You can change it and send it again'),
  ('listing_suspended', null,
    'تم إيقاف إعلانك', '«{titleAr}»{because|}. لم يعد ظاهراً للآخرين',
    'Your listing was suspended', '“{titleEn}”{because|}. Others do not see it any more'),
  ('listing_restored', '$.status == "active"',
    'رُفع الإيقاف عن إعلانك', 'أصبح «{titleAr}» ظاهراً للجميع من جديد',
    'Your listing is back', 'Everybody sees “{titleEn}” again'),
  ('listing_restored', '$.status == "paused"',
    'رُفع الإيقاف عن إعلانك', 'عاد «{titleAr}» إلى إعلاناتك متوقفاً، ويمكنك استئناف عرضه',
    'Your listing is back', '“{titleEn}” is back among your listings, paused: you can resume it'),
  ('listing_restored', null,
    'رُفع الإيقاف عن إعلانك', 'عاد «{titleAr}» إلى إعلاناتك كما كان',
    'Your listing is back', '“{titleEn}” is back among your listings as it was'),
  ('listings_hidden', '$.count == 1',
    'إعلان لم يعد معروضاً',
    'أوقفنا عرض أحد إعلاناتك لأن باقتك لا تتسع له. يعود تلقائياً إذا اشتركت في باقة تتسع له خلال 90 يوماً',
    'A listing is no longer shown',
    'We paused one of your listings, for which your plan has no room. It comes back by itself if you buy '
      'a plan with room within 90 days'),
  ('listings_hidden', null,
    'إعلانات لم تعد معروضة',
    'أوقفنا عرض {count|إعلان|إعلانين|إعلانات|إعلاناً} لأن باقتك لا تتسع لها. تعود تلقائياً إذا اشتركت في باقة '
      'تتسع لها خلال 90 يوماً',
    'Listings are no longer shown',
    'We paused {count} listings for which your plan has no room. They come back by themselves if you buy '
      'a plan with room within 90 days'),
  ('listings_back', null,
    'إعلاناتك عادت للعرض', 'أعدنا عرض {count|إعلان واحد|إعلانين|إعلانات|إعلاناً} بعد الاشتراك في الباقة',
    'Your listings are back', 'With your plan, {count|one listing is|listings are} shown again'),
  ('invoice_paid', null,
    'تم الدفع بنجاح', 'استلمنا {amount} د.ك عن الفاتورة {number}، شكراً لك',
    'Payment received', 'We received {amount} KWD for invoice {number}, thank you'),
  ('invoice_failed', null,
    'لم تتم عملية الدفع', 'تعذر دفع الفاتورة {number} بمبلغ {amount} د.ك، يمكنك المحاولة مرة أخرى',
    'Payment failed', 'Invoice {number} of {amount} KWD could not be paid, you can try again'),
  ('refund', '$.to == "wallet"',
    'تم استرداد مبلغ', 'أعدنا {amount} د.ك عن الفاتورة {number} إلى محفظتك',
    'Refund', '{amount} KWD of invoice {number} went back to your wallet'),
  ('refund', null,
    'تم استرداد مبلغ', 'أعدنا {amount} د.ك عن الفاتورة {number} إلى وسيلة الدفع التي استخدمتها',
    'Refund', '{amount} KWD of invoice {number} went back to your means of payment'),
  ('plan_expiring', '$.renewsBy == "wallet"',
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «{nameAr}» في {day}، وتُجدَّد قبل ذلك من محفظتك مقابل {amount} د.ك إن كان رصيدها كافياً',
    'Your plan is about to end',
    'The plan “{nameEn}” ends on {day}; before that it is renewed from your wallet for {amount} KWD, if '
      'that holds enough'),
  ('plan_expiring', '$.renewsBy == "invoice"',
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «{nameAr}» في {day}. ادفع فاتورة التجديد بمبلغ {amount} د.ك لتبقى مزاياها',
    'Your plan is about to end',
    'The plan “{nameEn}” ends on {day}. Pay the invoice of {amount} KWD to keep what it gives'),
  ('plan_expiring', 'exists($.amount)',
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «{nameAr}» في {day}. جدّدها مقابل {amount} د.ك لتبقى مزاياها',
    'Your plan is about to end',
    'The plan “{nameEn}” ends on {day}. Renew it for {amount} KWD to keep what it gives'),
  ('plan_expiring', null,
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «{nameAr}» في {day} ولم تعد معروضة. يمكنك اختيار باقة أخرى',
    'Your plan is about to end',
    'The plan “{nameEn}” ends on {day} and is no longer offered. You can choose another'),
  ('plan_terms_changed', 'exists($.amount)',
    'تغيّرت شروط باقتك',
    'تنتهي باقة «{nameAr}» كما اشتريتها في {day} ولن تُجدَّد تلقائياً لأن شروطها تغيّرت. سعرها الآن {amount} د.ك، '
      'ويمكنك الاشتراك بها من جديد',
    'Your plan has new terms',
    'The plan “{nameEn}” as you bought it ends on {day} and is not renewed by itself, because its terms '
      'have changed. It is {amount} KWD now, and you can subscribe to it again'),
  ('plan_terms_changed', null,
    'باقتك لم تعد معروضة',
    'تنتهي باقة «{nameAr}» في {day} ولن تُجدَّد لأنها لم تعد معروضة. يمكنك اختيار باقة أخرى',
    'Your plan is no longer offered',
    'The plan “{nameEn}” ends on {day} and is not renewed, because it is no longer offered. You can '
      'choose another'),
  ('identity_verified', '$.change == true',
    'تم اعتماد تعديلاتك', 'تمت الموافقة على تعديل بيانات «{name}» وأصبحت ظاهرة للجميع',
    'Your changes are approved', 'The changes of “{name}” were approved and everybody sees them now'),
  ('identity_verified', null,
    'تم التوثيق', 'تم توثيق «{name}»، ويمكنك استخدام هذه الهوية من الآن',
    'Verified', '“{name}” is verified, you can act as it from now on'),
  ('identity_rejected', '$.change == true',
    'لم تُعتمد تعديلاتك', '«{name}»{because|}. بقيت بياناتها كما كانت',
    'Your changes were not approved', '“{name}”{because|}. It stays as it was'),
  ('identity_rejected', null,
    'تعذر التوثيق', 'لم يتم توثيق «{name}»{because|}. يمكنك تعديل البيانات وإرسالها من جديد',
    'Not verified', '“{name}” was not verified{because|}. You can change the details and send them again'),
  ('identity_suspended', null,
    'تم إيقاف هويتك',
    'أُوقفت «{name}»{because|}. لا يمكن استخدامها ولا تظهر إعلاناتها حتى يُرفع الإيقاف',
    'Your identity was suspended',
    '“{name}” was suspended{because|}. It cannot be used, and its listings are not shown, until that is '
      'lifted'),
  ('identity_restored', null,
    'رُفع الإيقاف عن هويتك', 'يمكنك استخدام «{name}» من جديد',
    'Your identity is back', 'You can act as “{name}” again'),
  ('licence_expiring', '$.days == 0',
    'ينتهي ترخيصك اليوم',
    'اليوم آخر يوم في ترخيص «{name}». أرسل التاريخ الجديد مع صورة الترخيص اليوم لتبقى ظاهرة',
    'Your licence ends today',
    'Today is the last day of the licence of “{name}”. Send the new date with its paper today to stay '
      'visible'),
  ('licence_expiring', null,
    'ترخيصك على وشك الانتهاء',
    'ينتهي ترخيص «{name}» خلال {days|يوم|يومين|أيام|يوماً}. أرسل التاريخ الجديد مع صورة الترخيص لتبقى ظاهرة',
    'Your licence is about to end',
    'The licence of “{name}” ends in {days|a day|days}. Send the new date with its paper to stay visible'),
  ('licence_expired', null,
    'انتهى ترخيصك',
    'انتهى ترخيص «{name}» فلم تعد ظاهرة هي وإعلاناتها ({count}). أرسل التاريخ الجديد مع صورة الترخيص لتعود',
    'Your licence has ended',
    'The licence of “{name}” has ended: it is not shown, nor are its listings ({count}). Send the new '
      'date with its paper and they come back'),
  ('deletion_requested', null,
    'طُلب حذف حسابك', 'طُلب حذف حسابك في {at}، فاختفى عن الآخرين. تسجيل الدخول خلال 14 يوماً يلغي الحذف',
    'The deletion of your account was requested',
    'It was requested on {at}, and nobody sees the account any more. A sign-in within 14 days cancels it'),
  ('deletion_cancelled', null,
    'أُلغي حذف حسابك', 'أُلغي في {at} طلب حذف حسابك وعاد كل شيء كما كان. إن لم تسجّل الدخول أنت، أعد تعيين '
      'كلمة المرور',
    'Your account stays',
    'The requested deletion was cancelled on {at}, and all is as it was. If that was not your sign-in, '
      'reset the password'),
  ('review_new', null,
    'تقييم جديد', 'وصلك تقييم من {name}: {rating|نجمة واحدة|نجمتان|نجوم|نجمة}',
    'New review', '{name} reviewed you: {rating|one star|stars}'),
  ('security_login', null,
    'تسجيل دخول جديد إلى حسابك',
    'تم تسجيل الدخول إلى حسابك في {at}. إن لم تكن أنت، غيّر كلمة المرور وسجّل الخروج من الأجهزة الأخرى',
    'New sign-in to your account',
    'Your account was signed in to on {at}. If that was not you, change your password and sign out of '
      'the other devices'),
  ('security_password', 'exists($.taken)',
    'أُلغيت كلمة مرور لم تُثبت',
    'أثبتّ بريدك عن طريق {provider} في {at}، فأُلغيت كلمة المرور التي وُضعت قبل ذلك. لتعيين كلمة مرور '
      'جديدة اختر «نسيت كلمة المرور»',
    'An unproven password was removed',
    'On {at} you proved your email with {provider}, so the password that was set before it no longer '
      'works. Choose “Forgot password” to set a new one'),
  ('security_password', 'exists($.refused)',
    'رُفضت محاولة لتغيير كلمة مرورك',
    'حاول أحد يعرف كلمة مرور حسابك تغييرها من خارج التطبيق في {at} فرُفض ذلك. إن لم تكن أنت، أعد '
      'تعيينها وسجّل الخروج من الأجهزة الأخرى',
    'An attempt to change your password was refused',
    'On {at} somebody who knows the password of your account tried to change it outside the app, which '
      'was refused. If that was not you, reset it and sign out of the other devices'),
  ('security_password', null,
    'تم تغيير كلمة مرور حسابك',
    'تم تغيير كلمة مرور حسابك في {at}. إن لم تكن أنت، أعد تعيينها وسجّل الخروج من الأجهزة الأخرى',
    'Your password was changed',
    'The password of your account was changed on {at}. If that was not you, reset it and sign out of '
      'the other devices'),
  ('security_provider', null,
    'ربط طريقة دخول جديدة بحسابك',
    'أصبح بالإمكان الدخول إلى حسابك عن طريق {provider} منذ {at}. إن لم تكن أنت، أعد تعيين كلمة المرور '
      'وراسل الدعم',
    'A new way to sign in to your account',
    'Since {at} your account can be signed in to with {provider}. If that was not you, reset your '
      'password and write to support'),
  ('security_contact', '$.act == "lost"',
    'أثبت شخص آخر أن بريد حسابك له',
    'لم يعد بريدك مسجلاً في هذا الحساب لأن صاحبه أثبته في حساب آخر. أضف رقم هاتف أو بريداً بكلمة المرور '
      'خلال 14 يوماً، وإلا حُذف هذا الحساب',
    'Somebody else has proven your email',
    'The email of this account was proven in another account and is no longer yours here. Add a phone '
      'or an email with your password within 14 days, or this account will be deleted'),
  ('security_contact', '$.act == "removal"',
    'حُذف {contactAr} من حسابك',
    'حُذف {contactAr} من حسابك في {at}. إن لم تكن أنت، أعد تعيين كلمة المرور الآن',
    'The {contactEn} was removed from your account',
    'The {contactEn} was removed from your account on {at}. If that was not you, reset your password '
      'now'),
  ('security_contact', '$.act == "undo"',
    'أُلغي تغيير {contactAr} في حسابك',
    'أُعيد تعيين كلمة المرور في {at}، فأُلغي ما تغيّر من {contactAr} قبل ذلك خلال 72 ساعة',
    'A change of your {contactEn} was undone',
    'Your password was reset on {at}, which undid what became of your {contactEn} in the 72 hours before'),
  ('security_contact', '$.act == "set"',
    'غيّرت الإدارة {contactAr} في حسابك',
    'غيّرت الإدارة {contactAr} في حسابك في {at} وأنهت كل الجلسات. لتعيين كلمة مرور جديدة اختر «نسيت كلمة '
      'المرور»',
    'An administrator set your {contactEn}',
    'An administrator set the {contactEn} of your account on {at} and ended all sessions. Choose “Forgot '
      'password” to set a new one'),
  ('security_contact', null,
    'تم تغيير {contactAr} في حسابك',
    'تم تغيير {contactAr} في حسابك في {at}. إن لم تكن أنت، أعد تعيين كلمة المرور الآن',
    'Your {contactEn} was changed',
    'The {contactEn} of your account was changed on {at}. If that was not you, reset your password now'),
  ('terms_new', null,
    'شروط وأحكام جديدة',
    'تسري شروط وأحكام جديدة من {requiredFrom}. يرجى قراءتها والموافقة عليها لتستمر في النشر والمراسلة',
    'New terms and conditions',
    'New terms and conditions apply from {requiredFrom}. Please read and accept them to go on publishing '
      'and writing to others'),
  ('system', null, '{titleAr}', '{bodyAr}', '{titleEn}', '{bodyEn}')
) as texts (kind, holds_for, title_ar, body_ar, title_en, body_en)
union all
select 'admin_event', 1000 + row_number() over (), holds_for::jsonpath,
  case when holds_for like '$.rule%' then 'أعمال كثيرة من مشرف واحد' else 'تغيير في حساب مشرف' end,
  '{name|مشرف}: ' || act_ar || '. إن لم تعرف السبب فراجع سجل الأعمال الآن',
  case when holds_for like '$.rule%' then 'One administrator has done much'
    else 'Something about an administrator' end,
  '{name|An administrator} ' || act_en || '. If you do not know why, look at the audit trail now'
from (values
  ('$.event == "admin.added"', 'أصبح مشرفاً', 'is an administrator now'),
  ('$.event == "admin.removed"', 'لم يعد مشرفاً', 'is no administrator any more'),
  ('$.event == "admin.changed"', 'تغيّرت صلاحياته', 'has other rights as an administrator'),
  ('$.event == "account.identifier"', 'غُيّر رقمه أو بريده', 'was given another phone or email'),
  ('$.event == "passkey.added"', 'أضاف مفتاح مرور', 'added a passkey'),
  ('$.event == "passkey.removed"', 'أُزيل مفتاح مرور من حسابه', 'has fewer passkeys'),
  ('$.event == "account.deleted" || $.status == "deleted"', 'حُذف حسابه', 'was deleted'),
  ('$.status == "suspended"', 'أُوقف حسابه', 'was suspended'),
  ('$.status == "banned"', 'حُظر حسابه', 'was banned'),
  ('$.event == "account.status"', 'أُعيد تفعيل حسابه', 'was let in again'),
  ('$.rule == "admin_deletions"', 'حذف حسابات كثيرة خلال يوم', 'deleted many accounts within a day'),
  ('$.rule == "admin_identifiers"',
    'غيّر أرقاماً وعناوين كثيرة خلال يوم', 'set many phones and emails within a day'),
  ('$.rule == "admin_locks"', 'أوقف حسابات كثيرة خلال يوم', 'suspended many accounts within a day'),
  ('$.rule == "admin_refunds"', 'استرد مبالغ كثيرة خلال يوم', 'refunded much within a day'),
  (null, 'تغيّر حسابه', 'has another account')
) as acts (holds_for, act_ar, act_en);

reset edits.by;
