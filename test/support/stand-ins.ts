// Replaces values that differ between runs (ids, times, tokens, phones and emails of people) by placeholders
// ("stand-ins") that are always the same.

type Kind = [pattern: RegExp, standIn: (nth: number, found: string) => string]

const padded = (nth: number, digits: number) => String(nth).padStart(digits, '0')
const phones = ['55512345', '66612345', '99912345']
const people = ['salem', 'fahad', 'noura']

/** Applied in this order. The first value of a kind gets the kind's first placeholder. */
const kinds: Kind[] = [
  [
    /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g,
    () => 'eyJhbGciOi.eyJzdWIiOi.c2lnbmF0',
  ],
  [/\bhttp:\/\/127\.0\.0\.1:\d+/g, () => 'http://127.0.0.1:54321'],
  [/[\w.+-]+(?=@[\w-]+\.)/g, (nth) => people[nth - 1] ?? `person${nth}`],
  [
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
    (nth) => `00000000-0000-4000-8000-${padded(nth, 12)}`,
  ],
  [/\bKW-\d+\b/g, (nth) => `KW-${104232 + nth}`],
  [/(?<=\b(?:INV|CN)-)\d{4}-\d+\b/g, (nth) => `2026-${padded(122 + nth, 6)}`],
  [
    /(?<=(?:^|[^\w.])(?:\+?965)?)[4569]\d{7}(?![\w.])/g,
    (nth) => phones[nth - 1] ?? `555${padded(nth, 5)}`,
  ],
  // Other random bytes, complete or cut.
  [/\b[0-9a-f]{16,}\b/gi, (nth, found) => padded(nth, found.length)],
  [
    /\b(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{20,}/g,
    (nth, found) => `opaque${nth}`.padEnd(found.length, '0'),
  ],
  [
    /\b(?=[a-f-]*\d)(?=[\d-]*[a-f])[0-9a-f]{8}(?:-[0-9a-f]{1,4}){0,3}\b/gi,
    (nth, found) => padded(nth, 8) + found.slice(8).replace(/\w/g, '0'),
  ],
]

/** Placeholders by field name. */
const named: [name: RegExp, standIn: string][] = [
  [/password$/i, 'Diwaniya-2026'],
  [
    /cursor$|^(proof|refreshToken|idToken|pushToken|nonce|challenge|authorizationCode|rawId|signature)$/i,
    'b3BhcXVl',
  ],
]

const morning = Date.parse('2026-11-01T09:00:00Z')
const time = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?/g
const day = 86_400_000

/** Returns the value with placeholders; times keep their distance from `now`, to the minute. */
export function cleaned<T>(value: T, now: number): T {
  const known = kinds.map(() => new Map<string, string>())
  const moved = (at: number, unit: number) =>
    new Date(morning + Math.round((at - now) / unit) * unit).toISOString()
  // A time this far from now was written in a test and is the same in every run.
  const isFar = (at: number) => !(Math.abs(at - now) < 800 * day)
  const cleanTime = (text: string, fraction = '', zone = '') => {
    const at = Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
    if (isFar(at)) return text
    // Postgres omits trailing zeros.
    const digits = fraction && (fraction.length > 4 ? '.482917' : '.482')
    return moved(at, 60_000).slice(0, 19) + digits + zone.replace(/.*\d/, '+00:00')
  }
  const clean = (text: string) => {
    if (/^20\d\d-\d\d$/.test(text)) return '2026-11'
    if (/^\d{4}-\d\d-\d\d$/.test(text)) {
      const at = Date.parse(text)
      return isFar(at) ? text : moved(at, day).slice(0, 10)
    }
    return kinds.reduce((said, [pattern, standIn], at) =>
      said.replace(pattern, (found) => {
        const [key, own] = [found.toLowerCase(), known[at]!]
        if (!own.has(key)) own.set(key, standIn(own.size + 1, found))
        return own.get(key)!
      }), text.replace(time, cleanTime))
  }
  const go = (one: unknown, name: string): unknown => {
    if (typeof one === 'string') {
      const [, standIn] = named.find(([pattern]) => pattern.test(name)) ?? []
      if (standIn) return standIn
      return name === 'code' && /^\d{6}$/.test(one) ? '123456' : clean(one)
    }
    if (typeof one !== 'object' || one === null) return one
    if (Array.isArray(one)) return one.map((part) => go(part, name))
    return Object.fromEntries(Object.entries(one).map(([key, part]) => [clean(key), go(part, key)]))
  }
  return go(value, '') as T
}
