// Shared helpers of the tour: they send requests, print steps, and stop at the first failure.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { waitFor } from '../support/wait.ts'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { variable } from '../../local/config/environment.ts'

// deno-lint-ignore no-explicit-any
export type Json = any
type Answer = { status: number; body: Json }

/** The sender of a request; without a token, a guest. */
export type Asker = { token?: string }

class Wrong extends Error {}

export const { url, inboxUrl, databaseUrl, publishableKey } = project()
let steps = 0

function project() {
  const given = parseArgs({ options: { url: { type: 'string' } } }).values.url
  if (given) {
    return {
      url: given.replace(/\/$/, ''),
      inboxUrl: variable('INBOX_URL'),
      databaseUrl: variable('DATABASE_URL'),
      publishableKey: variable('SUPABASE_PUBLISHABLE_KEY'),
    }
  }
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const file = resolve(root, variable('LOCAL_DATA')!, 'stack.json')
  if (!existsSync(file)) {
    stop('No stack is running here: type npm start in another window, or give --url.')
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

function stop(sentence: string): never {
  console.error(`\n  ✗ ${sentence}`)
  process.exit(1)
}

const leftovers: (() => Promise<void>)[] = []

export function atTheEnd(work: () => Promise<void>) {
  leftovers.push(work)
}

async function clear() {
  for (const work of leftovers.splice(0)) await work()
}

export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 150 ? `${text.slice(0, 147)}…` : text
}

export const me: Asker = {}

export async function ask(
  method: string,
  path: string,
  sent?: unknown,
  { status = 200, as = me }: { status?: number; as?: Asker } = {},
): Promise<Answer> {
  const response = await fetch(`${url}/functions/v1/api${path}`, {
    method,
    headers: {
      ...(as.token && { authorization: `Bearer ${as.token}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
    },
    body: sent === undefined ? undefined : JSON.stringify(sent),
  })
  const text = await response.text()
  const body = text ? JSON.parse(text) : null
  const shown = sent === undefined ? '' : ` ${brief(hidden(sent))}`
  show(`${method} ${decodeURIComponent(path)}${shown}`)
  show(`  ${response.status} ${brief(hidden(summary(body)))}`)
  if (response.status === 429 && status !== 429) throw new Wrong(usedUp(response))
  if (response.status !== status) throw new Wrong(`${status} was to come, not ${response.status}`)
  return { status: response.status, body }
}

export async function upload(path: string, form: FormData, as = me): Promise<Json> {
  const response = await fetch(`${url}/functions/v1/api${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as.token}` },
    body: form,
  })
  const body = await response.json()
  show(`POST ${path} (${[...form.keys()].join(', ')})`)
  show(`  ${response.status} ${brief(body)}`)
  if (response.status !== 201) throw new Wrong(`201 was to come, not ${response.status}`)
  return body
}

export async function download(path: string, as = me): Promise<Buffer> {
  const response = await fetch(`${url}/functions/v1/api${path}`, {
    headers: { authorization: `Bearer ${as.token}` },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  show(`GET ${path}`)
  show(`  ${response.status} ${response.headers.get('content-type')}, ${bytes.length} bytes`)
  if (response.status !== 200) throw new Wrong(`200 was to come, not ${response.status}`)
  return bytes
}

const usedUp = ({ headers }: Response) =>
  'a rate of this address is used up, as by earlier tours: start the stack with RATES=off, or go ' +
  `again in ${headers.get('retry-after')} s`

const secret = /password|token/i

/** Hides passwords and tokens, because other people may see the output. */
function hidden(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, secret.test(key) ? '…' : one]),
  )
}

function summary(body: Json): Json {
  if (Array.isArray(body?.items)) {
    const { items, ...rest } = body
    const names = items.map((item: Json) => item.titleAr ?? item.nameAr ?? item.price ?? item.id)
    return { ...rest, items: items.length, first: names.slice(0, 2) }
  }
  if (body?.refNo) {
    const { refNo, status, titleAr, priceLabel } = body
    return { refNo, status, titleAr, priceLabel }
  }
  return body
}

export function show(line: string) {
  console.log(`     ${line}`)
}

export function must(holds: unknown, sentence: string) {
  if (!holds) throw new Wrong(sentence)
}

export async function step(name: string, work: () => Promise<void>) {
  console.log(`\n${String(++steps).padStart(2)}.  ${name}`)
  try {
    await work()
  } catch (error) {
    await clear()
    if (error instanceof Wrong) stop(`Step ${steps}, ${name}: ${error.message}.`)
    stop(`Step ${steps}, ${name}: ${(error as Error).message}`)
  }
}

export async function finish() {
  await clear()
  console.log(`\n  ✓ ${steps} steps, all as the contract says.`)
}

export async function codeFor(address: string): Promise<string> {
  const message = await waitFor(`a code for ${address}`, async (): Promise<Json | undefined> => {
    const response = await fetch(`${inboxUrl}/messages?to=${encodeURIComponent(address)}`)
    return (await response.json())[0]
  })
  show(`inbox: ${message.body.replaceAll('\n', ' · ')}`)
  return message.code
}
