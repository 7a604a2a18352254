// Invoices with their payments, and what is given back of them.
import { signal } from '@preact/signals'
import { newId, type Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { money } from '../frame/format.ts'
import { Button, Choice, Copy, Field, Money, say, Time } from '../frame/parts.tsx'
import { language } from '../frame/words.ts'
import { type Act, useActs } from '../people/act.tsx'
import { type Option, State, Table, Two } from '../people/parts.tsx'
import { t } from './words.ts'

type Invoice = Schemas['Invoice']
const fils = (dinars: number) => Math.round(dinars * 1000)
const latin = (digits: string) =>
  digits.replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660)).replace('٫', '.').trim()

/** What is left to be given back: of the invoice, or of a payment that came after it was paid. */
const leftOf = ({ state, total, refunded }: Invoice) =>
  state === 'paid' || state === 'partially_refunded' ? (fils(total) - fils(refunded)) / 1000 : 0
const surplusOf = ({ payments }: Invoice) => payments.filter(({ state }) => state === 'surplus')

/** The keys of refunds whose answers have not come: sent again, also by a new dialog, they are done once. */
const keys = new Map<string, string>()

function refund(invoice: Invoice, reload: () => void): Act {
  const surplus = surplusOf(invoice).map(({ id, amount }): Option => [id, t('surplus', { n: money(amount) })])
  const options: Option[] = leftOf(invoice) ? [['', t('ofInvoice')], ...surplus] : surplus
  const [amount, to, paymentId] = [signal(''), signal<'wallet' | 'source'>('wallet'), signal(options[0]![0])]
  const most = () => surplusOf(invoice).find(({ id }) => id === paymentId.value)?.amount ?? leftOf(invoice)
  const given = () => latin(amount.value)
  const isAmount = (text: string) => /^\d+(\.\d{1,3})?$/.test(text) && Number(text) > 0 && Number(text) <= most()
  const isRight = () => given() === '' || isAmount(given())
  return {
    title: t('refundOf', { number: invoice.number }),
    about: `${t('refundAbout')} ${t('ceiling')}`,
    isFinal: true,
    isReady: isRight,
    more: () => (
      <>
        {surplus.length > 0 && (
          <Choice
            label={t('ofPayment')}
            value={paymentId.value}
            options={options}
            onChoose={(id) => (paymentId.value = id)}
          />
        )}
        <Choice
          label={t('to')}
          value={to.value}
          options={[['wallet', t('wallet')], ['source', t('source')]]}
          onChoose={(one) => (to.value = one as 'wallet' | 'source')}
        />
        <Field
          label={t('amount')}
          value={amount}
          inputMode='decimal'
          dir='ltr'
          hint={t('left', { n: money(most()) })}
          error={isRight() ? undefined : t('tooMuch', { n: money(most()) })}
        />
      </>
    ),
    send: async (reason) => {
      const body = {
        to: to.value,
        reason,
        ...given() && { amount: Number(given()) },
        ...paymentId.value && { paymentId: paymentId.value },
      }
      const of = invoice.id + JSON.stringify(body)
      const idempotencyKey = keys.get(of) ?? newId()
      keys.set(of, idempotencyKey)
      const path = { invoiceId: invoice.id }
      const done = await withProof((options) =>
        api.post('/admin/invoices/{invoiceId}/refund', { path, body, idempotencyKey, ...options })
      )
      keys.delete(of)
      const texts = { settled: 'settled', requested: 'requested', rejected: 'refused' } as const
      say(t(texts[done.refund.state], { n: money(done.refund.amount) }))
      reload()
    },
  }
}

export function Invoices({ of, reload }: { of: Invoice[]; reload: () => void }) {
  const { ask, dialog } = useActs()
  return (
    <>
      <Table
        label={t('invoices')}
        heads={[t('invoice'), t('total'), t('state'), t('payments'), t('refund')]}
        ends={[1]}
        rows={of.map((invoice) => [
          invoice.id,
          <Two
            top={<span class='number'>{invoice.number}</span>}
            under={invoice.lines.map((line) => language.value === 'ar' ? line.titleAr : line.titleEn).join('، ')}
          />,
          <Two
            top={<Money of={invoice.total} />}
            under={invoice.refunded > 0 && (
              <>
                {t('refunded')} <Money of={invoice.refunded} />
              </>
            )}
          />,
          <Two
            top={<State of={invoice.state} in='invoiceState' />}
            under={<Time at={invoice.paidAt ?? invoice.issuedAt} />}
          />,
          <>
            {invoice.paidWith === 'wallet' && word('paidWith', 'wallet')}
            {invoice.payments.map(({ id, provider, state, method, reference, amount }) => (
              <p key={id}>
                <State of={state} in='paymentState' /> <Money of={amount} />{' '}
                <small>{word('paymentProvider', provider)} {method} {reference && <Copy text={reference} />}</small>
              </p>
            ))}
          </>,
          (leftOf(invoice) > 0 || surplusOf(invoice).length > 0) && (
            <Button
              aria-label={t('refundOf', { number: invoice.number })}
              onClick={() => ask(refund(invoice, reload))}
            >
              {t('refund')}
            </Button>
          ),
        ])}
      />
      {dialog}
    </>
  )
}
