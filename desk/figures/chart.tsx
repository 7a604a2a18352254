// A small chart by day, with its numbers in a table behind it.
import { dayOf, number } from '../frame/format.ts'
import { language } from '../frame/words.ts'
import { Table } from '../people/parts.tsx'
import { t } from './words.ts'

export type Series = { name: string; of: (number | null)[] }
type ChartProps = { title: string; days: string[]; series: Series[] }
  /** `more` are columns of the table alone; `sums` is false where days do not add up, as with medians. */
  & { more?: Series[]; show?: (value: number) => string; sums?: boolean }

const [height, gap] = [100, 0.25]
/** Dinars have three decimals, which a sum of doubles may miss by a hair. */
const round = (sum: number) => Math.round(sum * 1000) / 1000

export function Chart({ title, days, series, more = [], show = number, sums = true }: ChartProps) {
  const ofDay = days.map((_, at) => series.reduce((sum, { of }) => sum + (of[at] ?? 0), 0))
  const most = Math.max(...ofDay)
  const total = round(ofDay.reduce((sum, one) => sum + one, 0))
  const said = sums ? t('total', { n: show(total) }) : most ? t('most', { n: show(most) }) : '—'
  const label = t('chart', { title, from: dayOf(days[0]!), to: dayOf(days.at(-1)!), more: said })
  const text = (value: number | null | undefined) => typeof value === 'number' ? show(value) : '—'
  // Time runs as the language is read.
  const place = (at: number) => language.value === 'ar' ? days.length - 1 - at : at
  const bars = (at: number) => {
    let top = height
    return series.map(({ name, of }, kind) => {
      const length = most ? (of[at] ?? 0) / most * (height - 2) : 0
      top -= length
      return <rect key={name} class={`s${kind}`} x={place(at) + gap / 2} y={top} width={1 - gap} height={length} />
    })
  }
  return (
    <figure class='chart card'>
      <figcaption><h3>{title}</h3><b>{said}</b></figcaption>
      <svg viewBox={`0 0 ${days.length} ${height}`} preserveAspectRatio='none' role='img' aria-label={label}>
        {days.map((day, at) => (
          <g key={day}>
            <title>{`${dayOf(day)}: ${series.map(({ of }) => text(of[at])).join(' / ')}`}</title>
            <rect class='day' x={place(at)} width={1} height={height} />
            {bars(at)}
          </g>
        ))}
      </svg>
      <p class='ends'><small>{dayOf(days[0]!)}</small><small>{dayOf(days.at(-1)!)}</small></p>
      {series.length > 1 && (
        <p class='legend'>{series.map(({ name }, kind) => <small key={name}><i class={`s${kind}`} />{name}</small>)}</p>
      )}
      <details>
        <summary>{t('table')}</summary>
        <Table
          label={title}
          heads={[t('day'), ...[...series, ...more].map(({ name }) => name)]}
          ends={[1, 2, 3]}
          rows={days.map((day, at): [string, ...string[]] => [
            ...[day, dayOf(day)] as const,
            ...series.map(({ of }) => text(of[at])),
            ...more.map(({ of }) => number(of[at] ?? 0)),
          ]).reverse()}
        />
      </details>
    </figure>
  )
}
