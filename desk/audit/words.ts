import { type Words, wordsOf } from '../frame/words.ts'

export const t = wordsOf({
  title: { ar: 'سجل الأعمال', en: 'Audit trail' },
  who: { ar: 'المدير', en: 'Administrator' },
  what: { ar: 'العمل', en: 'Act' },
  targetId: { ar: 'رقم المعرّف', en: 'Id of what it was done to' },
  from: { ar: 'من يوم', en: 'From day' },
  to: { ar: 'إلى يوم', en: 'To day' },
  oldest: { ar: 'الأقدم أولا', en: 'Oldest first' },
  newest: { ar: 'الأحدث أولا', en: 'Newest first' },
  order: { ar: 'الترتيب', en: 'Order' },
  badId: { ar: 'المعرّف 36 حرفا ورقما.', en: 'An id has 36 letters and digits.' },
  none: { ar: 'لا شيء بهذه الشروط.', en: 'Nothing was done that fits.' },
  said: { ar: '{name} (كما كُتب، بلا إثبات)', en: '{name} (as typed, not proven)' },
  by: { ar: 'قاعدة البيانات: {role}', en: 'Database: {role}' },
  service: { ar: 'الخدمة نفسها', en: 'The service itself' },
  change: { ar: '{name}: {before} ← {after}', en: '{name}: {before} → {after}' },
  value: { ar: '{name}: {after}', en: '{name}: {after}' },
  csv: { ar: 'حفظ CSV', en: 'Save CSV' },
  csvMore: {
    ar: 'حتى 10,000 صف. يُسجل الحفظ بشروطه، ويحتاج إلى تأكيد إن كان فيه أشخاص.',
    en: 'Up to 10,000 rows. It is kept in the audit trail with its filters, and needs a proof where people are in it.',
  },
  csvSaved: { ar: 'حُفظ الملف.', en: 'The file was saved.' },
})

const acts = {
  'account.status': { ar: 'حالة الحساب', en: 'Account: status' },
  'account.identifier': { ar: 'تعيين رقم أو بريد', en: 'Account: phone or email set' },
  'account.deleted': { ar: 'حذف الحساب', en: 'Account: deleted' },
  'account.payout': { ar: 'دفع رصيد الحساب', en: 'Account: money paid out' },
  'admin.changed': { ar: 'تغيّر المديرون', en: 'Administrators: changed' },
  'document.read': { ar: 'فتح مستند', en: 'Document: read' },
  'duplicate.state': { ar: 'قرار في إعلان مكرر', en: 'Duplicate: decided' },
  'identity.status': { ar: 'حالة الهوية', en: 'Identity: status' },
  'invoice.refund': { ar: 'رد مبلغ فاتورة', en: 'Invoice: refunded' },
  'list.exported': { ar: 'حفظ قائمة في ملف', en: 'List: saved as a file' },
  'message.hidden': { ar: 'إخفاء رسالة', en: 'Message: hidden' },
  'message.shown': { ar: 'إظهار رسالة', en: 'Message: shown again' },
  'note.added': { ar: 'ملاحظة', en: 'Note: added' },
  'passkey.added': { ar: 'إضافة مفتاح مرور', en: 'Passkey: added' },
  'passkey.removed': { ar: 'إزالة مفتاح مرور', en: 'Passkey: removed' },
  'payout.paid_out': { ar: 'دفع رصيد', en: 'Payout: paid' },
  'payout.written_off': { ar: 'شطب رصيد', en: 'Payout: written off' },
  'plan.changed': { ar: 'تغيير باقة', en: 'Plan: changed' },
  'property.approve': { ar: 'قبول إعلان', en: 'Listing: approved' },
  'property.reject': { ar: 'رفض إعلان', en: 'Listing: rejected' },
  'property.restore': { ar: 'إعادة إعلان', en: 'Listing: restored' },
  'property.status': { ar: 'حالة إعلان', en: 'Listing: status' },
  'property.suspend': { ar: 'إيقاف إعلان', en: 'Listing: suspended' },
  'report.status': { ar: 'قرار في بلاغ', en: 'Report: decided' },
  'review.hidden': { ar: 'إخفاء تقييم أو إظهاره', en: 'Review: hidden or shown' },
  'setting.changed': { ar: 'تغيير إعداد', en: 'Setting: changed' },
} satisfies Words
const actText = wordsOf(acts)

export const actCodes = Object.keys(acts) as (keyof typeof acts)[]
/** What an act is called; its code where a later one has no words here. */
export const actOf = (code: string) => code in acts ? actText(code as keyof typeof acts) : code
