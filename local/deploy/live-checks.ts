import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../config/user-error.ts'

/** How long changed Auth settings and deployed functions may take to become effective, in ms. */
const settleTime = 120_000

const ask = (url: string, init: RequestInit = {}) =>
  fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(30_000) })

/** Retries `check` until it returns a value or time is up, because changes do not take effect at once. */
async function retryUntil<T>(check: () => Promise<T | undefined>, time = settleTime) {
  const end = Date.now() + time
  for (;;) {
    const seen = await check().catch(() => undefined)
    if (seen !== undefined) return seen
    if (Date.now() > end) return undefined
    await sleep(Math.min(3000, time / 20))
  }
}

/** Tries to sign in with the publishable key. Auth must reject this for the captcha, not for the password. */
export async function verifyCaptcha(projectUrl: string, key: string, time?: number): Promise<void> {
  let last = 'nothing'
  const refused = await retryUntil(async () => {
    const response = await ask(`${projectUrl}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      headers: { apikey: key, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'nobody has this one' }),
    })
    const body = await response.json().catch(() => ({}))
    last = `${response.status} ${body.error_code ?? body.code ?? ''}`.trim()
    return last === '400 captcha_failed' ? true : undefined
  }, time)
  if (refused) return
  throw new UserError(
    `A sign-in with the public key was answered with ${last} and not refused by the captcha, so ` +
      'strangers can try passwords at Auth. The rate of its tokens stays as it is.',
  )
}

type Seen = { forwarded: string[]; hops: number }

async function seenFrom(url: string, key: string, sent?: string): Promise<Seen | undefined> {
  const response = await ask(url, {
    headers: { apikey: key, ...(sent ? { 'x-forwarded-for': sent } : {}) },
  })
  if (response.status !== 200) return undefined
  const { forwardedFor, hops } = await response.json()
  return { hops, forwarded: String(forwardedFor ?? '').split(',').map((one) => one.trim()) }
}

/** Returns an address from a range reserved for documentation. */
const unusedAddress = () => `203.0.113.${randomInt(1, 255)}`

const fromRight = (list: string[], hops: number) => list.at(-hops)

/**
 * Returns the position of the caller's address in X-Forwarded-For, counted from the right. A forged header
 * does not change the entries that the platform appends, and the first of these is the caller's address.
 */
export async function measureHops(url: string, key: string, chosen?: number): Promise<number> {
  const forgery = unusedAddress()
  const check = async () => {
    const [plain, forged] = [await seenFrom(url, key), await seenFrom(url, key, forgery)]
    return plain && forged ? { plain, forged } : undefined
  }
  const seen = await retryUntil(check)
  if (!seen) throw new UserError(`${url} does not return the address that it saw.`)
  const [plain, forged] = [seen.plain.forwarded, seen.forged.forwarded]
  const own = plain[0]
  const fit = plain.map((_, index) => index + 1).filter((hops) =>
    fromRight(plain, hops) === own && fromRight(forged, hops) === own
  )
  const best = chosen ?? fit[0]
  if (best !== undefined && own && own !== forgery && fit.includes(best)) return best
  throw new UserError(
    chosen === undefined
      ? 'No entry of X-Forwarded-For is the caller whatever the caller sends, so rates cannot be counted.'
      : `CLIENT_IP_HOPS=${chosen} names ${fromRight(forged, chosen) ?? 'nothing'} where a caller ` +
        `sends ${forgery}, and ${fromRight(plain, chosen) ?? 'nothing'} where it does not. ` +
        `Leave it out, or set ${fit[0] ?? 'what you have measured'}.`,
  )
}

/** How long an old worker still gets requests: half of its lifetime plus a margin, in ms. */
const workerTurnover = 300_000

export async function verifyHops(url: string, key: string, hops: number): Promise<void> {
  const counted = await retryUntil(
    async () => (await seenFrom(url, key))?.hops === hops ? true : undefined,
    workerTurnover,
  )
  if (!counted) throw new UserError(`The functions do not use CLIENT_IP_HOPS=${hops} yet.`)
}

/** Runs the jobs once and returns their number. They also create rows that users need from the start. */
export async function runJobs(url: string, key: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { apikey: key },
    redirect: 'manual',
    // A worker lives no longer than this.
    signal: AbortSignal.timeout(150_000),
  }).catch((error: Error) => error)
  if (response instanceof Error) throw new UserError(`${url} did not answer: ${response.message}.`)
  if (response.status !== 200) throw new UserError(`${url} answered ${response.status}.`)
  const outcomes = Object.entries(await response.json() as Record<string, object>)
  const failed = outcomes.filter(([, outcome]) => !('done' in outcome)).map(([name]) => name)
  if (failed.length) throw new UserError(`Failed: ${failed.join(', ')}. See the function's log.`)
  return outcomes.length
}

/** Makes the function `jobs` try changes that Auth must deny to users. Throws if Auth accepts any of them. */
export async function verifyDoors(url: string, key: string): Promise<void> {
  const response = await ask(url, { method: 'POST', headers: { apikey: key } })
  if (response.status !== 200) throw new UserError(`${url} answered ${response.status}.`)
  const { open } = await response.json() as { open: string[] }
  if (!open.length) return
  throw new UserError(
    `Auth changes ${
      open.join(', ')
    } for whoever holds an access token, past the facade and what it counts. ` +
      'Its version may be new: see docs/deploy.md.',
  )
}

type SmokeResult = { health: Record<string, unknown>; answered: string[] }

export async function smokeTest(
  functionsUrl: string,
  apiUrl: string,
  functions: string[],
  secretKey: string,
): Promise<SmokeResult> {
  const questions: Record<string, [url: string, status: number, headers?: HeadersInit]> = {
    api: [`${apiUrl}/meta/enums`, 200],
    jobs: [`${functionsUrl}/jobs/address`, 200, { apikey: secretKey }],
    // If the gateway runs, it responds with 426 to a request without an upgrade.
    chat: [`${functionsUrl}/chat`, 426],
  }
  const answered: string[] = []
  for (const name of functions) {
    const [url, expected, headers] = questions[name] ?? [`${functionsUrl}/${name}`, 200]
    let last = 0
    const well = await retryUntil(async () => {
      const response = await ask(url, { headers })
      await response.body?.cancel()
      last = response.status
      return last === expected ? true : undefined
    })
    if (!well) {
      throw new UserError(`The function ${name} answers ${last} at ${url}, not ${expected}.`)
    }
    answered.push(name)
  }
  const health = await retryUntil(async () => {
    const response = await ask(`${apiUrl}/health`)
    const parts = await response.json()
    return response.status === 200 && parts.database === 'ok' ? parts : undefined
  })
  if (!health) throw new UserError(`${apiUrl}/health does not report that the database is ok.`)
  return { health, answered }
}
