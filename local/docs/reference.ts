// Writes the API reference as Markdown, from the description in its exact form: a page for each area (tag), and
// an index.
import type { Described } from './collection.ts'
import { type Called, samplesOf } from './samples.ts'
import { printed } from './examples.ts'
import {
  code,
  fieldsOf,
  nameOf,
  type Objects,
  objectsIn,
  type Schema,
  type Schemas,
  table,
  typeOf,
} from './fields.ts'
import { idOf } from './sections.ts'
import { resolveIn } from './validators.ts'

type Media = { schema: Schema; example?: unknown; examples?: object }
type Parameter = {
  name: string
  in: string
  description?: string
  required?: boolean
  schema: Schema
  example?: unknown
}
type Answer = {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, Media>
}
type Operation = Omit<Called, 'parameters' | 'requestBody' | 'responses'> & {
  tags: string[]
  summary: string
  description: string
  deprecated?: boolean
  parameters: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, Media> }
  responses: Record<string, Answer>
}
export type Api = Omit<Described, 'paths' | 'info'> & {
  info: { description: string }
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Schemas
    parameters: Record<string, Parameter>
    responses: Record<string, Answer>
    headers: Record<string, { description: string }>
  }
}

export const reference = 'reference.html'
const fileOf = (area: string) => `reference-${area}.html`

export const referenceFiles = (
  { tags }: Api,
) => [reference, ...tags.map(({ name }) => fileOf(name))]

/** Returns the title and the Markdown of a page, or undefined if there is none with this name. */
export function referencePage(name: string, api: Api): [title: string, text: string] | undefined {
  if (name === reference) return ['API reference', contents(api)]
  const area = api.tags.find((one) => fileOf(one.name) === name)
  return area && [`API reference: ${area.name}`, pageOf(area, api)]
}

/** Returns every operation, with a link to its section. */
export const operationsOf = (api: Api) =>
  Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => {
      const title = `${method.toUpperCase()} ${path}`
      const area = one.tags[0]!
      const link = `${fileOf(area)}#${idOf(title)}`
      return { method, path, area, title, link, operation: resolved(one, api) }
    })
  )

function resolved(operation: Operation, { components }: Api): Operation {
  const resolve = <One extends object>(one: One, all: Record<string, One>) =>
    '$ref' in one ? all[nameOf(one.$ref as string)]! : one
  const { parameters = [], responses } = operation
  return {
    ...operation,
    parameters: parameters.map((one) => resolve(one, components.parameters)),
    responses: Object.fromEntries(
      Object.entries(responses).map((
        [status, one],
      ) => [status, resolve(one, components.responses)]),
    ),
  }
}

function contents(api: Api): string {
  const all = operationsOf(api)
  const areas = api.tags.map(({ name, description }) =>
    `- **[${name}](${fileOf(name)})**: ${description}\n` +
    all.filter(({ area }) => area === name).map(({ title, link, operation }) =>
      `  - [${code(title)}](${link}): ${operation.summary}`
    ).join('\n')
  )
  const headers = Object.values(api.components.parameters)
    .map((
      { name, description, schema },
    ) => [code(name), typeOf(schema, { names: [], schemas: {} }), description ?? ''])
  const answered = all.flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ headers = {} }) => Object.entries(headers))
  )
  const inAnswers = [...new Map(answered)]
    .map(([name, { $ref }]) => [code(name), api.components.headers[nameOf($ref)]!.description])
  return `# API reference

What \`openapi.json\` says, to be read. Its requests and answers were really sent.

## Operations

${areas.join('\n')}

## Headers

${table(['In requests', 'Type', 'What it is'], headers)}

${table(['In answers', 'What it is'], inAnswers)}

## Samples

Those of curl take the address from \`$api\`, the \`accessToken\` of a session from \`$token\`, an administrator's proof
(\`POST /auth/sudo\`) from \`$proof\`, and from \`$key\` a new random id for each thing that is to happen once:

\`\`\`sh
api=${api.servers[0]!.url}
key=$(node -p 'crypto.randomUUID()')
\`\`\`

Those of the client call \`client\`, as [Getting started](index.html) makes it. It keeps the session, and makes the keys itself.

${api.info.description}
`
}

function pageOf({ name, description }: { name: string; description: string }, api: Api): string {
  const operations = operationsOf(api).filter(({ area }) => area === name)
  const schemas = operations.flatMap(({ operation }) => schemasOf(operation))
  const objects = objectsIn(schemas, api.components.schemas)
  const shared = objects.names.map((one) => {
    const schema = objects.schemas[one]!
    return [`### ${one}`, schema.description, fieldsOf(schema, objects)].filter(Boolean).join(
      '\n\n',
    )
  })
  return `# API reference: ${name}

${description} [All areas](${reference}), [what samples take](${reference}#samples).

${operations.map((one) => textOf(one, objects)).join('\n')}
${shared.length ? `## Objects\n\n${shared.join('\n\n')}\n` : ''}`.replace(/\n{3,}/g, '\n\n')
}

function schemasOf({ requestBody, responses }: Operation): Schema[] {
  const answers = Object.entries(responses).filter(([status]) => status < '300')
  return [requestBody, ...answers.map(([, answer]) => answer)]
    .flatMap((part) => Object.values(part?.content ?? {}).map(({ schema }) => schema))
}

type Placed = ReturnType<typeof operationsOf>[number]

function textOf({ method, path, title, operation }: Placed, objects: Objects): string {
  const { summary, description, security, parameters, requestBody, responses, deprecated } =
    operation
  const { curl, client } = samplesOf(method, path, operation)
  const isOpen = security.some((one) => !Object.keys(one).length)
  const token = isOpen ? 'may be sent' : security.length ? 'needed' : 'none'
  const headers = parameters.filter((one) => /^[A-Z]/.test(one.name)).map(({ name }) => code(name))
  const answers = Object.entries(responses).filter(([status]) => status < '400')
  const shown = Object.values(responses).flatMap(({ content = {} }) =>
    content['application/json'] ?? []
  )
    .find(({ example }) => example !== undefined)
  const sample = (name: string, language: string, text?: string) =>
    text ? `**${name}**\n\n\`\`\`${language}\n${text}\n\`\`\`\n` : ''
  return `## ${title}

<div class="operation"><div>

**${summary}**${deprecated ? ' (deprecated)' : ''}

${description}

Token: ${token}. [Headers](${reference}#headers): ${headers.join(', ')}.

${requestOf(parameters, requestBody, objects)}
${answers.map(([status, answer]) => answerOf(status, answer, objects)).join('\n\n')}

**Errors** ([texts](errors.html)): ${errorsOf(responses)}

</div><div class="samples">

${sample('curl', 'sh', curl)}
${sample('Client', 'ts', client)}
${sample('Answer', 'json', shown && printed(shown.example, '', 64))}

</div></div>
`
}

function requestOf(parameters: Parameter[], body: Operation['requestBody'], objects: Objects) {
  const sent = parameters.filter((one) => !/^[A-Z]/.test(one.name))
    .map(({ name, in: place, required, schema, description }) => [
      code(name),
      place,
      typeOf(schema, objects) + (required ? ', required' : ''),
      description ?? schema.description ?? '',
    ])
  const [[type, media] = []] = Object.entries(body?.content ?? {})
  const [name, said, fields] = media ? wholeOf(media.schema, objects, true) : []
  const optional = body?.required ? '' : ', optional'
  const parts = [
    ...(sent.length ? [table(['Parameter', 'In', 'Type', 'What it is'], sent)] : []),
    ...(media ? [`Body, ${code(type)}${optional}${name}. ${said}`.trim(), fields] : []),
  ].filter(Boolean)
  return parts.length ? `**Request**\n\n${parts.join('\n\n')}\n` : ''
}

function answerOf(status: string, { description, content = {} }: Answer, objects: Objects): string {
  const { 'application/json': json, ...others } = content
  const [name = '', , fields] = json ? wholeOf(json.schema, objects, false) : []
  const types = Object.keys(others).map(code).join(', ')
  const more = types && ` ${json ? 'Or' : 'As'} ${types}.`
  return [`**Answer ${status}**${name}: ${description}${more}`, fields].filter(Boolean).join('\n\n')
}

/** Returns a link if the schema has a section of its own, otherwise its description and its fields. */
function wholeOf(schema: Schema, objects: Objects, isSent: boolean) {
  if (schema.$ref && objects.names.includes(nameOf(schema.$ref))) {
    return [`, ${typeOf(schema, objects)}`, '', ''] as const
  }
  const whole = resolveIn(objects.schemas)(schema) as Schema
  return ['', whole.description ?? '', fieldsOf(whole, objects, isSent)] as const
}

const errorsOf = (responses: Operation['responses']) =>
  Object.entries(responses).filter(([status]) => status >= '400').map(([status, { content }]) =>
    `**${status}** ${
      Object.keys(content?.['application/json']?.examples ?? {}).map(code).join(', ')
    }.`
  ).join(' ')
