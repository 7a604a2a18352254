// Invoices of a person, money that waits to be paid out, and what payment providers reported.
import { signal, useSignal } from '@preact/signals'
import type { Input, Schemas } from 'kuwait-property-client'
import { Csv } from '../audit/csv.tsx'
import { api, withProof, word } from '../frame/api.ts'
import { money } from '../frame/format.ts'
import { Badge, Button, Choice, Copy, Field, List, Loaded, Money as Amount, Page, say, Time, useLoad, usePages } from '../frame/parts.tsx'
import { go, type Place } from '../frame/router.ts'
import { type Act, ActDialog } from '../people/act.tsx'
import { PeopleList, State } from '../people/find.tsx'
import { Invoices } from './invoices.tsx'
import { t } from './words.ts'

export default function Money({ id }: Place) {
  const isTab = id === 'payouts' || id === 'events'
  const shown = isTab ? id : 'invoices'
  return (
    <Page title={t('title')} actions={id === 'events' && <Csv name='payment-events' query={query()} />}>
      <nav class='tabs' aria-label={t('title')}>
        {(['invoices', 'payouts', 'events'] as const).map((one) => (
          <a key={one} href={`#/money/${one === 'invoices' ? '' : one}`} aria-current={one === shown ? 'page' : undefined}>{t(one)}</a>
        ))}
      </nav>
      {id === 'payouts' ? <Payouts /> : id === 'events' ? <Events /> : id ? <Person id={id} /> : <PeopleList open={(one) => `/money/${one}`} />}
    </Page>
  )
}

function Person({ id }: { id: string }) {
  const history = useLoad((signal) => api.get('/admin/users/{userId}/history', { path: { userId: id }, signal }), [id])
  return (
    <Loaded of={history}>
      {({ user, invoices }) => (
        <section class='card'>
          <h2><bdi>{user.fullName ?? user.phone ?? user.email}</bdi> <small><a href={`#/people/${id}`}>{t('person')}</a></small></h2>
          <Invoices of={invoices} reload={history.reload} />
        </section>
      )}
    </Loaded>
  )
}

function Payouts() {
  const open = useSignal<Act | undefined>(undefined)
  const items = usePages((cursor, signal) => api.get('/admin/moderation', { query: { kind: 'wallet_payout', cursor }, signal }))
  const decide = ({ id, payout }: Schemas['ModerationItem'], decision: 'paid_out' | 'written_off'): Act => {
    const title = t(decision === 'paid_out' ? 'paidOut' : 'writtenOff')
    return {
      title,
      about: `${money(payout!.amount)}. ${t(decision === 'paid_out' ? 'paidOutAbout' : 'writtenOffAbout')}`,
      isFinal: true,
      ...decision === 'paid_out' && { reason: t('note') },
      send: async (text) => {
        const body = { decision, ...decision === 'paid_out' ? { note: text } : { reason: text } }
        await withProof((options) => api.post('/admin/moderation/{id}/decide', { path: { id }, body, ...options }))
        say(t('decided', { what: `${title} ${money(payout!.amount)}` }))
        items.load.reload()
      },
    }
  }
  return (
    <>
      <List
        of={items}
        label={t('payouts')}
        empty={t('noPayouts')}
        render={(item) => (
          <>
            <span class='grow'>
              <b><bdi>{item.payout?.name ?? t('nobody')}</bdi></b>
              <small><bdi dir='ltr'>{item.payout?.phone} {item.payout?.email}</bdi> · <Time at={item.since} /></small>
            </span>
            <b><Amount of={item.payout?.amount} /></b>
            <Button main onClick={() => (open.value = decide(item, 'paid_out'))}>{t('paidOut')}</Button>
            <Button onClick={() => (open.value = decide(item, 'written_off'))}>{t('writtenOff')}</Button>
          </>
        )}
      />
      {open.value && <ActDialog act={open.value} onClose={() => (open.value = undefined)} />}
    </>
  )
}

type Filters = NonNullable<NonNullable<Input<'get', '/admin/payments/events'>[0]>['query']>
const filters = signal<Filters>({})
const number = signal('')
const query = (): Filters => ({ ...filters.value, ...number.value.trim() && { invoiceNumber: number.value.trim().toUpperCase() } })
const alarming = ['mismatch', 'unmatched'] as const
const outcomes = ['received', 'paid', 'failed', 'refunded', 'surplus', 'pending', 'repeated', ...alarming, 'ignored']

function Events() {
  const now = query()
  const events = usePages((cursor, signal) => api.get('/admin/payments/events', { query: { ...now, cursor }, signal }), [JSON.stringify(now)])
  const set = (more: Record<string, unknown>) => {
    filters.value = Object.fromEntries(Object.entries({ ...filters.value, ...more }).filter(([, value]) => value !== ''))
  }
  const choices = (vocabulary: string, codes: string[]) =>
    [['', t('any')], ...codes.map((code) => [code, word(vocabulary, code)])] as [string, string][]
  return (
    <>
      <div class='filters'>
        <Field label={t('number')} value={number} type='search' dir='ltr' />
        <Choice label={t('outcome')} value={now.outcome ?? ''} options={choices('paymentEventOutcome', outcomes)}
          onChoose={(outcome) => set({ outcome })} />
        <Choice label={t('provider')} value={now.provider ?? ''} options={choices('paymentProvider', ['tap', 'myfatoorah', 'sandbox'])}
          onChoose={(provider) => set({ provider })} />
        <Choice label={t('handled')} value={String(now.processed ?? '')} options={[['', t('any')], ['true', t('yes')], ['false', t('no')]]}
          onChoose={(one) => set({ processed: one && one === 'true' })} />
        {alarming.map((outcome) => (
          <Button key={outcome} onClick={() => set({ outcome })} aria-pressed={now.outcome === outcome}>
            {t('alarm', { outcome: word('paymentEventOutcome', outcome) })}
          </Button>
        ))}
      </div>
      <List of={events} label={t('events')} empty={t('noEvents')} render={(event) => <Event of={event} />} />
    </>
  )
}

function Event({ of: event }: { of: Schemas['PaymentEvent'] }) {
  const isAlarm = alarming.some((one) => one === event.outcome)
  const outcome = word('paymentEventOutcome', event.outcome)
  return (
    <>
      <span class='grow'>
        <b>{word('paymentEventKind', event.kind)} · {word('paymentProvider', event.provider)} {event.status && <bdi>({event.status})</bdi>}</b>
        <small>
          <bdi dir='ltr'>{event.invoiceNumber}</bdi> {event.invoiceState && <State of={event.invoiceState} in='invoiceState' />}
          {event.paymentId && <Copy text={event.paymentId} />}
        </small>
      </span>
      <span class='end'>
        <b class='number'>{event.currency === 'KWD' ? <Amount of={event.amount} /> : <>{event.amount} {event.currency}</>}</b>
        <br />
        <Badge tone={isAlarm ? 'bad' : 'calm'}>{isAlarm ? t('alarm', { outcome }) : outcome}</Badge> <small><Time at={event.receivedAt} /></small>
      </span>
    </>
  )
}
