// The printable receipt in Arabic, rendered from the records of a payment and its refunds.
import { html, raw } from 'hono/html'
import type { Receipt } from './schemas.ts'

type Line = Receipt['lines'][number]

/** Groups the digits. The <bdi> element keeps their direction within Arabic text. */
const dinar = (amount: string) =>
  html`<bdi dir="ltr">${amount.replace(/\B(?=(\d{3})+(?!\d)(?=.*\.))/g, ',')}</bdi> د.ك`

// Kuwait is three hours ahead of UTC throughout the year.
const inKuwait = (at: string) =>
  new Date(Date.parse(at) + 3 * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')

const row = (name: string, value?: string | null) =>
  value ? html`<tr><th>${name}</th><td><bdi>${value}</bdi></td></tr>` : ''

const lineRow = ({ titleAr, quantity, unitPrice, amount }: Line) =>
  html`<tr><td>${titleAr}</td><td>${quantity}</td><td>${dinar(unitPrice)}</td><td>${
    dinar(amount)
  }</td></tr>`

const refundRow = ({ number, issuedAt, to, amount }: Receipt['refunds'][number]) =>
  html`<tr><td><bdi dir="ltr">${number}</bdi></td><td><bdi dir="ltr">${
    inKuwait(issuedAt)
  }</bdi></td><td>${to === 'wallet' ? 'المحفظة' : 'وسيلة الدفع'}</td><td>${dinar(amount)}</td></tr>`

const refundTable = (refunds: Receipt['refunds']) =>
  refunds.length
    ? html`<h2>المبالغ المستردة</h2>
<table class="lines">
<thead><tr><th>رقم مستند الاسترداد</th><th>التاريخ</th><th>أُعيد إلى</th><th>المبلغ</th></tr></thead>
<tbody>${refunds.map(refundRow)}</tbody>
</table>`
    : ''

const methods: Record<string, string> = { charge: 'دفع إلكتروني', wallet: 'رصيد المحفظة' }

const style = raw(`
@page { size: A4; margin: 18mm }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 720px; padding: 32px 24px; color: #1d2733; background: #fff;
  font: 15px/1.7 "Noto Naskh Arabic", "Noto Sans Arabic", "Geeza Pro", Tahoma, sans-serif }
header { display: flex; justify-content: space-between; gap: 24px; align-items: flex-start;
  border-bottom: 3px solid #0b6b57; padding-bottom: 16px }
h1 { margin: 0; font-size: 26px } h2 { font-size: 16px; margin: 28px 0 6px; color: #0b6b57 }
header p { margin: 0; color: #4c5a67; font-size: 14px }
.number { text-align: left } .number b { font-size: 18px; display: block }
.paid { display: inline-block; margin-top: 6px; padding: 0 14px; border-radius: 14px;
  background: #e2f4ee; color: #0b6b57; font-weight: bold }
table { width: 100%; border-collapse: collapse } .lines th { background: #f3f6f8 }
th, td { text-align: right; padding: 8px 10px; border-bottom: 1px solid #dde3e8; font-weight: normal }
.lines td:nth-child(n+2), .lines th:nth-child(n+2) { text-align: left; white-space: nowrap }
.details th { width: 34%; color: #4c5a67 }
.total td { font-size: 18px; font-weight: bold; border-bottom: 3px double #0b6b57 }
footer { margin-top: 32px; color: #4c5a67; font-size: 13px; border-top: 1px solid #dde3e8;
  padding-top: 12px }
@media print { body { padding: 0; max-width: none } }`)

export function receiptPage(receipt: Receipt) {
  const { seller, payment } = receipt
  return html`<!doctype html>
<html lang="ar" dir="rtl">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>إيصال ${receipt.number}</title>
<style>${style}
</style>
</head>
<body>
<header>
<div>
<h1>إيصال دفع</h1>
<p>${seller?.nameAr}</p>
<p>${seller?.addressAr}</p>
<span class="paid">مدفوع</span>
</div>
<div class="number"><p>رقم الفاتورة</p><b><bdi dir="ltr">${receipt.number}</bdi></b>
<p>تاريخ الدفع <bdi dir="ltr">${inKuwait(receipt.paidAt)}</bdi></p></div>
</header>
<h2>المدفوع عنه</h2>
<table class="lines">
<thead><tr><th>البيان</th><th>العدد</th><th>السعر</th><th>المبلغ</th></tr></thead>
<tbody>${receipt.lines.map(lineRow)}
<tr class="total"><td colspan="3">الإجمالي</td><td>${dinar(receipt.total)}</td></tr></tbody>
</table>
${refundTable(receipt.refunds)}
<h2>بيانات الدفع</h2>
<table class="details">
${row('الدافع', receipt.payer)}
${row('طريقة الدفع', methods[receipt.paidWith])}
${row('بوابة الدفع', payment?.provider)}
${row('وسيلة الدفع', payment?.method)}
${row('مرجع العملية', payment?.providerRef)}
${row('رقم الدفع', payment?.paymentId)}
${row('رقم التتبع', payment?.trackId)}
${row('الرقم المرجعي', payment?.referenceId)}
${row('رقم التفويض', payment?.authorizationId)}
${row('تاريخ الإصدار', inKuwait(receipt.issuedAt))}
</table>
<h2>البائع</h2>
<table class="details">
${row('الاسم', seller?.nameAr)}
${row('السجل التجاري', seller?.registrationNo)}
${row('العنوان', seller?.addressAr)}
${row('الهاتف', seller?.phone)}
${row('البريد الإلكتروني', seller?.email)}
</table>
<footer>الأوقات بتوقيت الكويت والمبالغ بالدينار الكويتي. يعاد المبلغ المسترد بوسيلة الدفع نفسها
أو إلى المحفظة.</footer>
</body>
</html>
`
}
