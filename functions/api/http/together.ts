// Rules about combinations of fields in a body, expressed with `not`. Validators apply them; client
// generators, which do not support alternatives, ignore them.

type Value = { enum?: unknown[]; not?: Value }
/** A combination of fields. Each field is present with a matching value, or absent if its entry is null. */
export type Case = Record<string, Value | null>

function described(fields: Case) {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, schema ?? { not: {} }]),
  )
  const required = Object.keys(fields).filter((name) => fields[name])
  return { properties, ...(required.length && { required }) }
}

/** Forbids bodies that match any of these combinations. */
export const never = (...cases: Case[]) => ({
  not: cases.length > 1 ? { anyOf: cases.map(described) } : described(cases[0]),
})

export const otherThan = (...values: unknown[]) => ({ not: { enum: values } })
