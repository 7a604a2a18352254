/** Signatures of webhooks. */
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Bytes } from '../_shared/bytes.ts'
import { sameText } from '../_shared/secrets.ts'

const utf8 = new TextEncoder()
const keys = new Map<string, Promise<CryptoKey>>()

const keyOf = (secret: string) => {
  let key = keys.get(secret)
  if (!key) {
    const raw = utf8.encode(secret)
    key = crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    keys.set(secret, key)
  }
  return key
}

const hmac = async (secret: string, signed: Bytes) =>
  new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), signed))

export const hmacHex = async (secret: string, signed: string | Uint8Array) =>
  bytesToHex(await hmac(secret, bytesOf(signed)))

export const hmacBase64 = async (secret: string, signed: string) =>
  btoa(String.fromCharCode(...await hmac(secret, bytesOf(signed))))

export const sha256 = async (of: string | Uint8Array) =>
  bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(of))))

const bytesOf = (value: string | Uint8Array) =>
  (typeof value === 'string' ? utf8.encode(value) : value) as Bytes

/**
 * Whether what came is the signature by one of the secrets (two while one takes the other's place),
 * in time that tells nothing of it.
 */
export async function signedBy(
  secrets: string[],
  given: string,
  make: (secret: string) => Promise<string>,
): Promise<boolean> {
  let right = false
  for (const secret of secrets) {
    const expected = await make(secret)
    if (given.length === expected.length && sameText(given, expected)) right = true
  }
  return right
}

/** The body as JSON; undefined for anything that is no object. */
// deno-lint-ignore no-explicit-any
export function parsed(raw: Uint8Array): Record<string, any> | undefined {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
