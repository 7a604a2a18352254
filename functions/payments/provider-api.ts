/** Calls to a provider's API, with one time limit and no second try. */
import { Refused, Silent } from './provider.ts'

// fetch repeats a request of its own accord when a kept connection breaks. No charge is made twice.
const freshConnections = Deno.createHttpClient?.({ poolMaxIdlePerHost: 0 })

export const timeLimit = 4000

// deno-lint-ignore no-explicit-any
export type Json = any

export type Answer = { status: number; body: Json }

/** Asks; Silent unless JSON came in time. What the status means is the adapter's to say. */
export async function ask(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
  sent?: unknown,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      client: freshConnections,
      method,
      headers: {
        ...headers,
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: sent === undefined ? undefined : JSON.stringify(sent),
      redirect: 'error',
      signal: AbortSignal.timeout(timeLimit),
    })
    const body = JSON.parse(await response.text())
    if (body === null || typeof body !== 'object') throw new Error('no object')
    return { status: response.status, body }
  } catch (error) {
    // Its text may repeat a name or a number.
    throw new Silent(`no answer from ${new URL(url).host}: ${(error as Error).name}`)
  }
}

/** The body of a success; Refused for a clear no, Silent for what may have been done all the same. */
export function good({ status, body }: Answer): Json {
  if (status >= 200 && status < 300) return body
  const unclear = status >= 500 || [408, 409, 425, 429].includes(status)
  const code = String(body.errors?.[0]?.code ?? '').slice(0, 20)
  throw new (unclear ? Silent : Refused)(`HTTP ${status} ${code}`.trim())
}

const plain = /^-?[0-9]{1,12}(\.[0-9]{1,3}0*)?$/

/** An amount as text with three decimals; null for what is none, or finer than a fils. */
export function threeDecimals(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !plain.test(text)) return null
  const [whole, part = ''] = text.split('.')
  return `${whole}.${part.slice(0, 3).padEnd(3, '0')}`
}

/** A text, or null: numbers are ids that some answers write so. */
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value ? value : typeof value === 'number' ? String(value) : null

/** The id without which an answer is none. */
export function idOf(value: unknown): string {
  const id = text(value)
  if (!id) throw new Silent('an answer without an id')
  return id
}

/** An address to send a person to, or Silent. */
export function address(value: unknown): string {
  if (typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)) return value
  throw new Silent('no address to pay at')
}
