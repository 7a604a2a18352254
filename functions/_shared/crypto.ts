/** All cryptography of the functions: hashes, one-time codes, sealed secrets, comparison. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as sha256Sync } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type Bytes, bytesOf, fromBase64, toBase64 } from './bytes.ts'
import { env } from './env.ts'

/** What a one-time code is for. */
export type CodePurpose = 'register' | 'reset' | 'delete' | 'change' | 'prove' | 'sudo'

const utf8 = new TextEncoder()

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const limit = 4_294_000_000 // the last multiple of a million below 2^32
  const [number] = crypto.getRandomValues(new Uint32Array(1))
  return number < limit ? String(number % 1_000_000).padStart(6, '0') : newCode()
}

/** A password that nobody knows. */
export const unknownPassword = () => toBase64(crypto.getRandomValues(new Uint8Array(36)))

/** What an administrator sends as X-Proof. */
export const newProof = () => toBase64(crypto.getRandomValues(new Uint8Array(32)))

/** Of what is short, at once and in hex. */
export const sha256OfShort = (text: string): string => bytesToHex(sha256Sync(utf8.encode(text)))

/** By Web Crypto, which is twenty times as fast with more than a few kilobytes. */
export const sha256Bytes = async (data: string | Uint8Array): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(data)))

/** In hex, without a copy of the whole: for what is large and comes in pieces. */
export function sha256OfPieces(pieces: Bytes[]): string {
  const hash = sha256Sync.create()
  for (const piece of pieces) hash.update(piece)
  return bytesToHex(hash.digest())
}

/** In hex. */
export const sha256 = async (data: string | Uint8Array): Promise<string> =>
  bytesToHex(await sha256Bytes(data))

export function hmacSha256(
  key: string | Uint8Array,
  data: string | Uint8Array,
  encoding: 'hex' | 'base64',
): string {
  const digest = hmac(sha256Sync, bytesOf(key), bytesOf(data))
  return encoding === 'hex' ? bytesToHex(digest) : toBase64(digest)
}

/** The first of the words says what it is for, so that none is taken for one of another use. */
const keyed = (...words: string[]) => hmacSha256(env.codeSecret, words.join('\n'), 'hex')

/** A code as the database keeps it: good for this purpose and identifier only. */
export const codeHmac = (purpose: CodePurpose, identifier: string, code: string) =>
  keyed(purpose, identifier, code)

/** Where a request comes from: as rates count it for a while, and hashed for what is kept longer. */
export const addressArgs = (address: string) => ({
  address,
  addressHash: keyed('address', address),
})

const sealKey = crypto.subtle.importKey('raw', env.sealKey, 'AES-GCM', false, [
  'encrypt',
  'decrypt',
])

/** Encrypts a secret for one use, a password for one phone: nobody who reads the table can open it. */
export async function seal(secret: string, use: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: utf8.encode(use) },
    await sealKey,
    utf8.encode(secret),
  )
  return `${toBase64(iv)}.${toBase64(new Uint8Array(sealed))}`
}

/** Opens what seal made for the same use; undefined when the key has changed since. */
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

/** Equality in time that depends on lengths only. */
export function isEqualSecret(a: string, b: string): boolean {
  const [left, right] = [utf8.encode(a), utf8.encode(b)]
  if (left.length !== right.length) return false
  let difference = 0
  for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i]
  return difference === 0
}

/** Whether it is one of the project's secret keys; each is compared, whichever fits. */
export const isSecretKey = (given: string | null) =>
  env.secretKeys.map((key) => isEqualSecret(given ?? '', key)).includes(true)
