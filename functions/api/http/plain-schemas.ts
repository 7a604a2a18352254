// Simplifies the schemas of the OpenAPI description for client generators: unions become a single object,
// nullable objects become components, and enums whose names would clash become strings. `x-any-of` keeps the
// exact schema, from which the types of our own client are generated.

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  description?: string
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  'x-any-of'?: Schema[]
}
type Content = Record<string, { schema: Schema }>
type Operation = {
  operationId: string
  parameters?: { name?: string; schema?: Schema }[]
  responses: Record<string, { content?: Content }>
}
type Described = { paths?: object; components?: { schemas?: object } }

const reference = '#/components/schemas/'

export function makePlain({ paths, components }: Described) {
  const schemas = components!.schemas as Record<string, Schema>
  const done = new Set<string>()
  const resolve = (schema: Schema): Schema => {
    if (!schema.$ref) return schema
    const name = schema.$ref.slice(reference.length)
    if (!done.has(name)) {
      done.add(name)
      schemas[name] = plain(schemas[name], name, resolve, nameIt)
    }
    return schemas[name]
  }
  /**
   * Adds the schema as a component with this name. If an equal component exists, returns that one instead.
   */
  const nameIt = (schema: Schema, name: string): Schema => {
    const text = JSON.stringify(schema)
    const same = [...done].find((known) => JSON.stringify(schemas[known]) === text)
    if (!same && schemas[name]) throw new Error(`two different schemas ${name}`)
    schemas[same ?? name] = schema
    done.add(same ?? name)
    return { $ref: reference + (same ?? name) }
  }
  for (const name of Object.keys(schemas)) resolve({ $ref: reference + name })
  const operations = Object.values(paths!).flatMap((methods) => Object.values<Operation>(methods))
  for (const { operationId, parameters = [], responses } of operations) {
    const answers = Object.values(responses).flatMap(({ content = {} }) => Object.values(content))
    for (const part of [...parameters, ...answers]) {
      if (part.schema) part.schema = plain(part.schema, pascal(operationId), resolve, nameIt)
    }
  }
}

type Resolve = (schema: Schema) => Schema
type NameIt = (schema: Schema, name: string) => Schema

/** Simplifies a schema and the schemas within it. Names of components added on the way begin with `name`. */
function plain(schema: Schema, name: string, resolve: Resolve, nameIt: NameIt): Schema {
  const inside = (part: Schema, more = '') => plain(part, name + pascal(more), resolve, nameIt)
  const { allOf, anyOf, ...rest } = schema
  if (allOf) return whole(allOf.map((part) => inside(part)), rest, resolve)
  if (anyOf) {
    const some = anyOf.filter(({ type }) => type !== 'null')
    const one = some.length > 1
      ? { ...union(some.map((part) => inside(part)), resolve), ...rest }
      : { ...inside(some[0]), ...rest }
    return some.length < anyOf.length ? orNull(one, name, nameIt) : one
  }
  const { type, properties, items, additionalProperties: more } = rest
  if (items) rest.items = inside(items, 'item')
  if (isFull(more)) rest.additionalProperties = inside(more as Schema, 'value')
  else if (more) delete rest.additionalProperties
  if (isFull(properties)) {
    rest.properties = mapValues(properties!, inside)
    if (Array.isArray(type)) return orNull({ ...rest, type: 'object' }, name, nameIt)
  } else delete rest.properties
  return plainValue(rest)
}

export const isFull = (object: unknown) => Object.keys(Object(object)).length > 0

/**
 * Gives numbers the format "double". Keeps an enum only if generators can derive a distinct name for each
 * value.
 */
function plainValue(schema: Schema): Schema {
  const types = [schema.type].flat()
  if (types.includes('number')) schema.format ??= 'double'
  const { enum: values, description: _description, ...rest } = schema
  if (!values) return schema
  const names = values.map((value) => String(value).replace(/\W/g, '').toLowerCase())
  const isPlain = !types.includes('boolean') && new Set(names).size === names.length
  if (isPlain) return schema
  const exact = { 'x-any-of': [{ ...rest, enum: values }] }
  delete schema.enum
  if (types.includes('string')) schema.pattern = `^(${values.join('|')})$`
  return { ...schema, ...exact }
}

function whole(parts: Schema[], rest: Schema, resolve: Resolve): Schema {
  const more = parts.filter(({ $ref }) => !$ref)
  const refs = parts.filter(({ $ref }) => $ref)
  if (refs.length === 1 && more.every(({ properties }) => !properties)) {
    return Object.assign({}, ...more, rest, refs[0])
  }
  const objects = parts.map(resolve)
  return {
    type: 'object',
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    required: objects.flatMap(({ required = [] }) => required),
    ...rest,
  }
}

/**
 * Merges a union of objects into one object with all fields. A field is required if all members require it.
 */
function union(parts: Schema[], resolve: Resolve): Schema {
  const objects = parts.map(resolve)
  const exact = { 'x-any-of': parts }
  if (objects.some(({ properties }) => !properties)) return { ...objects.reduce(either), ...exact }
  const names = [...new Set(objects.flatMap(({ properties }) => Object.keys(properties!)))]
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => {
      const fields = objects.flatMap(({ properties }) => properties![name] ?? [])
      return [name, fields.reduce(either)]
    })),
    required: names.filter((name) => objects.every(({ required }) => required?.includes(name))),
    ...(objects.every((one) => one.additionalProperties === false) &&
      { additionalProperties: false, ...oneOf(objects) }),
    ...exact,
  }
}

/**
 * Requires the fields of exactly one of these objects. The rule is nested under `not`, from which generators
 * derive no fields.
 */
function oneOf(objects: Schema[]) {
  const own = objects.map(({ required = [] }, nth) =>
    required.filter((name) => !objects.some((one, other) => other !== nth && one.properties![name]))
  )
  if (!own.every((names) => names.length)) return {}
  return { not: { not: { oneOf: own.map((required) => ({ required })) } } }
}

/**
 * Merges two alternatives into one schema that allows the types and values of both. It keeps only the rules
 * that are the same in both.
 */
function either(one: Schema, other: Schema): Schema {
  const { description, ...left } = one
  const { description: another, ...right }: Schema = other
  const said = [...new Set([description, another])].filter(Boolean).join(' Or: ')
  const shared = Object.entries(left).filter(([rule, value]) =>
    JSON.stringify(value) === JSON.stringify(right[rule as keyof typeof right])
  )
  const found: Schema = Object.fromEntries(shared)
  if (!found.$ref && !found.anyOf) {
    const types = [...new Set([left.type, right.type].flat())]
    if (types.filter((type) => type !== 'null').length !== 1) {
      throw new Error(`no one type: ${JSON.stringify([one, other])}`)
    }
    found.type = types.length > 1 ? types as string[] : types[0]
    if (left.enum && right.enum) found.enum = [...new Set([...left.enum, ...right.enum])]
  }
  return said ? { ...found, description: said } : found
}

/** Makes a schema nullable. Generators understand a nullable object only as a component. */
function orNull(schema: Schema, name: string, nameIt: NameIt): Schema {
  const { $ref, description } = schema
  if (schema.properties || $ref) {
    const component = $ref ? { $ref } : nameIt(schema, name)
    return { anyOf: [component, { type: 'null' }], ...(description && { description }) }
  }
  const values = schema.enum && !schema.enum.includes(null) && { enum: [...schema.enum, null] }
  return { ...schema, type: [...new Set([schema.type!, 'null'].flat())], ...values }
}

export const pascal = (name: string) =>
  name.replace(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase())

const mapValues = <T, U>(record: Record<string, T>, change: (value: T, name: string) => U) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))

/** Replaces simplified schemas by the exact ones. */
export function exactly<T>(part: T): T {
  if (Array.isArray(part)) return part.map(exactly) as T
  if (typeof part !== 'object' || !part) return part
  const { 'x-any-of': forms, ...rest } = part as Schema
  if (!forms) {
    const isFree = [rest.type].flat().includes('object') && !rest.properties
    const given = isFree ? { additionalProperties: true, ...rest } : rest
    return mapValues(given as Record<string, unknown>, exactly) as T
  }
  const { description } = rest
  const all = exactly(forms)
  const nullable = [rest.type].flat().includes('null') &&
    !all.some(({ enum: of }) => of?.includes(null))
  const found = all.length === 1 && !nullable
    ? all[0]
    : { anyOf: [...all, ...(nullable ? [{ type: 'null' }] : [])] }
  return { ...found, ...(description && { description }) } as T
}
