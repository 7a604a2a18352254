// Response headers are collected in a plain record, because adding to a Headers object takes longer than the
// rest of the response.
import type { ApiContext } from '../../_shared/caller/context.ts'
import { jsonHeaders } from '../../_shared/errors/error-body.ts'
import { sha256 } from '../../_shared/input/hashes.ts'

/** For data that changes only with a release or a migration. */
export const rarelyChanged = 'max-age=300, s-maxage=86400'
/** For data that changes slowly or may be slightly out of date. */
export const slowlyChanged = 's-maxage=60, stale-while-revalidate=300'

/** Sends JSON exactly as Postgres wrote it. Tests validate it against the schema of the route. */
export function send(c: ApiContext, text: string, status = 200) {
  const headers = c.get('headers')
  const cache = c.get('cache')
  if (cache && status === 200) headers['Cache-Control'] = cache
  headers['Content-Type'] = jsonHeaders['Content-Type']
  // The type of the route expects a value, but parsing the text only for that would be wasted work.
  return new Response(text, { status, headers }) as never
}

export const sendNothing = (c: ApiContext) =>
  new Response(null, { status: 204, headers: c.get('headers') }) as never

export const sendPage = (c: ApiContext, html: unknown, more: Record<string, string> = {}) =>
  new Response(String(html), {
    headers: { ...c.get('headers'), 'Content-Type': 'text/html; charset=UTF-8', ...more },
  })

export async function sendTagged(c: ApiContext, text: string) {
  const cache = c.get('cache')
  if (!cache) return send(c, text)
  const headers = c.get('headers')
  const tag = `"${(await sha256(text)).slice(0, 32)}"`
  headers.ETag = tag
  const known = c.req.header('if-none-match')?.split(',') ?? []
  if (!known.some((entry) => ['*', tag].includes(entry.trim().replace(/^W\//, '')))) {
    return send(c, text)
  }
  headers['Cache-Control'] = cache
  return new Response(null, { status: 304, headers }) as never
}
