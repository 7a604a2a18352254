// The figures of this moment and of each of the last days.
import type { Schemas } from 'kuwait-property-client'
import { api, word } from '../frame/api.ts'
import { money, number } from '../frame/format.ts'
import { Loaded, Page, useLoad } from '../frame/parts.tsx'
import { go, type Place } from '../frame/router.ts'
import { Chart, type Series } from './chart.tsx'
import { t } from './words.ts'

type Stats = Schemas['AdminStats']
const ranges = [7, 30, 90]

export default function Figures({ query }: Place) {
  const days = ranges.find((one) => String(one) === query.get('days')) ?? 30
  const stats = useLoad((signal) => api.get('/admin/stats', { query: { days }, signal }), [days])
  const choice = (
    <div class='row' role='group' aria-label={t('range')}>
      {ranges.map((one) => (
        <button key={one} type='button' aria-pressed={one === days} onClick={() => go(`/figures?days=${one}`, true)}>
          {t('days', { n: one })}
        </button>
      ))}
    </div>
  )
  return (
    <Page title={t('title')} actions={choice}>
      <Loaded of={stats} rows={8}>{(value) => <><Now of={value} /><ByDay of={value.byDay} /></>}</Loaded>
    </Page>
  )
}

const queues = [
  ['listings', 'listing', 'listingsWait'],
  ['changes', 'changes', 'changesWait'],
  ['identities', 'identity', 'identitiesWait'],
  ['reports', 'report', 'reportsWait'],
  ['payouts', 'wallet_payout', 'payoutsWait'],
] as const

function Now({ of: { waiting, users, newUsers, listings, identities } }: { of: Stats }) {
  const states = (vocabulary: string, of: Record<string, number>) =>
    Object.entries(of).map(([code, count]): [string, number] => [word(vocabulary, code), count])
  return (
    <section aria-label={t('now')} class='cards'>
      <div class='card'>
        <h2>{t('waiting')}</h2>
        <dl class='counts'>
          {queues.map(([name, kind, text]) => (
            <div key={name}><dt><a href={`#/queue?kind=${kind}`}>{t(text)}</a></dt><dd>{number(waiting[name])}</dd></div>
          ))}
        </dl>
      </div>
      <Counts title={t('people')} all={users.total} of={states('accountStatus', users.byStatus)}
        more={[[t('newUsers'), newUsers], [t('toBeDeleted'), users.toBeDeleted]]} />
      <Counts title={t('listings')} all={listings.total} of={states('listingStatus', listings.byStatus)} />
      <Counts title={t('identities')} all={identities.total} of={Object.entries(identities.byType).flatMap(([type, of]) =>
        states('identityStatus', of).map(([state, count]): [string, number] => [`${word('identityType', type)}: ${state}`, count])
      )} />
    </section>
  )
}

type CountsProps = { title: string; all: number; of: [string, number][]; more?: [string, number][] }
const Counts = ({ title, all, of, more = [] }: CountsProps) => (
  <div class='card'>
    <h2>{title}</h2>
    <dl class='counts'>
      {[[t('all'), all] as const, ...of, ...more].map(([name, count]) => (
        <div key={name}><dt>{name}</dt><dd>{number(count)}</dd></div>
      ))}
    </dl>
  </div>
)

function ByDay({ of }: { of: Stats['byDay'] }) {
  const days = of.map(({ day }) => day)
  const series = (name: string, value: (one: Stats['byDay'][number]) => number | null): Series => ({ name, of: of.map(value) })
  const types = (['SALE', 'RENT', 'EXCHANGE'] as const)
    .map((type) => series(word('listingType', type), ({ listings }) => listings[type]))
  return (
    <section aria-label={t('byDay')} class='cards charts'>
      <Chart title={t('accounts')} days={days} series={[series(t('number'), ({ accounts }) => accounts)]} />
      <Chart title={t('published')} days={days} series={types} />
      <Chart title={t('messages')} days={days} series={[series(t('number'), ({ messages }) => messages)]} />
      <Chart title={t('leads')} days={days} series={[series(t('number'), ({ leads }) => leads)]} />
      {(['payments', 'refunds'] as const).map((name) => (
        <Chart
          key={name}
          title={t(name)}
          days={days}
          show={money}
          series={[series(t('amount'), (one) => one[name].amount)]}
          more={[series(t('number'), (one) => one[name].number)]}
        />
      ))}
      <Chart title={t('reports')} days={days} series={[series(t('made'), ({ reports }) => reports.made)]}
        more={[series(t('decided'), ({ reports }) => reports.decided)]} />
      <Chart title={t('waited')} days={days} sums={false} series={[series(t('hours'), ({ reports }) => reports.medianHours)]} />
    </section>
  )
}
