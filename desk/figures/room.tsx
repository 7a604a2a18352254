// The figures of this moment and of each of the last days.
import type { Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { api, word } from '../frame/api.ts'
import { money, number } from '../frame/format.ts'
import { Loaded, Page, useLoad } from '../frame/parts.tsx'
import { go, type Place } from '../frame/router.ts'
import { Chart, type Series } from './chart.tsx'
import { t } from './words.ts'

type Stats = Schemas['AdminStats']

export default function Figures({ query }: Place) {
  const ranges = [7, 30, 90]
  const days = ranges.find((one) => String(one) === query.get('days')) ?? 30
  const stats = useLoad((signal) => api.get('/admin/stats', { query: { days }, signal }), [days])
  const button = (one: number) => (
    <button key={one} type='button' aria-pressed={one === days} onClick={() => go(`/figures?days=${one}`, true)}>
      {t('days', { n: one })}
    </button>
  )
  return (
    <Page title={t('title')} actions={<div class='row' role='group' aria-label={t('range')}>{ranges.map(button)}</div>}>
      <Loaded of={stats} rows={8}>{(value) => <><Now of={value} /><ByDay of={value.byDay} /></>}</Loaded>
    </Page>
  )
}

type Count = [name: ComponentChildren, count: number]
const states = (vocabulary: string, of: Record<string, number>, before = '') =>
  Object.entries(of).map(([code, count]): Count => [before + word(vocabulary, code), count])
const queue = (kind: string, count: number): Count => [
  <a href={`#/queue?kind=${kind}`}>{word('moderationKind', kind)}</a>,
  count,
]

function Now({ of: { waiting, users, newUsers, listings, identities } }: { of: Stats }) {
  const people: Count[] = [[t('newUsers'), newUsers], [t('toBeDeleted'), users.toBeDeleted]]
  const byType = Object.entries(identities.byType)
    .flatMap(([type, of]) => states('identityStatus', of, `${word('identityType', type)}: `))
  return (
    <section aria-label={t('now')} class='cards now'>
      <Counts
        title={t('waiting')}
        of={[
          queue('listing', waiting.listings),
          queue('changes', waiting.changes),
          queue('identity', waiting.identities),
          queue('report', waiting.reports),
          queue('wallet_payout', waiting.payouts),
        ]}
      />
      <Counts title={t('people')} all={users.total} of={[...states('accountStatus', users.byStatus), ...people]} />
      <Counts title={t('listings')} all={listings.total} of={states('listingStatus', listings.byStatus)} />
      <Counts title={t('identities')} all={identities.total} of={byType} />
    </section>
  )
}

const Counts = ({ title, all, of }: { title: string; all?: number; of: Count[] }) => (
  <div class='card'>
    <h2>{title} {all !== undefined && number(all)}</h2>
    <dl class='counts'>{of.map(([name, count], at) => <div key={at}><dt>{name}</dt><dd>{number(count)}</dd></div>)}</dl>
  </div>
)

type Day = Stats['byDay'][number]
function ByDay({ of }: { of: Day[] }) {
  const days = of.map(({ day }) => day)
  const series = (name: string, value: (one: Day) => number | null): Series => ({ name, of: of.map(value) })
  const types = (['SALE', 'RENT', 'EXCHANGE'] as const)
    .map((type) => series(word('listingType', type), ({ listings }) => listings[type]))
  const counted = (name: 'accounts' | 'messages' | 'leads') => (
    <Chart title={t(name)} days={days} series={[series(t('number'), (one) => one[name])]} />
  )
  const paid = (name: 'payments' | 'refunds') => (
    <Chart title={t(name)} days={days} show={money} series={[series(t('amount'), (one) => one[name].amount)]}
      more={[series(t('number'), (one) => one[name].number)]} />
  )
  return (
    <section aria-label={t('byDay')} class='cards charts'>
      {counted('accounts')}
      <Chart title={t('published')} days={days} series={types} />
      {counted('messages')}
      {counted('leads')}
      {paid('payments')}
      {paid('refunds')}
      <Chart title={t('reports')} days={days} series={[series(t('made'), ({ reports }) => reports.made)]}
        more={[series(t('decided'), ({ reports }) => reports.decided)]} />
      <Chart title={t('waited')} days={days} sums={false}
        series={[series(t('hours'), ({ reports }) => reports.medianHours)]} />
    </section>
  )
}
