// Hashes, and a comparison in constant time. This file needs no settings.
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 as sha256Sync } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type Bytes, bytesOf, toBase64 } from './bytes.ts'

const utf8 = new TextEncoder()

export const sha256OfShort = (text: string): string => bytesToHex(sha256Sync(utf8.encode(text)))

/** Hashes with Web Crypto, which is twenty times as fast for anything larger than a few kilobytes. */
export const sha256Bytes = async (data: string | Uint8Array): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(data)))

/** Hashes large content piece by piece, without copying it into one buffer. Returns hex. */
export function sha256OfPieces(pieces: Bytes[]): string {
  const hash = sha256Sync.create()
  for (const piece of pieces) hash.update(piece)
  return bytesToHex(hash.digest())
}

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

export function isEqualSecret(a: string, b: string): boolean {
  const [left, right] = [utf8.encode(a), utf8.encode(b)]
  if (left.length !== right.length) return false
  let difference = 0
  for (let i = 0; i < left.length; i++) difference |= left[i] ^ right[i]
  return difference === 0
}
