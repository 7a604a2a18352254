import type { OpenAPIHono } from '@hono/zod-openapi'
import { html, raw } from 'hono/html'
import type { ApiContext, ApiEnv } from '../../_shared/caller/context.ts'
import { backend } from '../../_shared/database/db.ts'
import { log } from '../../_shared/errors/log.ts'
import { env } from '../../_shared/settings/env.ts'
import { secret } from '../../_shared/settings/read-setting.ts'
import type { ChargeAnswer } from '../../payments/provider.ts'
import { signature } from '../../payments/sandbox.ts'
import { sendPage } from '../http/answers.ts'
import { problem } from '../http/problem.ts'

type Charge = ChargeAnswer & { title: string; returnUrl: string }

const style = raw(`
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; background: #eef2f5; color: #1d2733; display: grid;
  place-items: center; padding: 16px;
  font: 16px/1.7 "Noto Naskh Arabic", "Noto Sans Arabic", "Geeza Pro", Tahoma, sans-serif }
main { background: #fff; width: 100%; max-width: 430px; border-radius: 14px; overflow: hidden;
  box-shadow: 0 6px 24px #1d273322 }
header { background: #7a4b00; color: #fff; padding: 8px 20px; font-size: 14px }
section { padding: 20px } h1 { font-size: 20px; margin: 0 0 4px }
.amount { font-size: 34px; font-weight: bold; margin: 8px 0 16px }
.amount small { font-size: 18px; font-weight: normal }
button { width: 100%; padding: 12px; margin-top: 10px; border: 0; border-radius: 10px; cursor: pointer;
  font: inherit; font-weight: bold; background: #0b6b57; color: #fff }
button.fail { background: #fff; color: #a02b2b; border: 2px solid #a02b2b }
button.leave { background: #fff; color: #4c5a67; border: 2px solid #c6d0d8 }
label { display: block; margin-top: 14px; color: #4c5a67; font-size: 14px }
select { width: 100%; padding: 9px; margin-top: 4px; border: 1px solid #c6d0d8; border-radius: 10px;
  font: inherit; background: #fff }
.ref { color: #4c5a67; font-size: 13px; margin: 16px 0 0; overflow-wrap: anywhere }
.done { font-size: 18px; font-weight: bold; color: #0b6b57 } .bad { color: #a02b2b }`)

type Html = ReturnType<typeof html>

const shell = (title: string, inner: Html) =>
  html`<!doctype html>
<html lang="ar" dir="rtl">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}
</style>
</head>
<body>
<main>
<header>بيئة تجريبية: لا تُخصم أي مبالغ حقيقية</header>
<section>
${inner}
</section>
</main>
</body>
</html>
`

const callbacks: Record<string, string> = {
  once: 'مرة واحدة',
  twice: 'مرتين في الوقت نفسه',
  late: 'متأخراً خمس ثوانٍ',
  never: 'لا يرسل أبداً',
}

const form = html`<form method="post">
<label>إشعار المتجر بالنتيجة
<select name="callback">${
  Object.entries(callbacks).map(([value, name]) => html`<option value="${value}">${name}</option>`)
}</select></label>
<button name="outcome" value="pay">ادفع الآن</button>
<button name="outcome" value="fail" class="fail">فشل الدفع</button>
<button name="outcome" value="leave" class="leave">مغادرة دون دفع</button>
</form>`

const ended: Record<string, Html> = {
  paid: html`<p class="done">تم الدفع بنجاح.</p>`,
  failed: html`<p class="done bad">لم يكتمل الدفع.</p>`,
}

const checkout = ({ title, amount, ref, status }: Charge) =>
  shell(
    'الدفع التجريبي',
    html`<h1>إتمام الدفع</h1>
<p>${title}</p>
<p class="amount"><bdi dir="ltr">${amount}</bdi> <small>د.ك</small></p>
${ended[status] ?? form}
<p class="ref">مرجع العملية <bdi dir="ltr">${ref}</bdi></p>`,
  )

const pageHeaders = { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" }

async function sendCallback({ ref, status, amount, currency }: Charge, times: number) {
  const raw = JSON.stringify({
    id: `evt_${crypto.randomUUID()}`,
    type: 'charge',
    chargeId: ref,
    status,
    amount,
    currency,
  })
  const headers = {
    'content-type': 'application/json',
    'sandbox-signature': signature(secret('SANDBOX_SECRET')!, raw),
  }
  await Promise.all(
    Array.from({ length: times }, () =>
      fetch(`${env.apiUrl}/payments/webhook/sandbox`, {
        method: 'POST',
        headers,
        body: raw,
        signal: AbortSignal.timeout(8000),
      }).then((response) => response.body?.cancel(), (error) => {
        log('warn', { sandbox: ref, callback: (error as Error).name })
      })),
  )
}

async function submit(c: ApiContext, ref: string) {
  const given = new URLSearchParams((await c.req.text()).slice(0, 1000))
  const [outcome, callback] = [given.get('outcome') ?? '', given.get('callback') ?? 'once']
  const states: Record<string, string> = { pay: 'paid', fail: 'failed' }
  const charge = states[outcome]
    ? await backend<Charge | null>('sandbox_decide', { id: ref, state: states[outcome] })
    : await backend<Charge | null>('sandbox_look_up', { id: ref, reference: null })
  if (!charge) return problem(c, 'not_found')
  if (states[outcome] && callback !== 'never') {
    const work = () => sendCallback(charge, callback === 'twice' ? 2 : 1)
    if (callback === 'late') setTimeout(work, 5000)
    else await work()
  }
  // As with real providers, the return URL contains an id, but that does not prove the payment.
  const back = new URL(charge.returnUrl)
  back.searchParams.set('sandbox_id', ref)
  return new Response(null, { status: 303, headers: { ...c.get('headers'), Location: back.href } })
}

export function sandboxPages(app: OpenAPIHono<ApiEnv>) {
  app.get('/sandbox/done', (c) =>
    sendPage(
      c,
      shell('عدت إلى التطبيق', html`<h1>عدت إلى التطبيق</h1><p>يمكنك إغلاق هذه الصفحة.</p>`),
      pageHeaders,
    ))
  app.get('/sandbox/:ref', async (c) => {
    const charge = await backend<Charge | null>('sandbox_look_up', {
      id: c.req.param('ref'),
      reference: null,
    })
    return charge ? sendPage(c, checkout(charge), pageHeaders) : problem(c, 'not_found')
  })
  app.post('/sandbox/:ref', (c) => submit(c, c.req.param('ref')))
}
