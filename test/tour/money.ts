import { newPerson } from './accounts.ts'
import { promote } from './admins.ts'
import { ask, type Json, must, show, step, url } from './guide.ts'
import { listing } from './world.ts'

const returnUrl = `${url}/functions/v1/api/sandbox/done`

async function payOnPage(address: string, callback: string) {
  const page = await (await fetch(address)).text()
  show(`page: ${/<h1>(.*)<\/h1>/.exec(page)?.[1]}, ${/dir="ltr">([\d.]+)</.exec(page)?.[1]} د.ك`)
  must(page.includes('dir="rtl"') && page.includes('ادفع الآن'), 'a page in Arabic was to come')
  const answer = await fetch(address, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ outcome: 'pay', callback }),
  })
  show(`paid; back to ${answer.headers.get('location')?.split('?')[0]}`)
  must(answer.headers.get('location')?.startsWith(returnUrl), 'the person was to come back')
}

export async function money() {
  const { body: health } = await ask('GET', '/health')
  if (health.payments !== 'sandbox') return show('payments are not the sandbox’s: left out here')
  const payer = { as: await newPerson('منيرة الرشيدي') }
  let topUp: Json
  let bought: Json

  await step(
    'Tops the wallet up on the sandbox’s page, which sends its callback twice',
    async () => {
      topUp = (await ask('POST', '/wallet/topup', { amount: 20 }, { ...payer, status: 201 })).body
      must(/^INV-\d{4}-\d{6}$/.test(topUp.number), 'the invoice was to have a number')
      const sent = { invoiceId: topUp.id, returnUrl }
      const { body } = await ask('POST', '/payments/charge', sent, payer)
      const again = await ask('POST', '/payments/charge', sent, payer)
      must(again.body.redirectUrl === body.redirectUrl, 'the charge was to be the same')
      await payOnPage(body.redirectUrl, 'twice')
      const { body: status } = await ask('GET', `/payments/status/${topUp.id}`, undefined, payer)
      must(status.state === 'paid', 'the invoice was to be paid')
      const { body: wallet } = await ask('GET', '/wallet', undefined, payer)
      must(wallet.available === 20, 'the wallet was to hold 20.000, once')
      await ask('POST', '/payments/webhook/sandbox', { id: 'evt', type: 'charge' }, { status: 401 })
    },
  )

  await step('Buys a plan from the wallet', async () => {
    const { body } = await ask('GET', '/plans', undefined, payer)
    const plus = body.items.find(({ code }: Json) => code === 'plus')
    const order = { planId: plus.id, payWith: 'wallet' }
    bought = (await ask('POST', '/plans/subscribe', order, { ...payer, status: 201 })).body.invoice
    await ask('POST', '/plans/subscribe', order, { ...payer, status: 409 })
    const { body: current } = await ask('GET', '/plans/current', undefined, payer)
    must(current.plan.activeListings === 10, 'ten listings were to be allowed')
    const { body: wallet } = await ask('GET', '/wallet', undefined, payer)
    must(wallet.available === 15, 'the wallet was to hold 15.000')
  })

  await step('Publishes ten listings; the eleventh is over the quota', async () => {
    const fields = listing({ type: 'RENT', price: 400, kind: 'floor' })
    for (let count = 0; count < 10; count++) {
      await ask('POST', '/properties', fields, { ...payer, status: 201 })
    }
    const { body } = await ask('POST', '/properties', fields, { ...payer, status: 402 })
    must(body.error.limit === 10 && body.error.used === 10, 'the answer should give limit and use')
  })

  await step(
    'An admin refunds the plan to the wallet, and the newest over the free quota pause',
    async () => {
      const admin = { as: await newPerson('مشرفة المالية') }
      const path = `/admin/invoices/${bought.id}/refund`
      const sent = { to: 'wallet', reason: 'طلب العميلة' }
      await ask('POST', path, sent, { ...admin, status: 403 })
      await promote(admin.as)
      const { body } = await ask('POST', path, sent, admin)
      must(body.invoice.state === 'refunded', 'the invoice was to be refunded')
      await ask('POST', path, sent, { ...admin, status: 409 })
      const { body: wallet } = await ask('GET', '/wallet', undefined, payer)
      must(wallet.available === 20, 'the wallet was to hold 20.000 again')
      const { body: current } = await ask('GET', '/plans/current', undefined, payer)
      const { limit, used } = current.usage.activeListings
      must(current.plan.code === 'free' && used <= limit, 'the free plan was to hold')
      const { body: entries } = await ask('GET', '/wallet/transactions', undefined, payer)
      const kinds = entries.items.map(({ kind }: Json) => kind).join()
      must(kinds === 'refund,purchase,topup', 'the ledger should list all three')
    },
  )

  await step('The receipt: a page in Arabic to print', async () => {
    const { body } = await ask('GET', `/invoices/${topUp.id}/receipt`, undefined, payer)
    const { html } = body
    must(
      html.includes(topUp.number) && html.includes('20.000'),
      'number and amount were to be on it',
    )
    must(html.includes('منيرة الرشيدي') && html.includes('dir="rtl"'), 'in Arabic, with who paid')
    const { body: again } = await ask('GET', `/invoices/${topUp.id}/receipt`, undefined, payer)
    must(again.html === html, 'it was to stay the same')
    await ask('GET', `/invoices/${topUp.id}/receipt`, undefined, { status: 401, as: {} })
  })
}
