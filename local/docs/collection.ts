// Turns the OpenAPI description into a collection for Postman and Bruno (Postman's format 2.1). There is a
// folder for each area, with the example of each operation as a request and a saved response.

type Media = Record<string, { example?: unknown }>
type Operation = {
  tags: string[]
  summary: string
  description: string
  security: object[]
  parameters?: { $ref?: string; name?: string; in?: string; example?: unknown }[]
  requestBody?: { content: Media }
  responses: Record<string, { content?: Media }>
}
export type Described = {
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
}

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Header parameters of operations. The value is a variable of the collection, or new for each request. */
const headers: Record<string, [name: string, value: string]> = {
  Proof: ['X-Proof', '{{proof}}'],
  IdempotencyKey: ['Idempotency-Key', '{{$guid}}'],
}

export function collectionOf({ info, servers, tags, paths }: Described): object {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  )
  return {
    info: { name: info.title, version: info.version, schema },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{accessToken}}', type: 'string' }] },
    variable: [
      { key: 'api', value: servers[0]!.url },
      { key: 'accessToken', value: '' },
      { key: 'proof', value: '' },
    ],
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: operations.filter(({ operation }) => operation.tags[0] === name).map(itemOf),
    })),
  }
}

type Item = { method: string; path: string; operation: Operation }

function itemOf({ method, path, operation }: Item) {
  const { summary, description, security, parameters = [], requestBody, responses } = operation
  const values = (place: string) =>
    parameters.filter((one) => one.in === place && (place === 'path' || one.example !== undefined))
      .map(({ name, example }) => ({ key: name!, value: String(example ?? '') }))
  const steps = path.slice(1).replace(/\{(\w+)\}/g, ':$1').split('/')
  const [query, variable] = [values('query'), values('path')]
  const asked = query.map(({ key, value }) => `${key}=${encodeURIComponent(value)}`).join('&')
  const request = {
    method: method.toUpperCase(),
    description: `${summary}. ${description}`,
    ...(security.length === 0 && { auth: { type: 'noauth' } }),
    header: parameters.flatMap(({ $ref = '' }) => {
      const [key, value] = headers[$ref.split('/').at(-1)!] ?? []
      return key ? [{ key, value }] : []
    }),
    url: {
      raw: `{{api}}/${steps.join('/')}${asked && `?${asked}`}`,
      host: ['{{api}}'],
      path: steps,
      ...(query.length && { query }),
      ...(variable.length && { variable }),
    },
    ...bodyOf(requestBody?.content),
  }
  const [status, answer] = Object.entries(responses)
    .find(([status, { content }]) => status < '300' && content?.['application/json']?.example) ?? []
  return {
    name: `${method.toUpperCase()} ${path}`,
    request,
    response: status
      ? [{
        name: status,
        code: Number(status),
        originalRequest: request,
        header: [{ key: 'Content-Type', value: 'application/json; charset=utf-8' }],
        body: json(answer!.content!['application/json']!.example),
      }]
      : [],
  }
}

const json = (value: unknown) => JSON.stringify(value, null, 2)

function bodyOf(content: Media = {}) {
  const [form, body] = [content['multipart/form-data'], content['application/json']?.example]
  if (form) {
    const formdata = Object.entries(form.example ?? {}).map(([key, value]) =>
      /^files?$/.test(key)
        ? { key, type: 'file', src: [] }
        : { key, type: 'text', value: String(value) }
    )
    return { body: { mode: 'formdata', formdata } }
  }
  if (body === undefined) return {}
  return { body: { mode: 'raw', raw: json(body), options: { raw: { language: 'json' } } } }
}
