// Invoices with their payments and refunds.
import { newId, type Schemas } from 'kuwait-property-client'
import { type Act, api, Button, Choice, Copy, Field, language, money, Money, type Option, say } from '../frame/index.ts'
import { signal, State, Table, Time, Two, useActs, withProof, word } from '../frame/index.ts'
import { t } from './words.ts'

type Invoice = Schemas['Invoice']
const fils = (dinars: number) => Math.round(dinars * 1000)
const latin = (digits: string) =>
  digits.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660)).replace('٫', '.').trim()
const leftOf = ({ state, total, refunded }: Invoice) =>
  state === 'paid' || state === 'partially_refunded' ? (fils(total) - fils(refunded)) / 1000 : 0
/** Payments that arrived when the invoice was already paid. Each is refunded separately. */
const surplusOf = ({ payments }: Invoice) => payments.filter(({ state }) => state === 'surplus')

/**
 * The idempotency keys of refunds without a response, so that a retry, even from a new dialog, refunds once.
 */
const keys = new Map<string, string>()

function refund(invoice: Invoice, reload: () => void): Act {
  const surplus = surplusOf(invoice).map(({ id, amount }): Option => [id, t('surplus', { n: money(amount) })])
  const options: Option[] = leftOf(invoice) ? [['', t('ofInvoice')], ...surplus] : surplus
  const [amount, to, paymentId] = [signal(''), signal('wallet'), signal(options[0]![0])]
  const most = () => surplusOf(invoice).find(({ id }) => id === paymentId.value)?.amount ?? leftOf(invoice)
  const isReady = () => {
    const given = latin(amount.value)
    return given === '' || (/^\d+(\.\d{1,3})?$/.test(given) && Number(given) > 0 && Number(given) <= most())
  }
  const more = () => <>
    {surplus.length > 0 && <Choice label={t('ofPayment')} value={paymentId.value} options={options}
      onChoose={(id) => (paymentId.value = id)} />}
    <Choice label={t('to')} value={to.value} options={[['wallet', t('wallet')], ['source', t('source')]]}
      onChoose={(one) => (to.value = one)} />
    <Field label={t('amount')} value={amount} inputMode='decimal' dir='ltr' hint={t('left', { n: money(most()) })}
      error={isReady() ? undefined : t('tooMuch', { n: money(most()) })} />
  </>
  const send = async (reason: string) => {
    const given = latin(amount.value)
    const rest = { ...given && { amount: Number(given) }, ...paymentId.value && { paymentId: paymentId.value } }
    const body = { to: to.value as 'wallet' | 'source', reason, ...rest }
    const of = invoice.id + JSON.stringify(body)
    const idempotencyKey = keys.get(of) ?? newId()
    keys.set(of, idempotencyKey)
    const call = { path: { invoiceId: invoice.id }, body, idempotencyKey }
    const done = await withProof((options) => api.post('/admin/invoices/{invoiceId}/refund', { ...call, ...options }))
    keys.delete(of)
    say(t(done.refund.state, { n: money(done.refund.amount) }))
    reload()
  }
  const [title, about] = [t('refundOf', { number: invoice.number }), `${t('refundAbout')} ${t('ceiling')}`]
  return { title, about, reason: t('reason'), isFinal: true, isReady, more, send }
}

const Payment = ({ of: { provider, state, method, reference, amount } }: { of: Invoice['payments'][number] }) => <p>
  <State of={state} in='paymentState' /> <Money of={amount} />{' '}
  <small>{word('paymentProvider', provider)} {method} {reference && <Copy text={reference} />}</small>
</p>

export function Invoices({ of, reload }: { of: Invoice[]; reload: () => void }) {
  const { ask, dialog } = useActs()
  const button = (invoice: Invoice) => {
    const act = refund(invoice, reload)
    return <Button aria-label={act.title} onClick={() => ask(act)}>{t('refund')}</Button>
  }
  const lines = (invoice: Invoice) =>
    invoice.lines.map(({ titleAr, titleEn }) => language.value === 'ar' ? titleAr : titleEn).join(' · ')
  const back = ({ refunded }: Invoice) => refunded > 0 && <>{t('refunded')} <Money of={refunded} /></>
  return <>
    <Table label={t('invoices')} heads={[t('invoice'), t('total'), t('state'), t('payments'), t('refund')]} ends={[1]}
      rows={of.map((one) => [
        one.id,
        <Two top={<span class='number'>{one.number}</span>} under={lines(one)} />,
        <Two top={<Money of={one.total} />} under={back(one)} />,
        <Two top={<State of={one.state} in='invoiceState' />} under={<Time at={one.paidAt ?? one.issuedAt} />} />,
        <>
          {one.paidWith === 'wallet' && word('paidWith', 'wallet')}
          {one.payments.map((payment) => <Payment key={payment.id} of={payment} />)}
        </>,
        (leftOf(one) > 0 || surplusOf(one).length > 0) && button(one),
      ])} />
    {dialog}
  </>
}
