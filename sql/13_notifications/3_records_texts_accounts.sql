-- What notifications about money, identities, reviews and sign-ins say.

-- Details: number, amount, to; nameAr, nameEn, days.
create function private.billing_texts(kind text, details jsonb) returns private.notification_text
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  number text := details ->> 'number';
  amount text := private.kwd_text((details ->> 'amount')::numeric);
  days bigint := details ->> 'days';
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
        case details ->> 'to' when 'wallet' then 'محفظتك' else 'وسيلة الدفع التي استخدمتها' end),
      'Refund',
      format('%s KWD of invoice %s went back to %s', amount, number,
        case details ->> 'to' when 'wallet' then 'your wallet' else 'your means of payment' end)]
    when 'plan_expiring' then array[
      'باقتك على وشك الانتهاء',
      format('تنتهي باقة «%s» خلال %s، جدّدها لتبقى مزاياها', details ->> 'nameAr',
        private.counted_ar(days, 'يوم', 'يومين', 'أيام', 'يوماً')),
      'Your plan is about to end',
      format('The plan “%s” ends in %s, renew it to keep what it gives',
        coalesce(details ->> 'nameEn', details ->> 'nameAr'),
        case when days = 1 then 'a day' else days || ' days' end)]
  end;
  return row(texts[1], texts[2], texts[3], texts[4])::private.notification_text;
end
$$;
comment on function private.billing_texts is 'Texts of invoices, refunds and plans.';

-- Details: act (of private.contact_changes, or lost), kind (phone, email or provider).
create function private.contact_texts(details jsonb, provider_ar text, at text) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  kind text := details ->> 'kind';
  what_ar text := case kind when 'phone' then 'رقم الهاتف' when 'email' then 'البريد الإلكتروني'
    else 'الدخول عن طريق ' || provider_ar end;
  what_en text := case kind when 'phone' then 'phone number' when 'email' then 'email'
    else 'sign-in with ' || initcap(details ->> 'provider') end;
begin
  return case details ->> 'act'
    when 'lost' then array[
      'أثبت شخص آخر أن بريد حسابك له',
      'لم يعد بريدك مسجلاً في هذا الحساب لأن صاحبه أثبته في حساب آخر. أضف رقم هاتف أو بريداً بكلمة المرور '
        'خلال 14 يوماً، وإلا حُذف هذا الحساب',
      'Somebody else has proven your email',
      'The email of this account was proven in another account and is no longer yours here. Add a phone '
        'or an email with your password within 14 days, or this account will be deleted']
    when 'removal' then array[
      format('حُذف %s من حسابك', what_ar),
      format('حُذف %s من حسابك في %s. إن لم تكن أنت، أعد تعيين كلمة المرور الآن', what_ar, at),
      format('The %s was removed from your account', what_en),
      format('The %s was removed from your account on %s. If that was not you, reset your password '
        'now', what_en, at)]
    when 'undo' then array[
      format('أُلغي تغيير %s في حسابك', what_ar),
      format('أُعيد تعيين كلمة المرور في %s، فأُلغي ما تغيّر من %s قبل ذلك خلال 72 ساعة', at, what_ar),
      format('A change of your %s was undone', what_en),
      format('Your password was reset on %s, which undid what became of your %s in the 72 hours '
        'before', at, what_en)]
    when 'set' then array[
      format('غيّرت الإدارة %s في حسابك', what_ar),
      format('غيّرت الإدارة %s في حسابك في %s وأنهت كل الجلسات. لتعيين كلمة مرور جديدة اختر «نسيت كلمة '
        'المرور»', what_ar, at),
      format('An administrator set your %s', what_en),
      format('An administrator set the %s of your account on %s and ended all sessions. Choose “Forgot '
        'password” to set a new one', what_en, at)]
    else array[
      format('تم تغيير %s في حسابك', what_ar),
      format('تم تغيير %s في حسابك في %s. إن لم تكن أنت، أعد تعيين كلمة المرور الآن', what_ar, at),
      format('Your %s was changed', what_en),
      format('The %s of your account was changed on %s. If that was not you, reset your password now',
        what_en, at)]
  end;
end
$$;
comment on function private.contact_texts is 'Texts of changed phones, emails and providers.';

-- Details: event, name, status; of a ceiling rule, total.
create function private.admin_event_texts(details jsonb) returns text[]
  language plpgsql
  immutable
  set search_path = ''
as $$
declare
  name_ar constant text := coalesce(details ->> 'name', 'مشرف');
  name_en constant text := coalesce(details ->> 'name', 'An administrator');
  act text[];
begin
  act := case
    when details ->> 'event' = 'admin.added' then array['أصبح مشرفاً', 'is an administrator now']
    when details ->> 'event' = 'admin.removed'
      then array['لم يعد مشرفاً', 'is no administrator any more']
    when details ->> 'event' = 'admin.changed'
      then array['تغيّرت صلاحياته', 'has other rights as an administrator']
    when details ->> 'event' = 'account.identifier'
      then array['غُيّر رقمه أو بريده', 'was given another phone or email']
    when details ->> 'event' = 'account.deleted' or details ->> 'status' = 'deleted'
      then array['حُذف حسابه', 'was deleted']
    when details ->> 'status' = 'suspended' then array['أُوقف حسابه', 'was suspended']
    when details ->> 'status' = 'banned' then array['حُظر حسابه', 'was banned']
    when details ->> 'event' = 'account.status' then array['أُعيد تفعيل حسابه', 'was let in again']
    when details ->> 'rule' = 'admin_deletions'
      then array['حذف حسابات كثيرة خلال يوم', 'deleted many accounts within a day']
    when details ->> 'rule' = 'admin_identifiers'
      then array['غيّر أرقاماً وعناوين كثيرة خلال يوم', 'set many phones and emails within a day']
    when details ->> 'rule' = 'admin_locks'
      then array['أوقف حسابات كثيرة خلال يوم', 'suspended many accounts within a day']
    when details ->> 'rule' = 'admin_refunds'
      then array['استرد مبالغ كثيرة خلال يوم', 'refunded much within a day']
    else array['تغيّر حسابه', 'has another account']
  end;
  return array[
    case when details ? 'rule' then 'أعمال كثيرة من مشرف واحد' else 'تغيير في حساب مشرف' end,
    format('%s: %s. إن لم تعرف السبب فراجع سجل الأعمال الآن', name_ar, act[1]),
    case when details ? 'rule' then 'One administrator has done much'
      else 'Something about an administrator' end,
    format('%s %s. If you do not know why, look at the audit trail now', name_en, act[2])];
end
$$;
comment on function private.admin_event_texts is
  'Texts of what every administrator is told of another.';

-- Details: name, reason, rating, at, provider, refused, taken, act, kind, requiredFrom; of
-- system the texts themselves.
create function private.account_texts(kind text, details jsonb) returns private.notification_text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  name text := details ->> 'name';
  reason text := details ->> 'reason';
  rating bigint := details ->> 'rating';
  provider_ar text := case details ->> 'provider'
    when 'google' then 'Google' when 'apple' then 'Apple' end;
  at text := to_char(coalesce((details ->> 'at')::timestamptz, now()) at time zone 'Asia/Kuwait',
    'YYYY/MM/DD HH24:MI');
  required_from text := replace(details ->> 'requiredFrom', '-', '/');
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
    when 'identity_suspended' then array[
      'تم إيقاف هويتك',
      format('أُوقفت «%s»%s. لا يمكن استخدامها ولا تظهر إعلاناتها حتى يُرفع الإيقاف', name,
        coalesce(': ' || reason, '')),
      'Your identity was suspended',
      format('“%s” was suspended%s. It cannot be used, and its listings are not shown, until that is '
        'lifted', name, coalesce(': ' || reason, ''))]
    when 'identity_restored' then array[
      'رُفع الإيقاف عن هويتك',
      format('يمكنك استخدام «%s» من جديد', name),
      'Your identity is back',
      format('You can act as “%s” again', name)]
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
    when 'security_password' then case when details ? 'taken' then array[
      'أُلغيت كلمة مرور لم تُثبت',
      format('أثبتّ بريدك عن طريق %s في %s، فأُلغيت كلمة المرور التي وُضعت قبل ذلك. لتعيين كلمة مرور '
        'جديدة اختر «نسيت كلمة المرور»', provider_ar, at),
      'An unproven password was removed',
      format('On %s you proved your email with %s, so the password that was set before it no longer '
        'works. Choose “Forgot password” to set a new one', at, initcap(details ->> 'provider'))]
      when details ? 'refused' then array[
      'رُفضت محاولة لتغيير كلمة مرورك',
      format('حاول أحد يعرف كلمة مرور حسابك تغييرها من خارج التطبيق في %s فرُفض ذلك. إن لم تكن أنت، أعد '
        'تعيينها وسجّل الخروج من الأجهزة الأخرى', at),
      'An attempt to change your password was refused',
      format('On %s somebody who knows the password of your account tried to change it outside the '
        'app, which was refused. If that was not you, reset it and sign out of the other devices',
        at)]
      else array[
      'تم تغيير كلمة مرور حسابك',
      format('تم تغيير كلمة مرور حسابك في %s. إن لم تكن أنت، أعد تعيينها وسجّل الخروج من الأجهزة '
        'الأخرى', at),
      'Your password was changed',
      format('The password of your account was changed on %s. If that was not you, reset it and '
        'sign out of the other devices', at)] end
    when 'security_provider' then array[
      'ربط طريقة دخول جديدة بحسابك',
      format('أصبح بالإمكان الدخول إلى حسابك عن طريق %s منذ %s. إن لم تكن أنت، أعد تعيين كلمة المرور '
        'وراسل الدعم', provider_ar, at),
      'A new way to sign in to your account',
      format('Since %s your account can be signed in to with %s. If that was not you, reset your '
        'password and write to support', at, initcap(details ->> 'provider'))]
    when 'security_contact' then private.contact_texts(details, provider_ar, at)
    when 'terms_new' then array[
      'شروط وأحكام جديدة',
      format('تسري شروط وأحكام جديدة من %s. يرجى قراءتها والموافقة عليها لتستمر في النشر والمراسلة',
        required_from),
      'New terms and conditions',
      format('New terms and conditions apply from %s. Please read and accept them to go on publishing '
        'and writing to others', required_from)]
    when 'admin_event' then private.admin_event_texts(details)
    when 'system' then array[
      details ->> 'titleAr', details ->> 'bodyAr', details ->> 'titleEn', details ->> 'bodyEn']
  end;
  return row(texts[1], texts[2], texts[3], texts[4])::private.notification_text;
end
$$;
comment on function private.account_texts is
  'Texts of what is about the account and its identities.';
