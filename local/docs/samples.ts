// Writes samples that call an operation with its example: with curl, and with our own client.
import { printed } from './examples.ts'

type Media = Record<string, { example?: unknown }>
type Parameter = { name: string; in: string; example?: unknown }
export type Called = {
  security: object[]
  parameters: Parameter[]
  requestBody?: { required?: boolean; content: Media }
  responses: Record<string, { content?: Media }>
}

/** Used for path parameters without an example. */
const someId = '00000000-0000-4000-8000-000000000001'

/** The client has functions of its own for these, because they change the session that it keeps. */
const ofSession: Record<string, string> = {
  '/auth/register': 'register',
  '/auth/register/verify-otp': 'verify',
  '/auth/login': 'signIn',
  '/auth/google': 'signInWithGoogle',
  '/auth/apple': 'signInWithApple',
}

type Samples = { curl?: string; client?: string }

/** Returns no sample if the body has no example, and none of the client for webhooks. */
export function samplesOf(method: string, path: string, operation: Called): Samples {
  const { security, parameters, requestBody, responses } = operation
  const valuesIn = (place: string) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place)
        .map(({ name, example }) => [name, example ?? (place === 'path' ? someId : undefined)])
        .filter(([, value]) => value !== undefined),
    ) as Record<string, string | number | boolean>
  const takes = (header: string) => parameters.some(({ name }) => name === header)
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {}
  if (requestBody?.required && json && json.example === undefined) return {}
  const [, answer] = Object.entries(responses).find(([status]) => status < '300')!
  const call: Call = {
    method: method.toUpperCase(),
    path,
    values: valuesIn('path'),
    query: valuesIn('query'),
    body: json?.example,
    form: form?.example as Form | undefined,
    hasToken: security.length > 0 && security.every((one) => Object.keys(one).length > 0),
    hasKey: takes('Idempotency-Key'),
    hasProof: takes('X-Proof'),
    isList: method === 'get' && takes('cursor'),
    answers: Object.keys(answer?.content ?? {}),
  }
  const isWebhook = path.startsWith('/payments/webhook')
  return { curl: curlOf(call), ...(!isWebhook && { client: clientOf(call) }) }
}

type Form = Record<string, string | string[]>
type Call = {
  method: string
  path: string
  values: Record<string, string | number | boolean>
  query: Record<string, string | number | boolean>
  body: unknown
  form: Form | undefined
  hasToken: boolean
  hasKey: boolean
  hasProof: boolean
  isList: boolean
  answers: string[]
}

const width = 64
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

function curlOf({ method, path, values, query, body, form, answers, ...call }: Call): string {
  const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]!))
  const asked = Object.entries(query)
  const isFile = answers.length > 0 && !answers.includes('application/json')
  return [
    `curl ${asked.length ? '-G ' : method === 'GET' ? '' : `-X ${method} `}"$api${url}"`,
    ...(call.hasToken ? ['-H "authorization: Bearer $token"'] : []),
    ...(call.hasProof ? ['-H "x-proof: $proof"'] : []),
    ...(call.hasKey ? ['-H "idempotency-key: $key"'] : []),
    ...asked.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...Object.entries(form ?? {}).flatMap(([name, given]) =>
      [given].flat().map((value) =>
        `-F ${quoted(`${name}=${/^files?$/.test(name) ? '@' : ''}${value}`)}`
      )
    ),
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json'`, `-d ${quoted(printed(body, '  ', width))}`]),
    ...(isFile ? ['-o file'] : []),
  ].join(' \\\n  ')
}

function clientOf(call: Call): string {
  const { method, path, values, query, body, form, hasProof, isList, answers } = call
  const given = (value: object) => Object.keys(value).length > 0
  if (path === '/auth/refresh') {
    return '// The client renews the session by itself.\nconst token = await client.auth.accessToken()'
  }
  if (path === '/auth/logout') {
    return `await client.auth.signOut(${literal((body as { scope?: string })?.scope)})`
  }
  if (path === '/auth/identity/switch') {
    const { identityId } = body as { identityId: string }
    return `await client.auth.switchIdentity(${literal(identityId)})`
  }
  const own = ofSession[path]
  if (own) return `const answer = await client.auth.${own}(${literal(body, width - 24)})`
  if (form) return uploadOf(path, form)
  const input = {
    ...(given(values) && { path: values }),
    ...(given(query) && { query }),
    ...(body !== undefined && { body }),
    ...(hasProof && { proof: '' }),
  }
  const args = `'${path}'${
    given(input) ? `, ${literal(input, width - path.length).replace(/\bproof: ''/, 'proof')}` : ''
  }`
  if (isList) return `for await (const item of client.list(${args})) {\n  console.log(item)\n}`
  const asked = `await client.${method.toLowerCase()}(${args})`
  return answers.length ? `const answer = ${asked}` : asked
}

function uploadOf(path: string, { file, files = [], ...fields }: Form): string {
  if (file) return 'const answer = await client.upload.avatar(picture)'
  const kind = path.endsWith('documents') ? 'documents' : 'pictures'
  const all = [files].flat().map((_, at) =>
    at ? `${kind.slice(0, -1)}${at + 1}` : kind.slice(0, -1)
  )
  const more = Object.keys(fields).length ? `, ${literal(fields)}` : ''
  return `const answer = await client.upload.${kind}([${all.join(', ')}]${more})`
}

/** Formats a value as TypeScript. */
const literal = (value: unknown, most = width) =>
  value === undefined ? '' : printed(value, '', most).replace(/"([a-z]\w*)":/gi, '$1:').replace(
    /"((?:[^"\\]|\\.)*)"/g,
    (text, inner) => /['\\]/.test(inner) ? text : `'${inner}'`,
  )
