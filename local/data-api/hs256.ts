import { createHmac } from 'node:crypto'

/** A short-lived HS256 token with these claims, for a server that only our gateway calls. */
export function hs256Token(secret: string, claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${
    part({ ...claims, iat: now, exp: now + 60 })
  }`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}
