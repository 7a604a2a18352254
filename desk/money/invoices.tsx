// Invoices with their payments, and what is given back of them.
import { signal, useSignal } from '@preact/signals'
import { newId, type Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { money } from '../frame/format.ts'
import { Button, Choice, Copy, Field, Money, say, Time } from '../frame/parts.tsx'
import { language } from '../frame/words.ts'
import { type Act, ActDialog } from '../people/act.tsx'
import { State } from '../people/find.tsx'
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
  const [amount, to, paymentId] = [signal(''), signal<'wallet' | 'source'>('wallet'), signal(leftOf(invoice) ? '' : surplusOf(invoice)[0]!.id)]
  const surplus = () => surplusOf(invoice).find(({ id }) => id === paymentId.value)
  const most = () => surplus()?.amount ?? leftOf(invoice)
  const given = () => latin(amount.value)
  const isRight = () => given() === '' || (/^\d+(\.\d{1,3})?$/.test(given()) && Number(given()) > 0 && Number(given()) <= most())
  return {
    title: t('refundOf', { number: invoice.number }),
    about: `${t('refundAbout')} ${t('ceiling')}`,
    isFinal: true,
    isReady: isRight,
    more: () => (
      <>
        {surplusOf(invoice).length > 0 && (
          <Choice
            label={t('ofPayment')}
            value={paymentId.value}
            options={[
              ...leftOf(invoice) ? [['', t('ofInvoice')] as [string, string]] : [],
              ...surplusOf(invoice).map(({ id, amount }): [string, string] => [id, t('surplus', { n: money(amount) })]),
            ]}
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

export function Invoices({ of, reload, shown }: { of: Invoice[]; reload: () => void; shown?: string }) {
  const open = useSignal<Act | undefined>(undefined)
  return (
    <div class='scroll'>
      <table>
        <thead>
          <tr>
            <th>{t('invoice')}</th><th class='end'>{t('total')}</th><th>{t('state')}</th><th>{t('payments')}</th><th>{t('refund')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map((invoice) => (
            <tr key={invoice.id} aria-current={invoice.number === shown ? 'true' : undefined}>
              <td>
                <bdi dir='ltr'>{invoice.number}</bdi>
                <br />
                <small>{invoice.lines.map(({ titleAr, titleEn }) => language.value === 'ar' ? titleAr : titleEn).join('، ')}</small>
              </td>
              <td class='end'>
                <Money of={invoice.total} />
                {invoice.refunded > 0 && <><br /><small>{t('refunded')} <Money of={invoice.refunded} /></small></>}
              </td>
              <td><State of={invoice.state} in='invoiceState' /><br /><small><Time at={invoice.paidAt ?? invoice.issuedAt} /></small></td>
              <td>
                {invoice.paidWith === 'wallet' && word('paidWith', 'wallet')}
                {invoice.payments.map(({ id, provider, state, method, reference, amount }) => (
                  <p key={id}>
                    <State of={state} in='paymentState' /> <Money of={amount} />{' '}
                    <small>{word('paymentProvider', provider)} {method} {reference && <Copy text={reference} />}</small>
                  </p>
                ))}
              </td>
              <td>
                {(leftOf(invoice) > 0 || surplusOf(invoice).length > 0) && (
                  <Button onClick={() => (open.value = refund(invoice, reload))} aria-label={t('refundOf', { number: invoice.number })}>
                    {t('refund')}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {open.value && <ActDialog act={open.value} onClose={() => (open.value = undefined)} />}
    </div>
  )
}
