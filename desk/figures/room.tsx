// Current figures, and daily figures of the last days.
import { Chart, type Series } from '../../examples/web/charts.tsx'
import { api, Button, type ComponentChildren, dayOf, go, language, Loaded, money, number } from '../frame/index.ts'
import { Page, type Place, type Schemas, useLoad, word, wordsOf } from '../frame/index.ts'
import texts from './words.json'

const t = wordsOf(texts)
type Stats = Schemas['AdminStats']

export default function Figures({ query }: Place) {
  const ranges = [7, 30, 90]
  const days = ranges.find((one) => String(one) === query.get('days')) ?? 30
  const stats = useLoad((signal) => api.get('/admin/stats', { query: { days }, signal }), [days])
  const button = (n: number) =>
    <Button key={n} aria-pressed={n === days} onClick={() => go(`/figures?days=${n}`, true)}>{t('days', { n })}</Button>
  const choice = <div class='row' role='group' aria-label={t('range')}>{ranges.map(button)}</div>
  return <Page title={t('title')} actions={choice}>
    <Loaded of={stats} rows={8}>{(value) => <><Now of={value} /><ByDay of={value.byDay} /></>}</Loaded>
  </Page>
}

type Count = [name: ComponentChildren, count: number]
const states = (vocabulary: string, of: Record<string, number>, before = '') =>
  Object.entries(of).map(([code, count]): Count => [before + word(vocabulary, code), count])
const queues =
  { listings: 'listing', changes: 'changes', identities: 'identity', reports: 'report', payouts: 'wallet_payout' }

function Now({ of: { waiting, users, newUsers, listings, identities } }: { of: Stats }) {
  const people: Count[] = [[t('newUsers'), newUsers], [t('toBeDeleted'), users.toBeDeleted]]
  const byType = Object.entries(identities.byType)
    .flatMap(([type, of]) => states('identityStatus', of, `${word('identityType', type)}: `))
  return <section aria-label={t('now')} class='cards now'>
    <Counts title={t('waiting')} of={Object.entries(queues).map(([name, kind]): Count =>
      [<a href={`#/queue?kind=${kind}`}>{word('moderationKind', kind)}</a>, waiting[name as keyof typeof queues]])} />
    <Counts title={t('people')} all={users.total} of={[...states('accountStatus', users.byStatus), ...people]} />
    <Counts title={t('listings')} all={listings.total} of={states('listingStatus', listings.byStatus)} />
    <Counts title={t('identities')} all={identities.total} of={byType} />
  </section>
}

const Counts = ({ title, all, of }: { title: string; all?: number; of: Count[] }) => <div class='card'>
  <h2>{title} {all !== undefined && number(all)}</h2>
  <dl class='counts'>{of.map(([name, count], at) => <div key={at}><dt>{name}</dt><dd>{number(count)}</dd></div>)}</dl>
</div>

type Day = Stats['byDay'][number]
function ByDay({ of }: { of: Day[] }) {
  const days = of.map(({ day }) => day)
  const series = (name: string, value: (one: Day) => number | null): Series => ({ name, of: of.map(value) })
  const types = (['SALE', 'RENT', 'EXCHANGE'] as const)
    .map((type) => series(word('listingType', type), ({ listings }) => listings[type]))
  const counted = (name: 'accounts' | 'messages' | 'leads') =>
    <ByDayChart title={t(name)} days={days} series={[series(t('number'), (one) => one[name])]} />
  const paid = (name: 'payments' | 'refunds') =>
    <ByDayChart title={t(name)} days={days} show={money} series={[series(t('amount'), (one) => one[name].amount)]}
      more={[{ ...series(t('number'), (one) => one[name].number), show: number }]} />
  return <section aria-label={t('byDay')} class='cards charts'>
    {counted('accounts')}
    <ByDayChart title={t('published')} days={days} series={types} />
    {counted('messages')}{counted('leads')}{paid('payments')}{paid('refunds')}
    <ByDayChart title={t('reports')} days={days} series={[series(t('made'), ({ reports }) => reports.made)]}
      more={[series(t('decided'), ({ reports }) => reports.decided)]} />
    <ByDayChart title={t('waited')} days={days} sums={false}
      series={[series(t('hours'), ({ reports }) => reports.medianHours)]} />
  </section>
}

type ChartProps = { title: string; days: string[]; series: Series[] }
  /**
   * `more` are columns that only the table has. `sums` is false for values that cannot be added, such as
   * medians.
   */
  & { more?: Series[]; show?: (value: number) => string; sums?: boolean }

/** Rounds a sum of dinars to three decimals, to remove floating-point errors. */
const round = (sum: number) => Math.round(sum * 1000) / 1000

function ByDayChart({ days, series, show = number, sums = true, ...rest }: ChartProps) {
  const ofDay = days.map((_, at) => series.reduce((sum, { of }) => sum + (of[at] ?? 0), 0))
  const most = Math.max(...ofDay)
  const total = round(ofDay.reduce((sum, one) => sum + one, 0))
  const said = sums ? t('total', { n: show(total) }) : most ? t('most', { n: show(most) }) : '—'
  return <div class='card'>
    <Chart {...rest} points={days.map(dayOf)} series={series} said={said} show={show} rtl={language.value === 'ar'}
      words={{ point: t('day'), table: t('table') }} />
  </div>
}
