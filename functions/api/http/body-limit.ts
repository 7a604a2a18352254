import { z } from '@hono/zod-openapi'

const small = 8 * 1024
const large = 256 * 1024
/** A route gets the small body limit if none of its strings may be longer than this. */
const short = 400

type Inner = z.core.$ZodTypes

/** Returns the maximum length of the longest string in a schema. Infinity if there is no limit. */
function longestText(schema: z.core.$ZodType): number {
  const { def } = (schema as Inner)._zod
  const longest = (inner: readonly z.core.$ZodType[]) => Math.max(0, ...inner.map(longestText))
  switch (def.type) {
    case 'string': {
      // A string with a pattern or a format counts as short.
      const isFormed = 'format' in def ||
        def.checks?.some(({ _zod }) => _zod.def.check === 'string_format')
      return (schema as z.ZodString).maxLength ?? (isFormed ? short : Infinity)
    }
    case 'object':
      if (def.catchall && (def.catchall as Inner)._zod.def.type !== 'never') return Infinity
      return longest(Object.values(def.shape))
    case 'array':
      return longestText(def.element)
    case 'tuple':
      return longest(def.items)
    case 'union':
      return longest(def.options)
    case 'optional':
    case 'nullable':
    case 'default':
      return longestText(def.innerType)
    case 'pipe':
      // The limit applies to the input. A preprocessing function has the same input as the schema after it.
      return longestText(
        (def.in as Inner)._zod.def.type === 'transform' ? def.out : def.in,
      )
    case 'number':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
    case 'never':
    case 'unknown': // the value is ignored
      return 0
    default:
      return Infinity
  }
}

export const bodyLimitOf = (schema: z.core.$ZodType | undefined) =>
  schema === undefined || longestText(schema) <= short ? small : large
