import { expect } from 'vitest'

export const limited = { status: 429, body: { error: { code: 'rate_limited' } } }

export const rateLimitOf = ({ headers }: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((what) => {
    const value = headers.get(`ratelimit-${what}`)
    return value === null ? null : Number(value)
  })

export function expectRateLimited(
  atFacade: { status: number; body: unknown; headers: Headers },
  limit: number,
  window: number,
  atDataApi?: { status: number; text: string },
) {
  expect(atFacade).toMatchObject(limited)
  const [most, remaining, reset] = rateLimitOf(atFacade)
  expect([most, remaining]).toEqual([limit, 0])
  // More than half of a window of an hour or a day is left, however slow the test was.
  expect(reset).toBeGreaterThan(window < 3600 ? 0 : window / 2)
  expect(reset).toBeLessThanOrEqual(window)
  expect(atFacade.headers.get('retry-after')).toBe(String(reset))
  if (!atDataApi) return
  expect(atDataApi.status, atDataApi.text).toBe(429)
  expect(JSON.parse(atDataApi.text)).toMatchObject({ code: 'PT429', message: 'rate_limited' })
}
