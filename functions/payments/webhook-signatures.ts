import { isEqualSecret } from '../_shared/input/hashes.ts'

/** Compares with every secret (there are two during a rotation), in constant time. */
export const isSignedBy = (
  secrets: string[],
  signature: string,
  sign: (secret: string) => string,
): boolean => secrets.map((secret) => isEqualSecret(signature, sign(secret))).includes(true)

// deno-lint-ignore no-explicit-any
export type Json = any

export function parseObject(raw: Uint8Array): Record<string, Json> | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
