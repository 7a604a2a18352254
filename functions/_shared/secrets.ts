/** One-time codes and sealed passwords: what only the functions can make and read. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { env } from './env.ts'

/** What a one-time code is for. */
export type Purpose = 'register' | 'reset' | 'delete'

const utf8 = new TextEncoder()

const codeKey = crypto.subtle.importKey(
  'raw',
  env.codeSecret,
  { name: 'HMAC', hash: 'SHA-256' },
  false,
  ['sign'],
)
const sealKey = crypto.subtle.importKey('raw', env.sealKey, 'AES-GCM', false, [
  'encrypt',
  'decrypt',
])

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const limit = 4_294_000_000 // the last multiple of a million below 2^32
  const [number] = crypto.getRandomValues(new Uint32Array(1))
  return number < limit ? String(number % 1_000_000).padStart(6, '0') : newCode()
}

/** Hex. The first of the words says what it is for, so that none is taken for one of another use. */
async function hmac(...words: string[]): Promise<string> {
  const text = utf8.encode(words.join('\n'))
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', await codeKey, text))
  return bytesToHex(digest)
}

/** A code as the database keeps it: good for this purpose and identifier only. */
export const codeHmac = (purpose: Purpose, identifier: string, code: string) =>
  hmac(purpose, identifier, code)

/** Where a request comes from: as rates count it for a while, and hashed for what is kept longer. */
export const origin = async (address: string) => ({
  address,
  addressHash: await hmac('address', address),
})

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes))
const unbase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0))

/** Encrypts a secret for one use, a password for one phone: nobody who reads the table can open it. */
export async function seal(secret: string, use: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: utf8.encode(use) },
    await sealKey,
    utf8.encode(secret),
  )
  return `${base64(iv)}.${base64(new Uint8Array(sealed))}`
}

/** Opens what seal made for the same use; undefined when the key has changed since. */
export async function unseal(sealed: string, use: string): Promise<string | undefined> {
  const [iv, text] = sealed.split('.').map(unbase64)
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
export function sameText(a: string, b: string): boolean {
  const [left, right] = [utf8.encode(a), utf8.encode(b)]
  let difference = left.length ^ right.length
  for (let i = 0; i < left.length; i++) difference |= left[i] ^ (right[i % right.length] ?? 0)
  return difference === 0
}

/** Whether it is one of the project's secret keys; each is compared, whichever fits. */
export const isSecretKey = (given: string | null) =>
  env.secretKeys.map((key) => sameText(given ?? '', key)).includes(true)

/** A password that nobody knows. */
export const unknownPassword = () => base64(crypto.getRandomValues(new Uint8Array(36)))
