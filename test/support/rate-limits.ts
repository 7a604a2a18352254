/** A refusal by a rate limit, at the facade and at the Data API. */
import { expect } from 'vitest'
import { type Person, projectUrl, publishableKey } from './client.ts'

export const limited = { status: 429, body: { error: { code: 'rate_limited' } } }

/** The Data API as supabase-js calls it. */
export async function callDataApi(person: Person, name: string, body: object, query = '') {
  const response = await fetch(`${projectUrl}/rest/v1/rpc/${name}${query}`, {
    method: 'POST',
    headers: {
      apikey: publishableKey,
      authorization: `Bearer ${person.accessToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** The RateLimit headers of an answer: limit, remaining, reset. */
export const rateLimitOf = ({ headers }: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((what) => {
    const value = headers.get(`ratelimit-${what}`)
    return value === null ? null : Number(value)
  })

/** Refused at the facade with RateLimit headers and Retry-After, and at the Data API. */
export function expectRateLimited(
  atFacade: { status: number; body: unknown; headers: Headers },
  limit: number,
  window: number,
  atDataApi?: { status: number; text: string },
) {
  expect(atFacade).toMatchObject(limited)
  const [most, remaining, reset] = rateLimitOf(atFacade)
  expect([most, remaining]).toEqual([limit, 0])
  // Of an hour or a day about all is left, however slow the test was.
  expect(reset).toBeGreaterThan(window < 3600 ? 0 : window / 2)
  expect(reset).toBeLessThanOrEqual(window)
  expect(atFacade.headers.get('retry-after')).toBe(String(reset))
  if (!atDataApi) return
  expect(atDataApi.status, atDataApi.text).toBe(429)
  expect(JSON.parse(atDataApi.text)).toMatchObject({ code: 'PT429', message: 'rate_limited' })
}
