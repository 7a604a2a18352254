// Part of npm run check: every field, parameter and record of the API is described in a sentence, unless
// its name says it all.

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
  /** None in AsyncAPI. */
  paths?: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
  components: { schemas: Record<string, Schema> }
}
type Parameter = { name: string; in: string; description?: string }

/** Names that speak for themselves, wherever they stand. Anything else says what it holds. */
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
  // Ids, of what their name says.
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

/** Pages are lists, and bodies belong to an operation, which is described. */
const needsNone = /(Page|List|History|Body)$/

/** What is not described: `Record.field`, `operation?parameter` or `Record`. */
export function undescribedFields({ paths = {}, components: { schemas } }: Description): string[] {
  /** By itself or by the record that it is. */
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
    // Like values by name, as a count for each status: the whole is described.
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
