// The payment provider's page opens in another tab (here the sandbox's, with a button to pay). The app then
// asks the service for the outcome; it never trusts that page.
import { Button, client, dayOf, dinars, Loaded, me, named, returnUrl, say, t, Title, useEffect, useLoad, useRef, word } from '../app.ts'

const payable = ['open', 'failed', 'processing']

export function Plans() {
  const page = useRef(new AbortController())
  useEffect(() => () => page.current.abort(), [])
  const loaded = useLoad((signal) => Promise.all([
    client.get('/plans/current', { signal }), client.get('/plans', { signal }), client.get('/wallet', { signal }),
    client.get('/invoices', { query: { limit: 10 }, signal }),
  ]))
  const topUp = async () => await pay(await client.post('/wallet/topup', { body: { amount: 20 } }))
  const subscribe = (planId: string) => async () => {
    const { invoice } = await client.post('/plans/subscribe', { body: { planId, payWith: 'invoice' } })
    if (invoice) await pay(invoice)
  }
  async function pay({ id: invoiceId }: { id: string }) {
    const { redirectUrl } = await client.post('/payments/charge', { body: { invoiceId, returnUrl } })
    // A mobile app would use an in-app browser, and a return URL that opens the app.
    open(redirectUrl, '_blank')
    loaded.reload()
    const { signal } = page.current
    for (let attempt = 0; attempt < 300 && !signal.aborted; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      const { state } = await client.get('/payments/status/{invoiceId}', { path: { invoiceId }, signal })
      if (state === 'processing') continue
      say(t(state === 'paid' ? 'paid' : 'notPaid'))
      return loaded.reload()
    }
  }
  return <>
    <Title text={t('plans')} />
    <Loaded of={loaded}>{([{ plan, usage, subscription, next }, { items: plans }, wallet, { items: invoices }]) => <>
      <section class='panel'><h2>{t('yourPlan', { name: named(plan) })}</h2>
        <p>{t('usage', usage.activeListings)} {subscription && t('until', { day: dayOf(subscription.endsAt) })}
          {next && t('then', { name: named(next.plan) })}</p></section>
      <div class='cards'>{plans.filter(({ audience, price }) => audience === me()?.type && price > 0).map((one) => <section class='panel' key={one.id}>
        <h2>{named(one)}</h2><p><strong>{dinars(one.price)}</strong> {t('every', { n: one.intervalDays })}</p>
        <p>{t('planListings', { n: one.activeListings, days: one.listingDays })}</p>
        <Button onClick={subscribe(one.id)}>{t('subscribe')}</Button></section>)}</div>
      <section class='panel'><h2>{t('wallet', { amount: dinars(wallet.available) })}</h2>
        <Button onClick={topUp}>{t('topUp', { amount: dinars(20) })}</Button></section>
      <h2>{t('invoices')}</h2>
      {!invoices.length && <p class='hint'>{t('noInvoices')}</p>}
      <div class='list'>{invoices.map((invoice) => <div class='row' key={invoice.id}>
        <div class='about'><strong>{invoice.number}</strong><p>{dayOf(invoice.issuedAt)}</p></div>
        <div class='aside'>{dinars(invoice.total)}<span class={`tag ${invoice.state}`}>{word('invoiceState', invoice.state)}</span></div>
        {payable.includes(invoice.state) && <Button second onClick={() => pay(invoice)}>{t('pay')}</Button>}</div>)}</div>
    </>}</Loaded>
  </>
}
