import { z } from '@hono/zod-openapi'
import { fetchOnce, jsonType, textOf } from '../_shared/outside/http-client.ts'
import { ProviderDeclined, ProviderUnreachable, ProviderUnreadable } from './provider.ts'

export type Answer = { status: number; body: Record<string, unknown> }

/**
 * Throws ProviderUnreachable unless a JSON object arrives in time. Callers must check the status themselves.
 */
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
    const body = JSON.parse(await textOf(response))
    if (body === null || typeof body !== 'object') throw new Error('no object')
    return { status: response.status, body }
  } catch (error) {
    // The error message may contain personal data, such as a name or a phone number.
    throw new ProviderUnreachable(`no answer from ${new URL(url).host}: ${(error as Error).name}`)
  }
}

/** Returns the fields listed in `shape`. Throws ProviderUnreadable if the response does not match. */
export function read<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.output<Shape> {
  const { success, data } = shape.safeParse(answer)
  if (!success) throw new ProviderUnreadable('an answer of another shape')
  return data
}

const plain = /^-?[0-9]{1,12}(\.[0-9]{1,3}0*)?$/

/** Returns an amount with three decimals as text. Null if it is not an amount or has fractions of a fils. */
export function threeDecimals(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !plain.test(text)) return null
  const [whole, part = ''] = text.split('.')
  return `${whole}.${part.slice(0, 3).padEnd(3, '0')}`
}

/** Returns a non-empty string or null. Numbers become strings, because some providers send ids as numbers. */
export const text = (value: unknown): string | null =>
  typeof value === 'string' && value ? value : typeof value === 'number' ? String(value) : null

const value = z.union([z.string().max(500), z.number()])

// Building blocks for the schemas of responses.
export const aText = value.nullish().transform(text)
export const anId = value.transform(text).pipe(z.string())
export const anAmount = value.nullish().transform(threeDecimals)
export const aStatus = z.string().max(500)
export const anAddress = z.url({ protocol: /^https?$/ }).max(4000)

const failure = z.object({ errors: z.tuple([z.object({ code: aText })]).rest(z.unknown()) })

export const errorCodeIn = ({ body }: Answer) => failure.safeParse(body).data?.errors[0].code ?? ''

/**
 * Returns the body of a successful response. Throws ProviderUnreachable if a failed request may still have
 * taken effect, otherwise ProviderDeclined.
 */
export function successBody(answer: Answer): Answer['body'] {
  const { status, body } = answer
  if (status >= 200 && status < 300) return body
  const unclear = status >= 500 || [408, 409, 425, 429].includes(status)
  const code = errorCodeIn(answer).slice(0, 20)
  throw new (unclear ? ProviderUnreachable : ProviderDeclined)(`HTTP ${status} ${code}`.trim())
}
