import { fetchOnce, jsonType } from '../_shared/outside/http-client.ts'
import { ProviderDeclined, ProviderUnreachable } from './provider.ts'

// deno-lint-ignore no-explicit-any
export type Json = any

export type Answer = { status: number; body: Json }

/** Throws ProviderUnreachable unless a JSON object arrives in time. The caller interprets the status. */
export async function requestProvider(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
  sent?: unknown,
): Promise<Answer> {
  try {
    const response = await fetchOnce(url, {
      method,
      headers: { ...headers, ...(sent === undefined ? {} : jsonType) },
      body: sent === undefined ? undefined : JSON.stringify(sent),
    })
    const body = JSON.parse(await response.text())
    if (body === null || typeof body !== 'object') throw new Error('no object')
    return { status: response.status, body }
  } catch (error) {
    // The error's text may contain a name or a number.
    throw new ProviderUnreachable(`no answer from ${new URL(url).host}: ${(error as Error).name}`)
  }
}

/** Returns the body of a success; throws ProviderUnreachable if a failed request may have taken effect. */
export function successBody({ status, body }: Answer): Json {
  if (status >= 200 && status < 300) return body
  const unclear = status >= 500 || [408, 409, 425, 429].includes(status)
  const code = String(body.errors?.[0]?.code ?? '').slice(0, 20)
  throw new (unclear ? ProviderUnreachable : ProviderDeclined)(`HTTP ${status} ${code}`.trim())
}

const plain = /^-?[0-9]{1,12}(\.[0-9]{1,3}0*)?$/

/** Returns an amount as text with three decimals; null for other values and for fractions of a fils. */
export function threeDecimals(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !plain.test(text)) return null
  const [whole, part = ''] = text.split('.')
  return `${whole}.${part.slice(0, 3).padEnd(3, '0')}`
}

/** Returns a non-empty text or null; numbers become text, because some providers write ids as numbers. */
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value ? value : typeof value === 'number' ? String(value) : null

export function idOf(value: unknown): string {
  const id = text(value)
  if (!id) throw new ProviderUnreachable('an answer without an id')
  return id
}

export function redirectAddress(value: unknown): string {
  if (typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)) return value
  throw new ProviderUnreachable('no address to pay at')
}
