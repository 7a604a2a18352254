// A small chart by day, with its numbers in a table behind it.
import { dayOf, number } from '../frame/format.ts'
import { language } from '../frame/words.ts'
import { Table } from '../people/parts.tsx'
import { t } from './words.ts'

export type Series = { name: string; of: (number | null)[] }
type ChartProps = {
  title: string
  days: string[]
  series: Series[]
  /** More columns of the table, such as how many made up a sum. */
  more?: Series[]
  show?: (value: number) => string
  /** False where days do not add up, as with medians. */
  sums?: boolean
}

const height = 100
const gap = 0.25

export function Chart({ title, days, series, more = [], show = number, sums = true }: ChartProps) {
  const ofDay = days.map((_, at) => series.reduce((sum, { of }) => sum + (of[at] ?? 0), 0))
  const most = Math.max(...ofDay)
  const shown = (value: number | null | undefined) => typeof value === 'number' ? show(value) : '—'
  const said = sums
    ? t('total', { n: show(round(ofDay.reduce((sum, one) => sum + one, 0))) })
    : most
    ? t('most', { n: show(most) })
    : '—'
  const [from, to] = [dayOf(days[0]!), dayOf(days.at(-1)!)]
  // Time runs as the language is read.
  const place = (at: number) => (language.value === 'ar' ? days.length - 1 - at : at) + gap / 2
  return (
    <figure class='chart card'>
      <figcaption>
        <h3>{title}</h3>
        <b>{said}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${days.length} ${height}`}
        preserveAspectRatio='none'
        role='img'
        aria-label={t('chart', { title, from, to, more: said })}
      >
        {days.map((day, at) => {
          let top = height
          return (
            <g key={day}>
              <title>{`${dayOf(day)}: ${series.map(({ of }) => shown(of[at])).join(' / ')}`}</title>
              <rect class='day' x={place(at) - gap / 2} y={0} width={1} height={height} />
              {series.map(({ name, of }, kind) => {
                const length = most ? (of[at] ?? 0) / most * (height - 2) : 0
                top -= length
                return <rect key={name} class={`s${kind}`} x={place(at)} y={top} width={1 - gap} height={length} />
              })}
            </g>
          )
        })}
      </svg>
      <p class='ends'>
        <small>{from}</small>
        <small>{to}</small>
      </p>
      {series.length > 1 && (
        <p class='legend'>
          {series.map(({ name }, kind) => (
            <small key={name}>
              <i class={`s${kind}`} />
              {name}
            </small>
          ))}
        </p>
      )}
      <details>
        <summary>{t('table')}</summary>
        <Table
          label={title}
          heads={[t('day'), ...[...series, ...more].map(({ name }) => name)]}
          ends={[1, 2, 3]}
          rows={days.map((day, at): [string, ...string[]] => [
            day,
            dayOf(day),
            ...series.map(({ of }) => shown(of[at])),
            ...more.map(({ of }) => number(of[at] ?? 0)),
          ]).reverse()}
        />
      </details>
    </figure>
  )
}

/** Dinars have three decimals, which a sum of doubles may miss by a hair. */
const round = (sum: number) => Math.round(sum * 1000) / 1000
