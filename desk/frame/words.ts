// The two languages of the desk. Each room has a file of its own words, made by `wordsOf`.
import { effect, signal } from '@preact/signals'

export type Language = 'ar' | 'en'
export type Words = Record<string, Record<Language, string>>

const kept = (key: string) => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export const language = signal<Language>(kept('desk.language') === 'en' ? 'en' : 'ar')
export const theme = signal(kept('desk.theme') ?? 'auto')

effect(() => {
  const { documentElement: page } = document
  page.lang = language.value
  page.dir = language.value === 'ar' ? 'rtl' : 'ltr'
  page.dataset.theme = theme.value
  try {
    localStorage.setItem('desk.language', language.value)
    localStorage.setItem('desk.theme', theme.value)
  } catch {
    // Without a storage both hold until the page is closed.
  }
})

/** Isolates a text of either direction inside a sentence. */
export const isolated = (text: string) => `\u2068${text}\u2069`

/** Returns a function that gives a text of the room in the current language, with `{name}` filled in. */
export const wordsOf =
  <Texts extends Words>(texts: Texts) =>
  (key: keyof Texts & string, given: Record<string, string | number> = {}): string =>
    texts[key]![language.value].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name] ?? ''
      return typeof value === 'number' ? value.toLocaleString('en') : isolated(value)
    })

/** Of a record of the service with a text in each language. */
export const named = (record: { nameAr?: string | null; nameEn?: string | null } | undefined): string =>
  (language.value === 'ar' ? record?.nameAr : record?.nameEn) ?? record?.nameAr ?? ''

export const t = wordsOf({
  desk: { ar: 'مكتب الإدارة', en: 'Desk' },
  queue: { ar: 'الانتظار', en: 'Queue' },
  people: { ar: 'الأشخاص', en: 'People' },
  money: { ar: 'المال', en: 'Money' },
  figures: { ar: 'الأرقام', en: 'Figures' },
  settings: { ar: 'الإعدادات', en: 'Settings' },
  audit: { ar: 'السجل', en: 'Audit' },
  rooms: { ar: 'الأقسام', en: 'Rooms' },
  signIn: { ar: 'تسجيل الدخول', en: 'Sign in' },
  signOut: { ar: 'خروج', en: 'Sign out' },
  identifier: { ar: 'رقم الهاتف أو البريد', en: 'Phone or email' },
  password: { ar: 'كلمة المرور', en: 'Password' },
  newPassword: { ar: 'كلمة مرور جديدة', en: 'New password' },
  forgot: { ar: 'نسيت كلمة المرور', en: 'Forgot password' },
  code: { ar: 'الرمز', en: 'Code' },
  sendCode: { ar: 'أرسل الرمز', en: 'Send a code' },
  codeSent: { ar: 'أُرسل الرمز إن كان الحساب موجودا.', en: 'A code was sent, if the account exists.' },
  passwordSet: { ar: 'تم تغيير كلمة المرور. سجّل الدخول بها.', en: 'The password was changed. Sign in with it.' },
  back: { ar: 'رجوع', en: 'Back' },
  withGoogle: { ar: 'الدخول بحساب Google', en: 'Sign in with Google' },
  withApple: { ar: 'الدخول بحساب Apple', en: 'Sign in with Apple' },
  noRight: { ar: 'هذا الحساب ليس لمدير', en: 'This account is no administrator’s' },
  noRightMore: { ar: 'اطلب من مدير آخر أن يضيفك.', en: 'Ask another administrator to add you.' },
  wasIdle: { ar: 'انتهت الجلسة بعد 30 دقيقة بلا استخدام.', en: 'The session ended after 30 minutes without use.' },
  wasEnded: { ar: 'انتهت الجلسة.', en: 'The session has ended.' },
  idleTitle: { ar: 'هل ما زلت هنا؟', en: 'Are you still here?' },
  idleSoon: { ar: 'تنتهي الجلسة بعد {seconds} ثانية.', en: 'The session ends in {seconds} seconds.' },
  stay: { ar: 'نعم، تابع', en: 'Yes, go on' },
  offline: { ar: 'لا يوجد اتصال. يبقى ما كتبته كما هو.', en: 'No connection. What you typed stays.' },
  failed: { ar: 'تعذّر التحميل', en: 'This could not be loaded' },
  retry: { ar: 'أعد المحاولة', en: 'Try again' },
  unexpected: { ar: 'حدث خطأ غير متوقع.', en: 'Something unexpected went wrong.' },
  loading: { ar: 'جارٍ التحميل…', en: 'Loading…' },
  more: { ar: 'عرض المزيد', en: 'Show more' },
  nothing: { ar: 'لا شيء هنا', en: 'Nothing here' },
  undo: { ar: 'تراجع', en: 'Undo' },
  close: { ar: 'إغلاق', en: 'Close' },
  cancel: { ar: 'إلغاء', en: 'Cancel' },
  save: { ar: 'حفظ', en: 'Save' },
  copy: { ar: 'نسخ', en: 'Copy' },
  copied: { ar: 'نُسخ', en: 'Copied' },
  dark: { ar: 'ألوان: حسب الجهاز، فاتح، داكن', en: 'Colours: as the device, light, dark' },
  otherLanguage: { ar: 'English', en: 'العربية' },
  keys: { ar: 'المفاتيح', en: 'Keys' },
  keysOn: { ar: 'المفاتيح مفعّلة', en: 'Keys work' },
  keyMove: { ar: 'تحرّك في القائمة', en: 'Move in a list' },
  keyOpen: { ar: 'افتح', en: 'Open' },
  keyApprove: { ar: 'اقبل', en: 'Approve' },
  keyReject: { ar: 'ارفض', en: 'Reject' },
  keySearch: { ar: 'ابحث', en: 'Search' },
  keyHelp: { ar: 'هذه القائمة', en: 'This list' },
  keyClose: { ar: 'أغلق', en: 'Close' },
  keyGo: { ar: 'انتقل إلى قسم', en: 'Go to a room' },
  skip: { ar: 'إلى المحتوى', en: 'To the content' },
  choose: { ar: 'اختر', en: 'Select' },
  proofTitle: { ar: 'تأكيد أنك أنت', en: 'Prove that it is you' },
  proofWhy: {
    ar: 'هذا العمل يحتاج إلى تأكيد، ويبقى صالحا عشر دقائق.',
    en: 'This needs a proof, which lasts for ten minutes.',
  },
  proofPasskey: { ar: 'أكّد بمفتاح المرور', en: 'Prove by passkey' },
  proofPassword: { ar: 'أكّد بكلمة المرور', en: 'Prove by password' },
  proofCode: { ar: 'أكّد بالرمز', en: 'Prove by code' },
  proofSocial: { ar: 'أكّد بتسجيل الدخول الحديث', en: 'Prove by a recent sign-in' },
  proofAborted: { ar: 'لم يؤكد المتصفح مفتاح المرور.', en: 'The browser did not confirm the passkey.' },
  codeTo: { ar: 'أُرسل الرمز إلى {to}', en: 'The code was sent to {to}' },
  dinars: { ar: 'د.ك', en: 'KWD' },
})
