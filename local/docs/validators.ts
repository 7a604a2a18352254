// Validates values by the schemas of a description in its exact form.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  example?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  unevaluatedProperties?: boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

export type Schemas = Record<string, Schema>

export const resolveIn = (schemas: Schemas) => (schema: Schema): Schema =>
  schema.$ref ? resolveIn(schemas)(schemas[schema.$ref.split('/').at(-1)!]!) : schema

/** Returns the schema with unknown properties refused, unless it allows them explicitly. */
function closed(schema: Schema, schemas: Schemas): Schema {
  const copy = { ...schema }
  const inside = (part: Schema) => closed(part, schemas)
  for (const part of ['anyOf', 'oneOf'] as const) copy[part] &&= copy[part].map(inside)
  if (copy.items) copy.items = inside(copy.items)
  if (copy.properties) {
    copy.properties = Object.fromEntries(
      Object.entries(copy.properties).map(([name, one]) => [name, inside(one)]),
    )
    copy.additionalProperties ??= false
  } else if (typeof copy.additionalProperties === 'object') {
    copy.additionalProperties = inside(copy.additionalProperties)
  }
  if (copy.allOf) {
    // Each part lists only its own properties, so only the whole can be closed. If a part narrows a property
    // of another part, its schema for that property is incomplete and stays open.
    const resolve = resolveIn(schemas)
    const others = copy.allOf.filter((one) => one.$ref).map((one) => resolve(one).properties ?? {})
    copy.allOf = copy.allOf.map((one) => {
      const part = inside(resolve(one))
      for (const [name, narrowed] of Object.entries(one.properties ?? {})) {
        if (others.some((known) => name in known)) part.properties![name] = narrowed
      }
      return part.additionalProperties === false
        ? { ...part, additionalProperties: undefined }
        : part
    })
    copy.unevaluatedProperties = false
  }
  return JSON.parse(JSON.stringify(copy))
}

/** Says what is wrong with a value by a schema; nothing if it is undefined. */
export type Validate = (schema: Schema, value: unknown, name?: string) => string | undefined

export function validatorOf(schemas: Schemas): Validate {
  // Unknown keywords (OpenAPI's own) do not constrain a value.
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const all = Object.entries(schemas).map(([name, one]) => [name, closed(one, schemas)])
  ajv.addSchema({ $id: 'api', components: { schemas: Object.fromEntries(all) } })
  const compiled = new Map<Schema, ValidateFunction>()
  const compile = (schema: Schema) => {
    const text = JSON.stringify(closed(schema, schemas))
      .replaceAll('"#/components/', '"api#/components/')
    const made = ajv.compile(JSON.parse(text))
    compiled.set(schema, made)
    return made
  }
  return (schema, value, name = 'body') => {
    const validate = compiled.get(schema) ?? compile(schema)
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: name })
  }
}
