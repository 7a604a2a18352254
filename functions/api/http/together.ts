// Says what holds for several fields of a body together, below `not`: validators read it, and generators of
// clients, which understand no alternatives, pass over it.

type Value = { enum?: unknown[]; not?: Value }
/** The fields that a body has, with any value or such ones; null for a field that it has not. */
export type Case = Record<string, Value | null>

function described(fields: Case) {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, schema ?? { not: {} }]),
  )
  const required = Object.keys(fields).filter((name) => fields[name])
  return { properties, ...(required.length && { required }) }
}

/** No body is like one of these. */
export const never = (...cases: Case[]) => ({
  not: cases.length > 1 ? { anyOf: cases.map(described) } : described(cases[0]),
})

export const otherThan = (...values: unknown[]) => ({ not: { enum: values } })
