// Part of npm run check: fields, parameters and records are described, unless their names say it all.

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
  /** AsyncAPI has none. */
  paths?: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
  components: { schemas: Record<string, Schema> }
}
type Parameter = { name: string; in: string; description?: string }

/** Names that need no description anywhere. */
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

/** Pages are lists, and bodies belong to an operation that is described. */
const needsNone = /(Page|List|History|Body)$/

/** Missing descriptions: `Record.field`, `operation?parameter` or `Record`. */
export function undescribedFields({ paths = {}, components: { schemas } }: Description): string[] {
  /** A field has a description of its own, or its record has one. */
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
    // Similar values by name, such as a count per status, are described as a whole.
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
