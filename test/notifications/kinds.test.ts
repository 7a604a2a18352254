import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { conversationBetween, postMessage } from '../support/conversations.ts'
import { notificationsOf, notify, serviceMessage, unreadCount } from '../support/notifications.ts'

let sara: Person

beforeEach(async () => {
  sara = await signUp('سارة المطيري')
})

/** Texts that depend on the details; push/acts.ts checks that the texts of all kinds are filled in. */
const examples: [kind: string, details: object, titleAr: string, bodyAr: string][] = [
  [
    'lead_new',
    { titleAr: 'شقة', way: 'call' },
    'طلب تواصل جديد',
    'أحد المهتمين طلب رقم هاتفك بخصوص «شقة»',
  ],
  [
    'favorite_price_drop',
    { titleAr: 'شقة', type: 'RENT', price: 600, before: 650.5 },
    'انخفض سعر عقار في مفضلتك',
    'انخفض سعر «شقة» من 650.500 د.ك / شهرياً إلى 600 د.ك / شهرياً',
  ],
  [
    'favorite_unavailable',
    { titleAr: 'شقة', status: 'rented' },
    'عقار في مفضلتك لم يعد متاحاً',
    'تم تأجير «شقة»',
  ],
  [
    'favorite_unavailable',
    { titleAr: 'شقة', status: 'active' },
    'عاد عقار في مفضلتك',
    'أُعيد عرض «شقة»',
  ],
  [
    'favorite_unavailable',
    { status: 'suspended' },
    'عقار في مفضلتك لم يعد متاحاً',
    'أحد العقارات التي حفظتها لم يعد معروضاً',
  ],
  [
    'listing_expiring',
    { titleAr: 'شقة', days: 2 },
    'إعلانك على وشك الانتهاء',
    'ينتهي عرض «شقة» خلال يومين، ويمكنك تجديده من الآن',
  ],
  [
    'listing_expired',
    { titleAr: 'شقة' },
    'انتهى عرض إعلانك',
    'انتهى عرض «شقة»، ويمكنك تجديده خلال 90 يوماً',
  ],
  [
    'listing_approved',
    { titleAr: 'شقة' },
    'تم نشر إعلانك',
    'تمت الموافقة على «شقة» وأصبح ظاهراً للجميع',
  ],
  [
    'listing_rejected',
    { titleAr: 'شقة', reason: 'الصور غير واضحة' },
    'لم تتم الموافقة على إعلانك',
    '«شقة»: الصور غير واضحة. يمكنك تعديله وإرساله من جديد',
  ],
  [
    'listing_rejected',
    { titleAr: 'شقة', change: true },
    'لم تُعتمد تعديلاتك',
    '«شقة». بقي إعلانك كما كان',
  ],
  [
    'listing_suspended',
    { titleAr: 'شقة', reason: 'الصور لعقار آخر' },
    'تم إيقاف إعلانك',
    '«شقة»: الصور لعقار آخر. لم يعد ظاهراً للآخرين',
  ],
  [
    'listing_restored',
    { titleAr: 'شقة', status: 'active' },
    'رُفع الإيقاف عن إعلانك',
    'أصبح «شقة» ظاهراً للجميع من جديد',
  ],
  [
    'listing_restored',
    { titleAr: 'شقة', status: 'paused' },
    'رُفع الإيقاف عن إعلانك',
    'عاد «شقة» إلى إعلاناتك متوقفاً، ويمكنك استئناف عرضه',
  ],
  [
    'listing_restored',
    { titleAr: 'شقة', status: 'draft' },
    'رُفع الإيقاف عن إعلانك',
    'عاد «شقة» إلى إعلاناتك كما كان',
  ],
  [
    'listings_hidden',
    { reason: 'plan', count: 12 },
    'إعلانات لم تعد معروضة',
    'أوقفنا عرض 12 إعلاناً لأن باقتك لا تتسع لها. تعود تلقائياً إذا اشتركت في باقة تتسع لها خلال 90 يوماً',
  ],
  [
    'listings_back',
    { reason: 'plan', count: 2 },
    'إعلاناتك عادت للعرض',
    'أعدنا عرض إعلانين بعد الاشتراك في الباقة',
  ],
  [
    'invoice_failed',
    { number: 'INV-1', amount: 12.5 },
    'لم تتم عملية الدفع',
    'تعذر دفع الفاتورة INV-1 بمبلغ 12.500 د.ك، يمكنك المحاولة مرة أخرى',
  ],
  [
    'refund',
    { number: 'INV-1', amount: 1250, to: 'wallet' },
    'تم استرداد مبلغ',
    'أعدنا 1,250.000 د.ك عن الفاتورة INV-1 إلى محفظتك',
  ],
  [
    'plan_expiring',
    { nameAr: 'بلس', day: '2026-12-04', amount: 5, renewsBy: 'wallet' },
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «بلس» في 2026/12/04، وتُجدَّد قبل ذلك من محفظتك مقابل 5.000 د.ك إن كان رصيدها كافياً',
  ],
  [
    'plan_expiring',
    { nameAr: 'بلس', day: '2026-12-04', amount: 5, renewsBy: 'invoice' },
    'باقتك على وشك الانتهاء',
    'تنتهي باقة «بلس» في 2026/12/04. ادفع فاتورة التجديد بمبلغ 5.000 د.ك لتبقى مزاياها',
  ],
  [
    'plan_terms_changed',
    { nameAr: 'بلس', day: '2026-12-04' },
    'باقتك لم تعد معروضة',
    'تنتهي باقة «بلس» في 2026/12/04 ولن تُجدَّد لأنها لم تعد معروضة. يمكنك اختيار باقة أخرى',
  ],
  [
    'identity_verified',
    { name: 'شركة الديرة' },
    'تم التوثيق',
    'تم توثيق «شركة الديرة»، ويمكنك استخدام هذه الهوية من الآن',
  ],
  [
    'identity_rejected',
    { name: 'شركة الديرة', reason: 'الترخيص غير واضح' },
    'تعذر التوثيق',
    'لم يتم توثيق «شركة الديرة»: الترخيص غير واضح. يمكنك تعديل البيانات وإرسالها من جديد',
  ],
  [
    'identity_suspended',
    { name: 'شركة الديرة', reason: 'بلاغات متكررة' },
    'تم إيقاف هويتك',
    'أُوقفت «شركة الديرة»: بلاغات متكررة. لا يمكن استخدامها ولا تظهر إعلاناتها حتى يُرفع الإيقاف',
  ],
  [
    'identity_restored',
    { name: 'شركة الديرة' },
    'رُفع الإيقاف عن هويتك',
    'يمكنك استخدام «شركة الديرة» من جديد',
  ],
  [
    'security_password',
    { taken: true, provider: 'google', at: '2026-11-21T18:05:00Z' },
    'أُلغيت كلمة مرور لم تُثبت',
    'أثبتّ بريدك عن طريق Google في 2026/11/21 21:05، فأُلغيت كلمة المرور التي وُضعت قبل ذلك. لتعيين ' +
    'كلمة مرور جديدة اختر «نسيت كلمة المرور»',
  ],
  [
    'security_password',
    { at: '2026-11-21T18:05:00Z' },
    'تم تغيير كلمة مرور حسابك',
    'تم تغيير كلمة مرور حسابك في 2026/11/21 21:05. إن لم تكن أنت، أعد تعيينها وسجّل الخروج من ' +
    'الأجهزة الأخرى',
  ],
  [
    'security_provider',
    { provider: 'google', at: '2026-11-21T18:05:00Z' },
    'ربط طريقة دخول جديدة بحسابك',
    'أصبح بالإمكان الدخول إلى حسابك عن طريق Google منذ 2026/11/21 21:05. إن لم تكن أنت، أعد تعيين ' +
    'كلمة المرور وراسل الدعم',
  ],
  [
    'security_contact',
    { act: 'change', kind: 'phone', at: '2026-11-21T18:05:00Z' },
    'تم تغيير رقم الهاتف في حسابك',
    'تم تغيير رقم الهاتف في حسابك في 2026/11/21 21:05. إن لم تكن أنت، أعد تعيين كلمة المرور الآن',
  ],
  [
    'security_contact',
    { act: 'removal', kind: 'provider', provider: 'google', at: '2026-11-21T18:05:00Z' },
    'حُذف الدخول عن طريق Google من حسابك',
    'حُذف الدخول عن طريق Google من حسابك في 2026/11/21 21:05. إن لم تكن أنت، أعد تعيين كلمة المرور ' +
    'الآن',
  ],
  [
    'security_contact',
    { act: 'undo', kind: 'email', at: '2026-11-21T18:05:00Z' },
    'أُلغي تغيير البريد الإلكتروني في حسابك',
    'أُعيد تعيين كلمة المرور في 2026/11/21 21:05، فأُلغي ما تغيّر من البريد الإلكتروني قبل ذلك خلال 72 ' +
    'ساعة',
  ],
  [
    'security_contact',
    { act: 'set', kind: 'phone', at: '2026-11-21T18:05:00Z' },
    'غيّرت الإدارة رقم الهاتف في حسابك',
    'غيّرت الإدارة رقم الهاتف في حسابك في 2026/11/21 21:05 وأنهت كل الجلسات. لتعيين كلمة مرور جديدة ' +
    'اختر «نسيت كلمة المرور»',
  ],
  [
    'security_contact',
    { act: 'lost', kind: 'email' },
    'أثبت شخص آخر أن بريد حسابك له',
    'لم يعد بريدك مسجلاً في هذا الحساب لأن صاحبه أثبته في حساب آخر. أضف رقم هاتف أو بريداً بكلمة المرور ' +
    'خلال 14 يوماً، وإلا حُذف هذا الحساب',
  ],
  ['review_new', { name: 'سالم', rating: 4 }, 'تقييم جديد', 'وصلك تقييم من سالم: 4 نجوم'],
  [
    'security_login',
    { at: '2026-11-21T18:05:00Z' },
    'تسجيل دخول جديد إلى حسابك',
    'تم تسجيل الدخول إلى حسابك في 2026/11/21 21:05. إن لم تكن أنت، غيّر كلمة المرور وسجّل الخروج ' +
    'من الأجهزة الأخرى',
  ],
  [
    'terms_new',
    { requiredFrom: '2026-12-20' },
    'شروط وأحكام جديدة',
    'تسري شروط وأحكام جديدة من 2026/12/20. يرجى قراءتها والموافقة عليها لتستمر في النشر والمراسلة',
  ],
  [
    'admin_event',
    { event: 'admin.added', name: 'نورة' },
    'تغيير في حساب مشرف',
    'نورة: أصبح مشرفاً. إن لم تعرف السبب فراجع سجل الأعمال الآن',
  ],
  [
    'admin_event',
    { event: 'passkey.added', name: 'نورة' },
    'تغيير في حساب مشرف',
    'نورة: أضاف مفتاح مرور. إن لم تعرف السبب فراجع سجل الأعمال الآن',
  ],
  [
    'admin_event',
    { rule: 'admin_deletions', total: 20 },
    'أعمال كثيرة من مشرف واحد',
    'مشرف: حذف حسابات كثيرة خلال يوم. إن لم تعرف السبب فراجع سجل الأعمال الآن',
  ],
  ['system', serviceMessage('صيانة'), 'صيانة', 'صيانة، كيف حالك؟'],
]

test('a notification says what happened in Arabic and English', async () => {
  for (const [kind, details, titleAr, bodyAr] of examples) {
    const entityId = randomUUID()
    await notify(sara, kind, details, { entityId })
    // Notifications of earlier acts are further down in the list.
    const one = (await notificationsOf(sara, kind)).find(({ data }) => data.entityId === entityId)
    expect(one).toMatchObject({ kind, titleAr, bodyAr, data: { entityId } })
    if ('at' in details) expect(Date.parse(one.createdAt)).toBe(Date.parse(String(details.at)))
    expect(one.titleEn).toMatch(/^[\x20-\x7e]+ ?/)
    expect(one.bodyEn).toMatch(/./)
  }
})

test('the last text of every kind holds whatever happened', async () => {
  const { rows } = await database().query(
    `select kinds.kind from private.notification_kinds as kinds
     where kinds.kind <> 'message_new' and (
       select texts.holds_for from private.notification_texts as texts
       where texts.kind = kinds.kind order by texts.position desc limit 1
     ) is not null or kinds.kind not in (select kind from private.notification_texts)`,
  )
  expect(rows).toEqual([{ kind: 'message_new' }])
})

test('events of one thing make one unread notification with a count; once read, a new one', async () => {
  const salem = await signUp()
  const id = await conversationBetween(salem, sara)
  const bodies: string[] = []
  for (let i = 1; i <= 12; i++) {
    await postMessage(salem, id, `رسالة ${i}`)
    await notify(sara, 'system', serviceMessage()) // puts another notification on top
    const all = await notificationsOf(sara, 'message_new')
    expect(all).toHaveLength(1)
    bodies.push(all[0].bodyAr)
  }
  expect(bodies.map((body) => body.replace(/:.*/, ''))).toEqual([
    'رسالة 1',
    'رسالتان جديدتان',
    ...[3, 4, 5, 6, 7, 8, 9, 10].map((n) => `${n} رسائل جديدة`),
    '11 رسالة جديدة',
    '12 رسالة جديدة',
  ])
  await postMessage(salem, id, 'الأخيرة')
  const [first] = await notificationsOf(sara) // the conversation's notification has moved to the top
  expect(first).toMatchObject({ kind: 'message_new', bodyAr: '13 رسالة جديدة: الأخيرة' })
  await sara.post(`/conversations/${id}/read`)
  await postMessage(salem, id, 'من جديد')
  expect(await notificationsOf(sara, 'message_new')).toMatchObject([
    { bodyAr: 'من جديد', readAt: null },
    { id: first.id, readAt: expect.any(String) },
  ])
})

test('fifty at once make one notification that says fifty', async () => {
  const listing = { entityId: randomUUID() }
  await Promise.all(
    Array.from({ length: 50 }, () => notify(sara, 'lead_new', { titleAr: 'شقة' }, listing)),
  )
  expect(await notificationsOf(sara)).toMatchObject([{ titleAr: '50 طلب تواصل جديداً' }])
  expect(await unreadCount(sara)).toBe(1)
})
