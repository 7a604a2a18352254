// Small SVG charts. Each has a table with the same numbers for people who cannot see it. The module does not
// depend on the app: texts are props, colours come from the page's CSS (`.s0`, `.s1` …, `.level`).

export type Series = { name: string; of: (number | null)[]; show?: (value: number) => string }
type Chart = {
  title: string
  /** The label of each point, such as its day, in chronological order. */
  points: string[]
  series: Series[]
  /** Further columns that only the table has. */
  more?: Series[]
  /** A summary of the numbers, such as their sum. Shown next to the title and read by screen readers. */
  said: string
  show: (value: number) => string
  /** Bars are stacked and start at 0. Lines and steps (each value up to the next) start at the minimum. */
  form?: 'bars' | 'line' | 'steps'
  /** The position of each point on the time axis, from 0 to 1, if the points are not evenly spaced. */
  places?: number[]
  /** A horizontal line for comparison. */
  level?: { name: string; value: number }
  /** Whether the time axis runs from right to left, as in Arabic. */
  rtl: boolean
  words: { point: string; table: string }
}

const [width, height, edge] = [100, 100, 6]

export function Chart({ title, points, series, more = [], said, show, form = 'bars', places, level, rtl, words }: Chart) {
  const all = series.flatMap(({ of }) => of).filter((value) => value !== null)
  const sums = points.map((_, at) => series.reduce((sum, { of }) => sum + (of[at] ?? 0), 0))
  const most = Math.max(...form === 'bars' ? sums : all, level?.value ?? -Infinity)
  const least = form === 'bars' ? 0 : Math.min(...all, level?.value ?? Infinity)
  const span = most - least || 1
  const y = (value: number) => height - edge - (value - least) / span * (height - 2 * edge)
  const x = (share: number) => (rtl ? 1 - share : share) * width
  const slot = width / points.length
  const bars = (at: number) => {
    let top = height
    return series.map(({ name, of }, nth) => {
      const long = most > 0 ? (of[at] ?? 0) / most * (height - 2) : 0
      top -= long
      return <rect key={name} class={`s${nth}`} x={x(at / points.length) - (rtl ? slot : 0) + slot * 0.12} y={top} width={slot * 0.76} height={long} />
    })
  }
  const share = (at: number) => places?.[at] ?? (points.length > 1 ? at / (points.length - 1) : 0.5)
  const line = ({ name, of }: Series, nth: number) => {
    let isOn = false // a missing number interrupts the line
    const path = of.map((value, at) => {
      if (value === null) return void (isOn = false)
      const [to, level] = [x(share(at)), y(value)]
      const step = isOn ? form === 'steps' ? `H${to}V${level}` : `L${to} ${level}` : `M${to} ${level}h0`
      isOn = true
      return step
    }).join('')
    const end = form === 'steps' && isOn ? `H${x(1)}` : ''
    return <path key={name} class={`line s${nth}`} d={path + end} />
  }
  const text = (one: Series, at: number) => typeof one.of[at] === 'number' ? (one.show ?? show)(one.of[at]) : '—'
  return <figure class='chart'>
    <figcaption><b>{title}</b> <span>{said}</span></figcaption>
    <small class='most'>{all.length > 0 && show(most)}</small>
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio='none' role='img' aria-label={`${title}: ${said}`}>
      {form === 'bars' ? points.map((point, at) => <g key={at}>
        <title>{`${point}: ${series.map((one) => text(one, at)).join(' / ')}`}</title>
        <rect class='slot' x={x(at / points.length) - (rtl ? slot : 0)} width={slot} height={height} />{bars(at)}
      </g>) : series.map(line)}
      {level && <path class='line level' d={`M0 ${y(level.value)}H${width}`} />}
    </svg>
    <p class='ends'><small>{points[0]}</small>{form !== 'bars' && all.length > 0 && <small>{show(least)}</small>}<small>{points.at(-1)}</small></p>
    {(series.length > 1 || level) && <p class='legend'>
      {series.map(({ name }, nth) => <small key={name}><i class={`s${nth}`} />{name}</small>)}
      {level && <small><i class='level' />{level.name}: {show(level.value)}</small>}</p>}
    <Table summary={words.table} label={title} heads={[words.point, ...[...series, ...more].map(({ name }) => name)]}
      rows={points.map((point, at) => [point, ...[...series, ...more].map((one) => text(one, at))]).reverse()} />
  </figure>
}

/** A collapsible table with the numbers of a chart. */
export const Table = ({ summary, label, heads, rows }: Record<'summary' | 'label', string> & { heads: string[]; rows: string[][] }) => <details>
  <summary>{summary}</summary>
  <div class='scroll' tabIndex={0} role='group' aria-label={label}><table>
    <thead><tr>{heads.map((head) => <th key={head} scope='col'>{head}</th>)}</tr></thead>
    <tbody>{rows.map(([first, ...cells], at) => <tr key={at}><th scope='row'>{first}</th>{cells.map((cell, nth) => <td key={nth}>{cell}</td>)}</tr>)}</tbody>
  </table></div>
</details>

/** Shows how a price compares with others: a bar from the cheapest to the most expensive, with a marker. */
export const Scale = ({ percent, said, rtl, ends }: { percent: number; said: string; rtl: boolean; ends: [string, string] }) =>
  <figure class='chart scale'>
    <figcaption><span>{said}</span></figcaption>
    <svg viewBox='0 0 100 10' preserveAspectRatio='none' role='img' aria-label={said}>
      <rect class='slot' y='3' width='100' height='4' /><rect class='s0' x={(rtl ? 100 - percent : percent) * 0.98} width='2' height='10' />
    </svg>
    <p class='ends'>{ends.map((end) => <small key={end}>{end}</small>)}</p>
  </figure>
