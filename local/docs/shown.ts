// Part of npm run check. Checks that the request bodies, responses, events and errors that pages show match
// the API descriptions.
import {
  type Api,
  type Described,
  described,
  type Events,
  kindsOf,
  nameOf,
  type Resolve,
  type Route,
  type Schema,
} from './described.ts'
import type { File } from './files.ts'
import { type Field, type Shape, shapesIn, type Shown } from './shapes.ts'

/** Shapes (by their fields) that no API description contains, and where they come from instead. */
const elsewhere: Record<string, string> = {
  'act, by, target, amount, to, value, until, version, reason, note': 'the columns of a table',
  'kind, route, count': 'the data of a push',
  'kind, badge': 'the data of a push',
  'type, timestamp, data': 'what ALARM_WEBHOOK is sent',
  'type, credentials': 'a setting of Prometheus',
}

/** This page is not checked, because it shows invalid requests on purpose. */
const hostile = 'docs/cases.md'

export function wrongShapes(pages: File[], api: Api, events: Events): string[] {
  const all = described(api, events)
  const excused = new Set<string>()
  const wrong = pages.filter(({ path }) => path.startsWith('docs/') && path !== hostile)
    .flatMap(({ path, text }) =>
      shapesIn(text).flatMap((shown) => {
        const faults = faultsOf(shown, all)
        const names = namesOf(shown.shape).join(', ')
        if (!faults.length) return []
        if (!elsewhere[names]) return [`${path}:${shown.line}: {${names}}: ${faults.join(', ')}`]
        excused.add(names)
        return []
      })
    )
  const needless = Object.keys(elsewhere).filter((names) => !excused.has(names))
  return [
    ...wrong,
    ...needless.map((names) => `local/docs/shown.ts excuses {${names}} for nothing`),
  ]
}

const namesOf = ({ fields }: Shape) => fields.flatMap(({ names }) => names)

export function faultsOf(shown: Shown, all: Described): string[] {
  const { shape, word } = shown
  const ofCode = all.problem.properties!.error!['x-details']![word]
  if (ofCode) {
    const has = [...ofCode.map((one) => one.replace('?', '')), 'fields', 'retryAfter']
    return namesOf(shape).filter((name) => !has.includes(name)).map((name) => `has no ${name}`)
  }
  const { objects, whole } = meantBy(shown, all)
  const found = objects.map((one) => faultsIn(shape, one, whole, all.resolve))
  const unknown = (faults: string[]) => faults.filter((one) => one.startsWith('has no')).length
  // If objects have equally few faults, the page most likely means the one with the fewest unknown names.
  return found.sort((one, other) =>
    one.length - other.length || unknown(one) - unknown(other)
  )[0] ?? []
}

/** Judging by the text before a shape: returns what it may show, and whether it needs all required fields. */
function meantBy({ shape, word, isNamed, context, text }: Shown, all: Described) {
  const { routes, messages, everything } = all
  const objectsOf = (found: { objects: Schema[] }[]) => found.flatMap(({ objects }) => objects)
  const heard = messages.filter(({ name }) =>
    name === word || context.startsWith(`| \`${name}\` |`)
  )
  if (namesOf(shape).includes('event')) {
    return { objects: messages.map(({ objects }) => objects[0]!), whole: false }
  }
  if (heard.length) return { objects: objectsOf(heard), whole: false }
  if (isNamed) {
    const fields = everything.flatMap(({ properties }) => properties?.[word] ?? [])
    if (fields.length) return { objects: fields, whole: true }
  }
  const ended = isNamed ? routes.filter(({ path }) => path.endsWith(`/${word}`)) : []
  const near = objectsOf(ended.length ? ended : routesIn(context, routes))
  if (near.length) return { objects: near, whole: !/\+ `$/.test(context) }
  // A shape with a single name may be a placeholder.
  const isPlaceholder = shape.fields.length === 1 && !text.includes('"')
  return { objects: isPlaceholder ? [] : everything, whole: false }
}

function routesIn(context: string, routes: Route[]): Route[] {
  let methods: string[] = []
  const named = /((?:[A-Z]{3,6}(?:, |\|)?)+) (?=\/)|(?<![\w.])\/[a-z][\w/:{}-]*/g
  return [...context.matchAll(named)].flatMap(([path, given]) => {
    if (given) methods = given.split(/, |\|/)
    const there = given ? [] : routes.filter((one) => one.path === nameOf(path))
    const meant = there.filter(({ method }) => methods.includes(method))
    return meant.length ? meant : there
  })
}

function faultsIn(shape: Shape, schema: Schema, whole: boolean, resolve: Resolve): string[] {
  const kinds = kindsOf(resolve, schema)
  const { properties, required = [] } = kinds.find((one) => one.properties) ?? {}
  if (!properties) {
    return kinds.some(({ additionalProperties }) => additionalProperties) ? [] : ['is no object']
  }
  const left = whole && !shape.open ? required.filter((one) => !namesOf(shape).includes(one)) : []
  return [
    ...shape.fields.flatMap((field) =>
      field.names.flatMap((name) =>
        faultsAt(name, field, properties[name], required.includes(name))
      )
    ),
    ...left.map((name) => `leaves out ${name}`),
  ]

  function faultsAt(name: string, shown: Field, described: Schema | undefined, isThere: boolean) {
    if (!described) return [`has no ${name}`]
    const { optional, values, inside } = shown
    const kinds = kindsOf(resolve, described)
    const wrong = values.filter((value) => !kinds.some((kind) => takes(kind, value)))
    const maybeNull = kinds.some(({ type }) => type?.includes('null'))
    return [
      ...wrong.map((value) => `${name} is never ${JSON.stringify(value)}`),
      ...(optional && isThere && !maybeNull ? [`${name} is always there`] : []),
      ...(inside ? faultsIn(inside, described, whole, resolve) : []).map((one) => `${name} ${one}`),
    ]
  }
}

/** Whether the schema allows a value. A text with … in it or < at its start stands for any text. */
function takes({ type, enum: values }: Schema, value: unknown): boolean {
  const isText = typeof value === 'string' && /…|^</.test(value)
  if (values && !isText) return values.includes(value)
  const own = value === null ? 'null' : typeof value
  const types = [type ?? []].flat().map((one) => one === 'integer' ? 'number' : one)
  return !types.length || types.includes(own)
}
