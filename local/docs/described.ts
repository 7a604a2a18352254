// Finds the objects in the descriptions of the API and its events. shown.ts compares the pages with them.

export type Schema = {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  'x-details'?: Record<string, string[]>
}
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Content = { content?: Record<string, { schema: Schema }> }
type Operation = {
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: Content
  responses: Record<string, Content>
}
type Components = { components: { schemas: Record<string, Schema> } }
export type Api = Components & { paths: Record<string, Record<string, Operation>> }
export type Events = Components & {
  channels: Record<string, { messages: Record<string, { name: string; payload: Schema }> }>
}

export type Resolve = (schema: Schema) => Schema
export type Route = { method: string; path: string; objects: Schema[] }
export type Message = { name: string; objects: Schema[] }
export type Described = {
  resolve: Resolve
  routes: Route[]
  messages: Message[]
  problem: Schema
  /** All described objects. Objects inside Problem are left out: apps never receive them on their own. */
  everything: Schema[]
}

/** Replaces all parameters of a path with {}, so that their names do not matter. */
export const nameOf = (path: string) => path.replace(/:\w+|\{\w*\}/g, '{}')

export function described(api: Api, events: Events): Described {
  const resolve: Resolve = (schema) => {
    const name = schema.$ref?.split('/').at(-1)
    if (!name) return schema
    return api.components.schemas[name] ?? events.components.schemas[name]!
  }
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: nameOf(path),
      objects: schemasOf(operation).flatMap((schema) => objectsIn(resolve, schema)),
    }))
  )
  const messages = Object.values(events.channels).flatMap(({ messages }) => Object.values(messages))
    .map(({ name, payload }) => ({ name, objects: objectsIn(resolve, payload) }))
  const problem = resolve({ $ref: '#/components/schemas/Problem' })
  const everything = [problem, ...[...routes, ...messages].flatMap(({ objects }) => objects)]
  return { resolve, routes, messages, problem, everything }
}

function schemasOf({ parameters = [], requestBody, responses }: Operation): Schema[] {
  const query = parameters.filter((one) => 'in' in one && one.in === 'query') as Parameter[]
  const answers = Object.entries(responses).filter(([status]) => status < '300')
  return [
    {
      properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
      required: query.filter(({ required }) => required).map(({ name }) => name),
    },
    ...[requestBody, ...answers.map(([, answer]) => answer)]
      .flatMap((part) => Object.values(part?.content ?? {}).map(({ schema }) => schema)),
  ]
}

/** Returns all objects in a schema: the schema itself, and those in its fields, items and alternatives. */
function objectsIn(resolve: Resolve, schema: Schema, seen = new Set<Schema>()): Schema[] {
  const one = resolve(schema)
  if (seen.has(one)) return []
  seen.add(one)
  const { properties = {}, items, anyOf = [], additionalProperties: values } = one
  const inside = [
    ...Object.values(properties),
    ...anyOf,
    ...(items ? [items] : []),
    ...(typeof values === 'object' ? [values] : []),
  ]
  return [
    ...(one.properties ? [one] : []),
    ...inside.flatMap((part) => objectsIn(resolve, part, seen)),
  ]
}

/** Returns the alternatives of a schema. For a list, returns the alternatives of its items. */
export function kindsOf(resolve: Resolve, schema: Schema): Schema[] {
  const one = resolve(schema)
  const inside = one.items ? [one.items] : one.anyOf
  return inside ? inside.flatMap((part) => kindsOf(resolve, part)) : [one]
}
