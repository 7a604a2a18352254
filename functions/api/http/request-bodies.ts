// Turns each request body into a component, and states the defaults of its fields in their descriptions.

import { pascal } from './plain-schemas.ts'

type Schema = {
  $ref?: string
  default?: unknown
  description?: string
  items?: Schema
  properties?: Record<string, Schema>
  anyOf?: Schema[]
}
type Operation = {
  operationId: string
  requestBody?: { content: Record<string, { schema: Schema }> }
}
type Described = {
  paths?: object
  components?: { schemas?: object }
}

export function nameBodies({ paths, components }: Described) {
  const schemas = components!.schemas as Record<string, Schema>
  const operations = Object.values(paths!).flatMap((methods) => Object.values<Operation>(methods))
  for (const { operationId, requestBody } of operations) {
    for (const content of Object.values(requestBody?.content ?? {})) {
      if (!content.schema.$ref) {
        const name = `${pascal(operationId)}Body`
        schemas[name] = content.schema
        content.schema = { $ref: `#/components/schemas/${name}` }
      }
      sayDefaults(schemas, content.schema)
    }
  }
}

/**
 * Moves defaults into descriptions, because generators assume that a field with a default is always present.
 */
function sayDefaults(schemas: Record<string, Schema>, schema: Schema) {
  const { $ref, items, properties = {}, anyOf = [] } = schema
  if ($ref) return sayDefaults(schemas, schemas[$ref.split('/').at(-1)!])
  if (schema.default !== undefined) {
    const said = `Without it \`${schema.default}\`.`
    schema.description = schema.description ? `${schema.description} ${said}` : said
    delete schema.default
  }
  for (const one of [...(items ? [items] : []), ...Object.values(properties), ...anyOf]) {
    sayDefaults(schemas, one)
  }
}
