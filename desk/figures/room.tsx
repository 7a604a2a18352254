// The figures of this moment and of each of the last days.
import { api, Button, type ComponentChildren, dayOf, go, language, Loaded, money, number } from '../frame/index.ts'
import { Page, type Place, type Schemas, Table, useLoad, word, wordsOf } from '../frame/index.ts'
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
    <Chart title={t(name)} days={days} series={[series(t('number'), (one) => one[name])]} />
  const paid = (name: 'payments' | 'refunds') =>
    <Chart title={t(name)} days={days} show={money} series={[series(t('amount'), (one) => one[name].amount)]}
      more={[series(t('number'), (one) => one[name].number)]} />
  return <section aria-label={t('byDay')} class='cards charts'>
    {counted('accounts')}
    <Chart title={t('published')} days={days} series={types} />
    {counted('messages')}{counted('leads')}{paid('payments')}{paid('refunds')}
    <Chart title={t('reports')} days={days} series={[series(t('made'), ({ reports }) => reports.made)]}
      more={[series(t('decided'), ({ reports }) => reports.decided)]} />
    <Chart title={t('waited')} days={days} sums={false}
      series={[series(t('hours'), ({ reports }) => reports.medianHours)]} />
  </section>
}

type Series = { name: string; of: (number | null)[] }
type ChartProps = { title: string; days: string[]; series: Series[] }
  /** `more` are columns of the table only; `sums` is false where days do not add up, as with medians. */
  & { more?: Series[]; show?: (value: number) => string; sums?: boolean }

const [height, gap] = [100, 0.25]
/** Dinars have three decimals, which a sum of doubles may miss by a hair. */
const round = (sum: number) => Math.round(sum * 1000) / 1000

/** A small chart by day, with its numbers in a table below it. */
function Chart({ title, days, series, more = [], show = number, sums = true }: ChartProps) {
  const ofDay = days.map((_, at) => series.reduce((sum, { of }) => sum + (of[at] ?? 0), 0))
  const most = Math.max(...ofDay)
  const total = round(ofDay.reduce((sum, one) => sum + one, 0))
  const said = sums ? t('total', { n: show(total) }) : most ? t('most', { n: show(most) }) : '—'
  const label = t('chart', { title, from: dayOf(days[0]!), to: dayOf(days.at(-1)!), more: said })
  const text = (value: number | null | undefined) => typeof value === 'number' ? show(value) : '—'
  // Time runs in the reading direction.
  const place = (at: number) => language.value === 'ar' ? days.length - 1 - at : at
  const bars = (at: number) => {
    let top = height
    return series.map(({ name, of }, kind) => {
      const length = most ? (of[at] ?? 0) / most * (height - 2) : 0
      top -= length
      return <rect key={name} class={`s${kind}`} x={place(at) + gap / 2} y={top} width={1 - gap} height={length} />
    })
  }
  return <figure class='chart card'>
    <figcaption><h3>{title}</h3><b>{said}</b></figcaption>
    <svg viewBox={`0 0 ${days.length} ${height}`} preserveAspectRatio='none' role='img' aria-label={label}>
      {days.map((day, at) => <g key={day}>
        <title>{`${dayOf(day)}: ${series.map(({ of }) => text(of[at])).join(' / ')}`}</title>
        <rect class='day' x={place(at)} width={1} height={height} />
        {bars(at)}
      </g>)}
    </svg>
    <p class='ends'><small>{dayOf(days[0]!)}</small><small>{dayOf(days.at(-1)!)}</small></p>
    {series.length > 1 &&
      <p class='legend'>{series.map(({ name }, kind) => <small key={name}><i class={`s${kind}`} />{name}</small>)}</p>}
    <details>
      <summary>{t('table')}</summary>
      <Table label={title} heads={[t('day'), ...[...series, ...more].map(({ name }) => name)]} ends={[1, 2, 3]}
        rows={days.map((day, at): [string, ...string[]] =>
          [day, dayOf(day), ...series.map(({ of }) => text(of[at])), ...more.map(({ of }) => number(of[at] ?? 0))]
        ).reverse()} />
    </details>
  </figure>
}
