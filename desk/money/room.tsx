// Invoices of a person, money that waits to be paid out, and what payment providers reported.
import { signal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { Csv } from '../audit/csv.tsx'
import { api, withProof, word } from '../frame/api.ts'
import { money } from '../frame/format.ts'
import { Badge, Button, Copy, Field, List, Loaded, Money, Page, say, Time, useLoad, usePages } from '../frame/parts.tsx'
import type { Place } from '../frame/router.ts'
import { type Act, useActs } from '../people/act.tsx'
import { PeopleList } from '../people/find.tsx'
import { type Chosen, codes, Filters, State, Tabs, yesOrNo } from '../people/parts.tsx'
import { Invoices } from './invoices.tsx'
import { t } from './words.ts'

export default function MoneyRoom({ id }: Place) {
  const isTab = id === 'payouts' || id === 'events'
  return (
    <Page title={t('title')} actions={id === 'events' && <Csv name='payment-events' query={query()} />}>
      <Tabs
        label={t('title')}
        shown={isTab ? id : ''}
        of={[['', t('invoices')], ['payouts', t('payouts')], ['events', t('events')]]}
        room='money'
      />
      {id === 'payouts' && <Payouts />}
      {id === 'events' && <Events />}
      {id && !isTab && <Person id={id} />}
      {!id && <PeopleList open={(one) => `/money/${one}`} />}
    </Page>
  )
}

function Person({ id }: { id: string }) {
  const history = useLoad((signal) => api.get('/admin/users/{userId}/history', { path: { userId: id }, signal }), [id])
  return (
    <Loaded of={history}>
      {({ user, invoices }) => (
        <section class='card'>
          <h2 dir='auto'>{user.fullName ?? user.phone ?? user.email}</h2>
          <a href={`#/people/${id}`}>{t('person')}</a>
          <Invoices of={invoices} reload={history.reload} />
        </section>
      )}
    </Loaded>
  )
}

const wording = {
  paid_out: { title: 'paidOut', about: 'paidOutAbout', text: 'note' },
  written_off: { title: 'writtenOff', about: 'writtenOffAbout', text: 'reason' },
} as const
type Decision = keyof typeof wording

function Payouts() {
  const { ask, dialog } = useActs()
  const items = usePages((cursor, signal) =>
    api.get('/admin/moderation', { query: { kind: 'wallet_payout', cursor }, signal })
  )
  const act = ({ id, payout }: Schemas['ModerationItem'], decision: Decision): Act => {
    const { title, about, text: field } = wording[decision]
    const sum = money(payout?.amount ?? 0)
    return {
      title: t(title),
      about: `${sum}. ${t(about)}`,
      isFinal: true,
      ...field === 'note' && { reason: t('note') },
      send: async (text) => {
        const body = { decision, [field]: text }
        await withProof((options) => api.post('/admin/moderation/{id}/decide', { path: { id }, body, ...options }))
        say(t('decided', { what: `${t(title)} ${sum}` }))
        items.load.reload()
      },
    }
  }
  const render = (item: Schemas['ModerationItem']) => (
    <>
      <span class='grow'>
        <b dir='auto'>{item.payout?.name ?? t('nobody')}</b>
        <small>
          <bdi>{item.payout?.phone}</bdi> <bdi>{item.payout?.email}</bdi> · <Time at={item.since} />
        </small>
      </span>
      <Money of={item.payout?.amount} />
      <Button main onClick={() => ask(act(item, 'paid_out'))}>{t('paidOut')}</Button>
      <Button onClick={() => ask(act(item, 'written_off'))}>{t('writtenOff')}</Button>
    </>
  )
  return (
    <>
      <List of={items} label={t('payouts')} empty={t('noPayouts')} render={render} />
      {dialog}
    </>
  )
}

const filters = signal<Chosen>({})
const number = signal('')
const query = (): Chosen => {
  const invoiceNumber = number.value.trim().toUpperCase()
  return { ...filters.value, ...invoiceNumber && { invoiceNumber } }
}
const alarming = ['mismatch', 'unmatched']

function Events() {
  const events = usePages(
    (cursor, signal) => api.get('/admin/payments/events', { query: { ...query() as object, cursor }, signal }),
    [JSON.stringify(query())],
  )
  const outcomes = 'mismatch unmatched received paid failed refunded surplus pending repeated ignored'
  return (
    <>
      <div class='row'>
        {alarming.map((outcome) => (
          <Button
            key={outcome}
            onClick={() => (filters.value = { outcome })}
            aria-pressed={filters.value.outcome === outcome}
          >
            {t('alarm', { outcome: word('paymentEventOutcome', outcome) })}
          </Button>
        ))}
      </div>
      <Filters
        of={filters}
        all={[
          ['outcome', t('outcome'), codes('paymentEventOutcome', outcomes)],
          ['provider', t('provider'), codes('paymentProvider', 'tap myfatoorah sandbox')],
          ['kind', t('kind'), codes('paymentEventKind', 'payment refund look_up other')],
          ['processed', t('handled'), yesOrNo()],
        ]}
      >
        <Field label={t('number')} value={number} type='search' dir='ltr' />
      </Filters>
      <List of={events} label={t('events')} empty={t('noEvents')} render={(event) => <Event of={event} />} />
    </>
  )
}

function Event({ of: event }: { of: Schemas['PaymentEvent'] }) {
  const isAlarm = alarming.includes(event.outcome)
  const outcome = word('paymentEventOutcome', event.outcome)
  return (
    <>
      <span class='grow'>
        <b>
          {word('paymentEventKind', event.kind)} · {word('paymentProvider', event.provider)} <bdi>{event.status}</bdi>
        </b>
        <small>
          <bdi>{event.invoiceNumber}</bdi> {event.invoiceState && <State of={event.invoiceState} in='invoiceState' />}
          {' '}
          {event.paymentId && <Copy text={event.paymentId} />}
        </small>
      </span>
      <span class='end'>
        {event.currency === 'KWD' ? <Money of={event.amount} /> : <span>{event.amount} {event.currency}</span>}
        <small class='under'>
          <Badge tone={isAlarm ? 'bad' : 'calm'}>{isAlarm ? t('alarm', { outcome }) : outcome}</Badge>{' '}
          <Time at={event.receivedAt} />
        </small>
      </span>
    </>
  )
}
