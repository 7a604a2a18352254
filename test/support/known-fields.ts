// Drops the fields that this version's OpenAPI description lacks, as an older client ignores them. With
// NEWER_SCHEMA (npm run test:previous) tests read responses and events in this way. Missing or different
// fields are still errors.
import { variable } from '../../local/config/environment.ts'
import type { Schema } from './openapi.ts'

type Components = Record<string, Schema>

export const seen = <T>(value: T, schema: Schema, components: Components): T =>
  variable('NEWER_SCHEMA') ? known(value, [schema], components) as T : value

export function known(value: unknown, schemas: Schema[], components: Components): unknown {
  if (typeof value !== 'object' || value === null) return value
  const parts = schemas.flatMap((one) => partsOf(one, components))
  const inside = (schemas: Schema[], one: unknown) => known(one, schemas, components)
  if (Array.isArray(value)) {
    const items = parts.flatMap((one) => one.items ?? [])
    return value.map((one) => inside(items, one))
  }
  const others = parts.flatMap(({ additionalProperties: more = false }) =>
    more === false ? [] : more
  )
  // A schema without properties allows any field.
  if (!others.length && !parts.some(({ properties }) => properties)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const named = parts.flatMap(({ properties }) => properties?.[name] ?? [])
      const own = named.length ? named : others
      if (!own.length) return []
      return [[name, inside(own.filter((schema) => schema !== true) as Schema[], one)]]
    }),
  )
}

function partsOf(schema: Schema, components: Components): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema
  const meant = $ref ? [components[$ref.split('/').at(-1)!]!] : []
  return [
    schema,
    ...[...meant, ...anyOf, ...oneOf, ...allOf].flatMap((one) => partsOf(one, components)),
  ]
}
