// Renders the description's schemas (in their exact form) as Markdown tables.
import { idOf } from './sections.ts'
import type { Schema as Rules } from './validators.ts'

export type Schema = Rules & { description?: string; properties?: Record<string, Schema> }
export type Schemas = Record<string, Schema>

export const nameOf = (ref: string) => ref.split('/').at(-1)!
export const code = (value: unknown) => `\`${value}\``

/** `names` are the components that have a section of their own on the page; other text links to them. */
export type Objects = { names: string[]; schemas: Schemas }

/** Chooses components that are used more than once, are one of several alternatives, or are no objects. */
export function objectsIn(all: Schema[], schemas: Schemas): Objects {
  const uses = new Map<string, number>()
  const visit = (schema: Schema) => {
    const { $ref, properties = {}, items, anyOf = [], additionalProperties } = schema
    if ($ref) {
      const name = nameOf($ref)
      uses.set(name, (uses.get(name) ?? 0) + 1)
      if (uses.get(name) === 1) visit(schemas[name]!)
    }
    const forms = formsOf(schema).length > 1 ? [...anyOf, ...anyOf] : anyOf
    const values = typeof additionalProperties === 'object' ? [additionalProperties] : []
    for (const part of [...Object.values(properties), ...forms, ...values]) visit(part)
    if (items) visit(items)
  }
  all.forEach(visit)
  const names = [...uses.keys()].filter((name) => uses.get(name)! > 1 || !schemas[name]!.properties)
  return { names: names.sort(), schemas }
}

const formsOf = ({ anyOf = [] }: Schema) => anyOf.filter(({ type }) => type !== 'null')

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Returns a table of the fields, one for each alternative; or a sentence if the schema is no object. */
export function fieldsOf(schema: Schema, objects: Objects, isSent = false): string {
  const forms = schema.anyOf?.every(({ properties }) => properties) ? schema.anyOf : [schema]
  return forms.map((one) => {
    const rows = rowsOf(one, objects, isSent)
    return rows.length
      ? table(['Field', 'Type', 'What it is'], rows)
      : `It is ${typeOf(one, objects)}.`
  }).join('\n\nor\n\n')
}

/** Returns the rows of a table. Fields of nested objects follow, named by path (`fields[].code`). */
function rowsOf(schema: Schema, objects: Objects, isSent: boolean, place = ''): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, one]) => {
    const isRequired = schema.required?.includes(name) ?? false
    const [inner, path] = innerOf(one, objects, place + name)
    const said = one.description ?? inner.description ?? ''
    const type = typeOf(one, objects) +
      (isRequired === isSent ? isSent ? ', required' : ', or absent' : '')
    return [[code(place + name), type, said], ...rowsOf(inner, objects, isSent, `${path}.`)]
  })
}

/** Returns the object inside lists and null unions, unless it has a section of its own. */
function innerOf(schema: Schema, objects: Objects, path: string): [Schema, string] {
  const { $ref, items } = schema
  if ($ref) {
    return objects.names.includes(nameOf($ref))
      ? [{}, path]
      : innerOf(objects.schemas[nameOf($ref)]!, objects, path)
  }
  if (items) return innerOf(items, objects, `${path}[]`)
  const [form, ...others] = formsOf(schema)
  return form && !others.length ? innerOf(form, objects, path) : [schema, path]
}

const words: Record<string, string> = {
  string: 'text',
  'date-time': 'time',
  binary: 'file',
  double: 'number',
}

export function typeOf(schema: Schema, objects: Objects): string {
  const { $ref, type, format, enum: values, anyOf, items, additionalProperties: each } = schema
  if ($ref) {
    const name = nameOf($ref)
    return objects.names.includes(name)
      ? `[${name}](#${idOf(name)})`
      : typeOf(objects.schemas[name]!, objects)
  }
  if (anyOf) return anyOf.map((one) => typeOf(one, objects)).join(' or ')
  if (values) return values.map(code).join(', ')
  const kinds = [type ?? []].flat().map((one) => {
    if (one === 'array') return `list of ${typeOf(items ?? {}, objects)}`
    if (one === 'object' && typeof each === 'object') return `object of ${typeOf(each, objects)}`
    return one === 'string' || one === 'number' ? words[format ?? one] ?? format ?? one : one
  })
  return [kinds.join(' or ') || 'anything', ...limitsOf(schema)].join(', ')
}

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, default: usual } = schema
  const between = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least === undefined && most === undefined) return []
    if (most === undefined) return [`from ${least}${unit}`]
    return [least === undefined ? `up to ${most}${unit}` : `${least} to ${most}${unit}`]
  }
  return [
    ...between(minimum, maximum, ''),
    ...between(minLength, maxLength, ' characters'),
    ...between(minItems, maxItems, ' of them'),
    ...(usual === undefined ? [] : [`else ${code(JSON.stringify(usual))}`]),
  ]
}
