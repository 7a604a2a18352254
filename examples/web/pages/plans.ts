// The provider's page opens beside the app (here the sandbox's page, with a button to pay). The app then
// asks the service for the outcome and never trusts that page.
import type { Schemas } from 'kuwait-property-client'
import type { Page } from '../main.ts'
import { client, me, returnUrl } from '../service.ts'
import { dayOf, dinars, html, number, press, say } from '../ui.ts'

const states: Record<Schemas['Invoice']['state'], string> = {
  open: 'غير مدفوعة', processing: 'قيد الدفع', failed: 'لم تُدفع', expired: 'انتهت', void: 'ملغاة',
  paid: 'مدفوعة', partially_refunded: 'استُرد جزء منها', refunded: 'مستردة',
}
const payable = ['open', 'failed', 'processing']

export const plansPage: Page = async (into, signal) => {
  const topUp = async () => await pay(await client.post('/wallet/topup', { body: { amount: 20 } }))
  const subscribe = (planId: string) => async () => {
    const { invoice } = await client.post('/plans/subscribe', { body: { planId, payWith: 'invoice' } })
    if (invoice) await pay(invoice)
  }

  async function draw() {
    const [{ plan, usage, subscription, next }, { items: plans }, wallet, { items: invoices }] = await Promise.all([
      client.get('/plans/current', { signal }),
      client.get('/plans', { signal }),
      client.get('/wallet', { signal }),
      client.get('/invoices', { query: { limit: 10 }, signal }),
    ])
    const { limit, used } = usage.activeListings
    const { type } = me()!.activeIdentity!
    into.replaceChildren(
      html`<h2>باقتك: ${plan.nameAr}</h2>`,
      html`<p>إعلاناتك ${used} من ${limit} ${subscription && `· حتى ${dayOf(subscription.endsAt)}`} ${next && `ثم ${next.plan.nameAr}`}</p>`,
      html`<div class="cards">${plans.filter((one) => one.audience === type && one.price > 0).map((one) =>
        html`<div class="card about"><h3>${one.nameAr}</h3>
          <strong>${dinars(one.price)}</strong> كل ${one.intervalDays} يوماً
          <p>عدد الإعلانات ${number(one.activeListings)}، ومدة كل منها ${one.listingDays} يوماً</p>
          <button @click=${press(subscribe(one.id))}>اشترك</button></div>`)}</div>`,
      html`<h2>المحفظة: ${dinars(wallet.available)}</h2>`,
      html`<button @click=${press(topUp)}>اشحن 20 د.ك</button>`,
      html`<h2>الفواتير</h2>`,
      html`<div class="list">${invoices.map((invoice) => html`<div class="row">
        <div class="about"><strong>${invoice.number}</strong><small>${dayOf(invoice.issuedAt)}</small></div>
        <div class="aside">${dinars(invoice.total)}<small class="${invoice.state}">${states[invoice.state]}</small></div>
        <button ${!payable.includes(invoice.state) && 'hidden'} @click=${press(() => pay(invoice))}>ادفع</button>
      </div>`)}</div>`,
    )
  }

  async function pay({ id }: { id: string }) {
    const body = { invoiceId: id, returnUrl }
    const { redirectUrl } = await client.post('/payments/charge', { body })
    // An app uses the system's browser sheet, and a return URL that opens the app.
    open(redirectUrl, '_blank')
    await draw()
    for (let attempt = 0; attempt < 300; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      const path = { invoiceId: id }
      const { state } = await client.get('/payments/status/{invoiceId}', { path, signal })
      if (state === 'processing') continue
      say(state === 'paid' ? 'تم الدفع، شكراً لك' : 'لم تتم عملية الدفع')
      return await draw()
    }
  }
  await draw()
}
