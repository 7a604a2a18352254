// Runs the reference's samples against a server that records requests: each must send its example.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { root } from '../config/settings.ts'
import { describe } from './openapi.ts'
import { type Api, operationsOf } from './reference.ts'
import { samplesOf } from './samples.ts'

const run = promisify(execFile)
const api: Api = exactly(JSON.parse(describe()))
const operations = operationsOf(api).map((one) => ({
  ...one,
  ...samplesOf(one.method, one.path, one.operation),
}))
const folder = mkdtempSync(join(tmpdir(), 'samples-'))

type Sent = { request: string; query: object; body: unknown; headers: Record<string, unknown> }
const seen: Sent[] = []
/** The next answer of the server. */
let next: { status: number; body?: string } = { status: 204 }

const server = createServer(async (request, response) => {
  seen.push(await readSent(request))
  response.writeHead(next.status, { 'content-type': 'application/json' }).end(next.body)
})

async function readSent(request: IncomingMessage): Promise<Sent> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const text = Buffer.concat(parts).toString()
  const { pathname, searchParams } = new URL(request.url!, 'http://api')
  const { authorization, 'x-proof': proof, 'idempotency-key': key, 'content-type': type } =
    request.headers
  return {
    request: `${request.method} ${decodeURIComponent(pathname.replace('/functions/v1/api', ''))}`,
    query: Object.fromEntries(searchParams),
    body: type === 'application/json' ? JSON.parse(text) : type && formIn(text),
    headers: { authorization, proof, key: Boolean(key) },
  }
}

/** Returns the fields of a form as `name=value`, and files as `name`. */
const formIn = (text: string) =>
  [...text.matchAll(/ name="(\w+)"(; filename)?[^]*?\r\n\r\n([^]*?)\r\n--/g)]
    .map(([, name, isFile, value]) => isFile ? name : `${name}=${value}`)

let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** Returns the request of an operation's example, without headers. */
function exampleOf(
  { method, path, operation }: (typeof operations)[number],
): Omit<Sent, 'headers'> {
  const given = (place: string) =>
    operation.parameters.filter((one) => one.in === place && one.example !== undefined)
      .map(({ name, example }) => [name, String(example)] as const)
  const values = new Map(given('path'))
  const { 'application/json': json, 'multipart/form-data': form } =
    operation.requestBody?.content ?? {}
  const fields = Object.entries(form?.example as object ?? {}).flatMap(([name, value]) =>
    /^files?$/.test(name) ? [value].flat().map(() => name) : [`${name}=${value}`]
  )
  return {
    request: `${method.toUpperCase()} ` +
      path.replace(
        /\{(\w+)\}/g,
        (_, name) => values.get(name) ?? '00000000-0000-4000-8000-000000000001',
      ),
    query: Object.fromEntries(given('query')),
    body: json ? json.example : form ? fields : undefined,
  }
}

function headersOf({ operation: { security, parameters } }: (typeof operations)[number]) {
  const takes = (header: string) => parameters.some(({ name }) => name === header)
  const isNeeded = security.length > 0 && !JSON.stringify(security).includes('{}')
  return {
    authorization: isNeeded ? 'Bearer token' : undefined,
    proof: takes('X-Proof') ? 'proof' : undefined,
    key: takes('Idempotency-Key'),
  }
}

test('only what has no example has no sample', () => {
  const without = operations.filter(({ curl }) => !curl).map(({ operation }) => operation)
  for (const { requestBody } of without) {
    expect(requestBody!.content['application/json']).not.toHaveProperty('example')
  }
  expect(without.length).toBeLessThan(5)
  expect(operations.filter(({ curl, client }) => curl && !client).map(({ path }) => path))
    .toEqual(['/payments/webhook', '/payments/webhook/{provider}'])
})

test('curl sends the example with what is needed', async () => {
  for (const name of ['picture.jpg', '2026.pdf']) writeFileSync(join(folder, name), 'x')
  const env = {
    ...process.env,
    api: `${url}/functions/v1/api`,
    token: 'token',
    proof: 'proof',
    key: 'key',
  }
  next = { status: 204 }
  seen.length = 0
  const shown = operations.filter(({ curl }) => curl)
  await run('sh', ['-ec', shown.map(({ curl }) => curl).join('\n')], { cwd: folder, env })
  expect(seen).toEqual(shown.map((one) => ({ ...exampleOf(one), headers: headersOf(one) })))
})

const AsyncFunction = (async () => {}).constructor as FunctionConstructor

test('the client sends the example', async () => {
  const client = createClient({ url, accessToken: () => 'token' })
  const picture = new File(['x'], 'picture.jpg')
  const given = { client, proof: 'proof', picture, picture2: picture, document: picture }
  // Only a stored session would make the client refresh.
  for (const one of operations.filter(({ client, path }) => client && path !== '/auth/refresh')) {
    const [status] = Object.keys(one.operation.responses)
    const media = one.operation.responses[status!]!.content?.['application/json']
    const answer = media?.example as Record<string, unknown> | undefined
    // Without this, the client would ask for the next page of a list.
    const body = media && JSON.stringify({ ...answer, nextCursor: null })
    next = { status: Number(status), ...(body && { body }) }
    seen.length = 0
    const code = one.client!.replace('console.log(item)', '')
    await new AsyncFunction(...Object.keys(given), code)(...Object.values(given))
    const { authorization: _, ...headers } = headersOf(one)
    expect(seen, one.title).toMatchObject([{ ...exampleOf(one), headers }])
  }
})

test('every sample of the client is right by its types', async () => {
  const blocks = operations.map(({ client }) => `{\n${client ?? ''}\n}`).join('\n')
  writeFileSync(
    join(folder, 'samples.ts'),
    `import type { Client } from '${join(root, 'client/src/index.ts')}'
    declare const client: Client, proof: string, picture: File, picture2: File, document: File
    ${blocks}`,
  )
  const config = { extends: join(root, 'client/tsconfig.json'), include: [], files: ['samples.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const tsc = join(root, 'node_modules/typescript7/bin/tsc')
  const said = await run(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    ({ stdout }) => String(stdout),
  )
  expect(said).toBe('')
})
