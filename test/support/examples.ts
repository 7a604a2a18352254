// Records, for docs/examples.json, the fields of responses and the fullest example of each operation. A
// process writes an example if it is better than all it has written before.
import { appendFileSync } from 'node:fs'
import { expect } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { type Example, faultsOf, typeOf, visitObjects } from '../../local/docs/examples.ts'
import type { Schema, Validate } from '../../local/docs/validators.ts'
import type { Reply } from './client.ts'
import { isBetter, type Rank, type Ranked } from './found-examples.ts'
import { description, type Operation } from './openapi.ts'
import { cleaned } from './stand-ins.ts'

const noted = new Set<string>()

function note(kind: string, ...parts: string[]) {
  const line = [kind, ...parts].join('\t')
  if (noted.has(line)) return
  noted.add(line)
  // Test files write in parallel, but a line is a single write, so lines do not mix.
  appendFileSync(variable('MET_EXAMPLES')!, `${line}\n`)
}

const { schemas } = description.components
const always = new Map<string, string[]>()

function noteFields(id: string, answer: unknown, schema: Schema) {
  visitObjects(answer, schema, schemas, (object, place, named) => {
    // A component's fields are recorded over all operations, because one list may happen to lack some.
    const kind = named || `${id} ${place}`
    note('kind', id, place, kind)
    for (const [name, one] of Object.entries(object)) note('type', kind, name, typeOf(one))
    const before = always.get(kind)
    const left = (before ?? Object.keys(object)).filter((name) => name in object)
    if (left.length !== before?.length) note('always', kind, left.join())
    always.set(kind, left)
  })
}

/** Returns the paths of the fields that are not null. */
function fieldsOf(value: unknown, schema: Schema): Set<string> {
  const fields = new Set<string>()
  visitObjects(value, schema, schemas, (object, place) => {
    for (const [name, one] of Object.entries(object)) {
      if (one !== null) fields.add(`${place}.${name}`)
    }
  })
  return fields
}

/** Cuts lists to the fullest item and one with fields that it lacks; lists of plain values to four. */
function cut(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one)]))
  }
  if (value.some((one) => typeof one !== 'object' || Array.isArray(one))) return value.slice(0, 4)
  const items = value.map((one) => ({ item: cut(one), has: placesIn(one) }))
  const [first, ...rest] = items.toSorted((one, other) => other.has.size - one.has.size)
  const second = rest.find(({ has }) => [...has].some((place) => !first!.has.has(place)))
  return items.filter((one) => one === first || one === second).map(({ item }) => item)
}

/** Returns the paths in a value that are not null. */
function placesIn(value: unknown, place = '', found = new Set<string>()): Set<string> {
  if (value === null) return found
  found.add(place)
  if (typeof value !== 'object') return found
  for (const [name, one] of Object.entries(value!)) {
    placesIn(one, Array.isArray(value) ? `${place}[]` : `${place}.${name}`, found)
  }
  return found
}

type Request = Pick<Example, 'request' | 'query' | 'body'>

/** Whether apps send such requests, unlike those of test/whole and those for full records. */
const isUsual = ({ query, body }: Request) =>
  !expect.getState().testPath?.includes('/test/whole/') &&
  query?.fields !== 'full' && Object(body).fields !== 'full'

/** Whether people write such texts: no invisible characters, symbols, long repetitions or attacks. */
const isPlain = (text: string) =>
  !/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]|\\u[0-9a-f]{4}|\p{M}{3}|[^\p{L}\p{M}]\p{M}|([^\d\s])\1{9}|\p{So}|<script|__proto__|constructor/u
    .test(text)

const best = new Map<string, Ranked>()
const alike = new Map<string, number>()

export function recordExample(
  { id, method, ...operation }: Operation,
  path: string,
  sent: unknown,
  { status, body, headers }: Reply,
  validate: Validate,
) {
  const schema = operation.responses[status]?.content?.['application/json']?.schema
  const isJson = typeof body === 'object' && body !== null
  if (!variable('MET_EXAMPLES') || status >= 300 || schema && !isJson) return
  if (schema) noteFields(id, body, schema)
  const request = requestOf(method, path, sent, operation)
  if (!request) return
  const size = operation.body ? fieldsOf(request.body, operation.body).size : 0
  const rankOf = (answer: unknown, text: string): Rank => [
    Number(isUsual(request)),
    Number(isPlain(text)),
    size + (schema ? fieldsOf(answer, schema).size : 0),
    -text.length,
  ]
  // Cutting adds no fields, so the rank of the uncut response is enough to rule it out.
  const [usual, plain, fields] = rankOf(body, '')
  if (!isBetter({ rank: [usual, plain, fields, -Infinity], text: '' }, best.get(id))) {
    // It may still be shorter than an equally full one, so up to 20 such responses per operation are tried.
    const count = alike.get(id) ?? 0
    if (count >= 20) return
    alike.set(id, count + 1)
  }
  const now = Date.parse(headers.get('date') ?? '') || Date.now()
  const whole = { ...request, status, ...(schema && { answer: cut(body) }) }
  const example: Example = cleaned(whole, now)
  if (faultsOf(example, { id, ...operation }, validate).length) return
  const text = JSON.stringify(example)
  const ranked = { rank: rankOf(example.answer, text), text }
  if (!isBetter(ranked, best.get(id))) return
  best.set(id, ranked)
  note('example', id, JSON.stringify(ranked))
}

function requestOf(
  method: string,
  path: string,
  sent: unknown,
  { body, bodyRequired, form }: Pick<Operation, 'body' | 'bodyRequired' | 'form'>,
): Request | undefined {
  const [route, search] = path.split('?')
  const query = [...new URLSearchParams(search)]
  const given = sent instanceof FormData ? formOf(sent) : jsonOf(sent)
  if (bodyRequired && given === undefined) return undefined
  if (new Set(query.map(([name]) => name)).size < query.length) return undefined
  return {
    request: `${method} ${route}`,
    ...(query.length && { query: Object.fromEntries(query) }),
    ...((body || form) && given !== undefined && { body: given }),
  }
}

function jsonOf(sent: unknown): unknown {
  if (typeof sent !== 'string') return sent
  try {
    return JSON.parse(sent)
  } catch {
    return undefined
  }
}

function formOf(form: FormData) {
  const names = [...new Set(form.keys())]
  const said = (one: FormDataEntryValue) => typeof one === 'string' ? one : one.name
  return Object.fromEntries(names.map((name) => {
    const values = form.getAll(name).map(said)
    return [name, name === 'files' ? values : values[0]]
  }))
}
