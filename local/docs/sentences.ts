// Part of npm run check. Checks that every field, parameter and record (a named schema) has a description,
// unless its name explains it.

export type Schema = {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
}
export type Description = {
  /** An AsyncAPI description has no paths. */
  paths?: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
  components: { schemas: Record<string, Schema> }
}
type Parameter = { name: string; in: string; description?: string }

/** Fields and parameters with these names never need a description. */
const plain = new Set([
  'id',
  'items',
  'createdAt',
  'memberSince',
  'currency',
  'event',
  'tokenType',
  'platform',
  'provider',
  'total',
  'fullName',
  'nameAr',
  'nameEn',
  'titleAr',
  'titleEn',
  'descriptionAr',
  'descriptionEn',
  'bedrooms',
  'bathrooms',
  'accountId',
  'conversationId',
  'deviceId',
  'identityId',
  'invoiceId',
  'mediaId',
  'notificationId',
  'paymentId',
  'planId',
  'propertyId',
  'userId',
])

/** Schemas that need no description: pages, lists, and bodies, which the operation's description covers. */
const needsNone = /(Page|List|History|Body)$/

/** Returns everything without a description, as `Record.field`, `operation?parameter` or `Record`. */
export function undescribedFields({ paths = {}, components: { schemas } }: Description): string[] {
  /** Whether a field has its own description or refers to a record that has one. */
  const isDescribed = ({ $ref, description, items, anyOf = [], allOf = [] }: Schema): boolean =>
    description !== undefined ||
    [
      ...($ref ? [schemas[$ref.split('/').at(-1)!]!] : []),
      ...(items ? [items] : []),
      ...anyOf,
      ...allOf,
    ]
      .some(isDescribed)

  const fieldsIn = (schema: Schema, path: string): string[] => {
    const { properties = {}, additionalProperties, items, anyOf = [], allOf = [] } = schema
    const inside = [...anyOf, ...allOf, items, additionalProperties]
      .flatMap((part) => typeof part === 'object' ? fieldsIn(part, path) : [])
    const fields = Object.entries(properties)
    // If all fields have the same schema, such as a count per status, they need no descriptions.
    const alike = new Set(fields.map(([, field]) => JSON.stringify(field))).size === 1
    if (alike && fields.length > 2) return [...inside, ...fieldsIn(fields[0]![1], path)]
    return [
      ...inside,
      ...fields.flatMap(([name, field]) => [
        ...(plain.has(name) || isDescribed(field) ? [] : [`${path}.${name}`]),
        ...fieldsIn(field, `${path}.${name}`),
      ]),
    ]
  }

  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      ...(schema.description === undefined && !needsNone.test(name) ? [name] : []),
      ...fieldsIn(schema, name),
    ]),
    ...operations.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ name, description }) => name && description === undefined && !plain.has(name))
        .map(({ name }) => `${operationId}?${name}`)
    ),
  ]
}
