// Adds recorded requests and responses of the test suite (docs/examples.json) to the OpenAPI description.

export type Example = {
  /** For example `GET /properties/KW-104233`. */
  request: string
  query?: Record<string, string>
  body?: unknown
  status: number
  answer?: unknown
}
export type Examples = Record<string, Example>

type Media = Record<string, { example?: unknown }>
type Operation = {
  operationId: string
  parameters?: { name?: string; schema?: { type?: string | string[] }; example?: unknown }[]
  requestBody?: { content: Media }
  responses: Record<string, { content?: Media }>
}

/** Sets the example of each operation and removes all others. */
export function setExamples({ paths }: { paths?: object }, examples: Examples) {
  for (const [path, methods] of Object.entries(paths!)) {
    for (const operation of Object.values<Operation>(methods)) {
      const { operationId, parameters = [], requestBody, responses } = operation
      const example = examples[operationId]
      const values = example ? valuesOf(path, example) : {}
      for (const parameter of parameters) {
        const value = values[parameter.name ?? '']
        if (value === undefined) delete parameter.example
        else parameter.example = typed(value, parameter.schema?.type)
      }
      put(requestBody?.content, example?.body)
      for (const [status, { content }] of Object.entries(responses)) {
        put(content, Number(status) === example?.status ? example.answer : undefined)
      }
    }
  }
}

/** Returns the values of the path and query parameters by name. */
export function valuesOf(path: string, { request, query }: Example): Record<string, string> {
  const sent = request.split(' ')[1].split('/')
  const named = path.split('/').flatMap((part, at) =>
    part.startsWith('{') ? [[part.slice(1, -1), decodeURIComponent(sent[at])]] : []
  )
  return { ...Object.fromEntries(named), ...query }
}

export const typed = (value: string, type?: string | string[]) =>
  type === 'integer' || type === 'number'
    ? Number(value)
    : type === 'boolean'
    ? value === 'true'
    : value

function put(content: Media | undefined, example: unknown) {
  const media = content?.['application/json'] ?? content?.['multipart/form-data']
  if (!media) return
  if (example === undefined) delete media.example
  else media.example = example
}
