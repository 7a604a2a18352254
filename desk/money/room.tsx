// The invoices of a person, pending payouts, and events from payment providers.
import { Csv } from '../audit/csv.tsx'
import { type Act, api, Button, type Chosen, codes, Copy, Field, Filters, List, Loaded, money } from '../frame/index.ts'
import { Money, Page, say, type Schemas, signal, State, Tabs, Time, useActs, useLoad } from '../frame/index.ts'
import { usePages, word, yesOrNo } from '../frame/index.ts'
import type { Place } from '../frame/router.ts'
import { PeopleList } from '../people/room.tsx'
import { decideNow } from '../queue/store.ts'
import { Invoices } from './invoices.tsx'
import { t } from './words.ts'

export default function MoneyRoom({ id }: Place) {
  const shown = id === 'payouts' || id === 'events' ? id : ''
  return <Page title={t('title')} actions={shown === 'events' && <Csv name='payment-events' query={query()} />}>
    <Tabs label={t('title')} room='money' shown={shown}
      of={[['', t('invoices')], ['payouts', t('payouts')], ['events', t('events')]]} />
    {shown === 'payouts' && <Payouts />}
    {shown === 'events' && <Events />}
    {shown === '' && (id ? <Person id={id} /> : <PeopleList open={(one) => `/money/${one}`} />)}
  </Page>
}

function Person({ id }: { id: string }) {
  const history = useLoad((signal) => api.get('/admin/users/{userId}/history', { path: { userId: id }, signal }), [id])
  return <Loaded of={history}>
    {({ user, invoices }) => <section class='card'>
      <h2>{user.fullName ?? user.phone ?? user.email}</h2>
      <a href={`#/people/${id}`}>{t('person')}</a>
      <Invoices of={invoices} reload={history.reload} />
    </section>}
  </Loaded>
}

type Item = Schemas['ModerationItem']

function Payouts() {
  const { ask, dialog } = useActs()
  const kind = 'wallet_payout'
  const items = usePages({ kind } as const, (query, signal) => api.get('/admin/moderation', { query, signal }))
  const act = ({ id, payout }: Item, decision: 'paid_out' | 'written_off'): Act => {
    const title = t(decision)
    const sum = money(payout?.amount ?? 0)
    const isPaid = decision === 'paid_out'
    const send = async (text: string) => {
      await decideNow(id, { decision, [isPaid ? 'note' : 'reason']: text })
      say(t('decided', { what: `${title} ${sum}` }))
      items.load.reload()
    }
    return { title, about: `${sum}. ${t(`${decision}About`)}`, isFinal: true, send, ...isPaid && { reason: t('note') } }
  }
  const render = (item: Item) => <>
    <span class='grow'>
      <b><bdi>{item.payout?.name ?? t('nobody')}</bdi></b>
      <small><bdi>{item.payout?.phone}</bdi> <bdi>{item.payout?.email}</bdi> · <Time at={item.since} /></small>
    </span>
    <Money of={item.payout?.amount} />
    <Button main onClick={() => ask(act(item, 'paid_out'))}>{t('paid_out')}</Button>
    <Button onClick={() => ask(act(item, 'written_off'))}>{t('written_off')}</Button>
  </>
  return <><List of={items} label={t('payouts')} empty={t('noPayouts')} render={render} />{dialog}</>
}

const filters = signal<Chosen>({})
const number = signal('')
const query = (): Chosen => {
  const invoiceNumber = number.value.trim().toUpperCase()
  return { ...filters.value, ...invoiceNumber && { invoiceNumber } }
}

function Events() {
  const events = usePages(query() as object, (query, signal) => api.get('/admin/payments/events', { query, signal }))
  const outcomes = 'mismatch unmatched received paid failed refunded surplus pending repeated ignored'
  const button = (outcome: string) =>
    <Button key={outcome} aria-pressed={filters.value.outcome === outcome}
      onClick={() => (filters.value = { outcome })}>
      {t('alarm', { outcome: word('paymentEventOutcome', outcome) })}
    </Button>
  return <>
    <div class='row'>{['mismatch', 'unmatched'].map(button)}</div>
    <Filters of={filters} all={[
      ['outcome', t('outcome'), codes('paymentEventOutcome', outcomes)],
      ['provider', t('provider'), codes('paymentProvider', 'tap myfatoorah sandbox')],
      ['kind', t('kind'), codes('paymentEventKind', 'payment refund look_up other')],
      ['processed', t('handled'), yesOrNo()],
    ]}>
      <Field label={t('number')} value={number} type='search' dir='ltr' />
    </Filters>
    <List of={events} label={t('events')} empty={t('noEvents')} render={(event) => <Event of={event} />} />
  </>
}

const Event = ({ of: event }: { of: Schemas['PaymentEvent'] }) => <>
  <span class='grow'>
    <b>{word('paymentEventKind', event.kind)} · {word('paymentProvider', event.provider)}</b>
    <small>
      <bdi>{event.status}</bdi> <bdi>{event.invoiceNumber}</bdi>{' '}
      {event.invoiceState && <State of={event.invoiceState} in='invoiceState' />}{' '}
      {event.paymentId && <Copy text={event.paymentId} />}
    </small>
  </span>
  <span class='end'>
    {event.currency === 'KWD' ? <Money of={event.amount} /> : <span>{event.amount} {event.currency}</span>}
    <small class='under'>
      <State of={event.outcome} in='paymentEventOutcome' /> <Time at={event.receivedAt} />
    </small>
  </span>
</>
