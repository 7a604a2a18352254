// Metrics for Prometheus, in its text format 0.0.4 or, on request, in OpenMetrics 1.0. A client library would
// need Node modules that edge functions lack (cluster, worker_threads), and would support only one of the
// formats.

export type Labels = Record<string, string>

type Sample = { labels?: Labels; value: number | undefined | null }

export type Family =
  & { name: string; help: string }
  & (
    | { type: 'gauge' | 'counter'; samples: Sample[] }
    | { type: 'histogram'; samples: { labels: Labels; counts: number[]; sum: number }[] }
  )

export const gauge = (name: string, help: string, samples: Sample[]): Family => (
  { name, help, type: 'gauge', samples }
)

/** A gauge without labels. It is left out if the value is undefined. */
export const single = (name: string, help: string, value: Sample['value']): Family =>
  gauge(name, help, [{ value }])

/**
 * Once a metric has this many combinations of label values, new ones count as "other". So requests cannot
 * make the metrics grow without limit.
 */
const mostSeries = 2000

class Series<T> {
  readonly all = new Map<string, { labels: Labels; value: T }>()
  private readonly empty: () => T

  constructor(empty: () => T) {
    this.empty = empty
  }

  of(labels: Labels): { labels: Labels; value: T } {
    const key = Object.values(labels).join('\n')
    const known = this.all.get(key)
    if (known) return known
    if (this.all.size >= mostSeries) {
      const others = Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
      if (key !== Object.values(others).join('\n')) return this.of(others)
    }
    const added = { labels, value: this.empty() }
    this.all.set(key, added)
    return added
  }
}

export class Counter {
  private readonly series = new Series(() => 0)
  private readonly name: string
  private readonly help: string

  constructor(name: string, help: string) {
    this.name = name
    this.help = help
  }

  add(labels: Labels = {}): void {
    this.series.of(labels).value++
  }

  family(): Family {
    const { name, help } = this
    return { name, help, type: 'counter', samples: [...this.series.all.values()] }
  }
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Histogram {
  private readonly series = new Series(() => ({
    counts: Array<number>(bounds.length + 1).fill(0),
    sum: 0,
  }))
  private readonly name: string
  private readonly help: string

  constructor(name: string, help: string) {
    this.name = name
    this.help = help
  }

  observe(labels: Labels, seconds: number): void {
    const { value } = this.series.of(labels)
    const fitting = bounds.findIndex((bound) => seconds <= bound)
    value.counts[fitting < 0 ? bounds.length : fitting]++
    value.sum += seconds
  }

  family(): Family {
    const { name, help } = this
    const samples = [...this.series.all.values()].map(({ labels, value }) => ({ labels, ...value }))
    return { name, help, type: 'histogram', samples }
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escaped = (text: string) => text.replace(/[\\\n"]/g, (character) => escapes[character]!)

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, said]) => `${label}="${escaped(said)}"`)
  return `${name}${pairs.length ? `{${pairs.join()}}` : ''} ${value}`
}

const inText = (bound: number) => Number.isInteger(bound) ? `${bound}.0` : String(bound)

function linesOf(family: Family, open: boolean): string[] {
  const { name, help, type } = family
  const total = type === 'counter' ? `${name}_total` : name
  const lines = family.type === 'histogram'
    ? family.samples.flatMap(({ labels, counts, sum }) => {
      let count = 0
      const buckets = counts.map((each, nth) => {
        count += each
        const le = nth < bounds.length ? inText(bounds[nth]) : '+Inf'
        return line(`${name}_bucket`, { ...labels, le }, count)
      })
      return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, count)]
    })
    : family.samples.flatMap(({ labels = {}, value }) =>
      typeof value === 'number' ? [line(total, labels, value)] : []
    )
  if (!lines.length) return []
  const of = open ? name : total
  return [`# HELP ${of} ${help}`, `# TYPE ${of} ${type}`, ...lines]
}

/** Writes the metrics in the format that the Accept header requests. */
export function written(families: Family[], accept = ''): { type: string; text: string } {
  const open = accept.includes('application/openmetrics-text')
  const lines = families.flatMap((family) => linesOf(family, open))
  return {
    type: open
      ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
      : 'text/plain; version=0.0.4; charset=utf-8',
    text: [...lines, ...(open ? ['# EOF'] : []), ''].join('\n'),
  }
}
