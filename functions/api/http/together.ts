// Rules about combinations of fields in a body, expressed with `not`. Validators apply them; client
// generators, which do not support alternatives, derive no fields from them.
import { isFull } from './plain-schemas.ts'

type Value = { enum?: unknown[]; not?: Value }
/** A combination of fields. Each field is present with a matching value, or absent if its entry is null. */
export type Case = Record<string, Value | null>

/**
 * Uses `patternProperties` for values: generators turn `properties` into classes, some of which do not
 * compile.
 */
function described(fields: Case) {
  const said = Object.entries(fields)
    .map(([name, schema]) => [`^${name}$`, schema ?? { not: {} }] as const)
    .filter(([, schema]) => isFull(schema))
  const required = Object.keys(fields).filter((name) => fields[name])
  return {
    ...(said.length && { patternProperties: Object.fromEntries(said) }),
    ...(required.length && { required }),
  }
}

/** Forbids bodies that match any of these combinations. */
export const never = (...cases: Case[]) => ({
  not: cases.length > 1 ? { anyOf: cases.map(described) } : described(cases[0]),
})

export const otherThan = (...values: unknown[]) => ({ not: { enum: values } })
