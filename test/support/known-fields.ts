/**
 * What an older client sees of a newer version: a field that its description does not have is nothing
 * to it. With NEWER_SCHEMA (npm run test:previous) the tests look at answers and events so; what is
 * missing or of another kind they refuse as ever.
 */
import { variable } from '../../local/config/environment.ts'
import type { Schema } from './openapi.ts'

type Components = Record<string, Schema>

/** A value without the fields that the description does not have, where the schema is newer. */
export const seen = <T>(value: T, schema: Schema, components: Components): T =>
  variable('NEWER_SCHEMA') ? known(value, [schema], components) as T : value

/** A value without the fields that no part of its schemas has. */
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
  // Where nothing is said of its fields, any is known.
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

/** A schema with all that it refers to or is put together of, one level deep into fields. */
function partsOf(schema: Schema, components: Components): Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema
  const meant = $ref ? [components[$ref.split('/').at(-1)!]!] : []
  return [
    schema,
    ...[...meant, ...anyOf, ...oneOf, ...allOf].flatMap((one) => partsOf(one, components)),
  ]
}
