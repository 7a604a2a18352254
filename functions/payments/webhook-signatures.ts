/** Signatures of webhooks: what all providers share. Each has its check in `verify`: tap.ts, myfatoorah.ts, sandbox.ts. */
import { isEqualSecret } from '../_shared/crypto.ts'

/**
 * Whether a signature was made with one of the secrets (two while one replaces the other), in time
 * that says nothing of it.
 */
export const isSignedBy = (
  secrets: string[],
  signature: string,
  sign: (secret: string) => string,
): boolean => secrets.map((secret) => isEqualSecret(signature, sign(secret))).includes(true)

/** The body as JSON; undefined for anything that is no object. */
// deno-lint-ignore no-explicit-any
export function parseObject(raw: Uint8Array): Record<string, any> | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
