import { AuthError } from './errors.ts'

type Bucket = { tokens: number; at: number }

/** Auth's rate limits per client address: the tokens that a bucket of up to `burst` gains in five minutes. */
const perFiveMinutes: Record<string, number> = {
  '/token': 150,
  '/verify': 30,
  '/otp': 30,
  '/magiclink': 30,
  '/recover': 30,
  '/resend': 30,
  '/signup': 30,
  'PUT /user': 30,
}
const burst = 30

export function openRates(on: boolean) {
  const buckets = new Map<string, Bucket>()
  return (method: string, path: string, ip: string): void => {
    const rule = method === 'PUT' ? `PUT ${path}` : path
    const limit = perFiveMinutes[rule]
    if (!on || limit === undefined) return
    const now = Date.now()
    const bucket = buckets.get(`${rule} ${ip}`) ?? { tokens: burst, at: now }
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / 300_000 * limit)
    bucket.at = now
    if (buckets.size > 10_000) {
      // A bucket that was unused for five minutes is full again, so it need not be kept.
      for (const [name, { at }] of buckets) if (now - at > 300_000) buckets.delete(name)
    }
    buckets.set(`${rule} ${ip}`, bucket)
    if (bucket.tokens < 1) {
      throw new AuthError(429, 'over_request_rate_limit', 'Request rate limit reached')
    }
    bucket.tokens -= 1
  }
}
