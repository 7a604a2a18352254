import { fromBase64, toBase64 } from '../input/bytes.ts'
import { hmacSha256, isEqualSecret } from '../input/hashes.ts'
import { env } from '../settings/env.ts'

export type CodePurpose = 'register' | 'reset' | 'delete' | 'change' | 'prove' | 'sudo'

const utf8 = new TextEncoder()

/** Returns a random six-digit code. All codes are equally likely. */
export function newCode(): string {
  const limit = 4_294_000_000 // the last multiple of a million below 2^32
  const [number] = crypto.getRandomValues(new Uint32Array(1))
  return number < limit ? String(number % 1_000_000).padStart(6, '0') : newCode()
}

export const unknownPassword = () => toBase64(crypto.getRandomValues(new Uint8Array(36)))

export const newProof = () => toBase64(crypto.getRandomValues(new Uint8Array(32)))

/** The first word names the purpose, so that a code for one purpose is not valid for another. */
const keyed = (...words: string[]) => hmacSha256(env.codeSecret, words.join('\n'), 'hex')

export const codeHmac = (purpose: CodePurpose, identifier: string, code: string) =>
  keyed(purpose, identifier, code)

/** The hash by which we recognise the phone or email of an account that was banned and then deleted. */
export const bannedHash = (identifier: string) => keyed('banned', identifier)

/**
 * The client address for the database: in plain text for rate limits, which are deleted soon, and hashed for
 * longer storage.
 */
export const addressArgs = (address: string) => ({
  address,
  addressHash: keyed('address', address),
})

const sealKey = crypto.subtle.importKey('raw', env.sealKey, 'AES-GCM', false, [
  'encrypt',
  'decrypt',
])

/** Encrypts a secret for one purpose, so that read access to the table does not reveal it. */
export async function seal(secret: string, use: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: utf8.encode(use) },
    await sealKey,
    utf8.encode(secret),
  )
  return `${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`
}

/**
 * Decrypts a value that was encrypted for the same purpose. Returns undefined if the key has changed since.
 */
export async function unseal(sealed: string, use: string): Promise<string | undefined> {
  const [iv, text] = sealed.split('.').map(fromBase64)
  try {
    const opened = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv, additionalData: utf8.encode(use) },
      await sealKey,
      text,
    )
    return new TextDecoder().decode(opened)
  } catch {
    return undefined
  }
}

/** Compares with every secret key, even after a match, so that the response time reveals nothing. */
export const isSecretKey = (given: string | null) =>
  env.secretKeys.map((key) => isEqualSecret(given ?? '', key)).includes(true)
