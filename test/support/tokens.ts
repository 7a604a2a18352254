import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { variable } from '../../local/config/environment.ts'

type Json = Record<string, unknown>
type Parts = { header: Json; claims: Json }

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const asText = (value: Json | string) => (typeof value === 'string' ? value : JSON.stringify(value))

export function partsOf(token: string): Parts {
  const [header, claims] = token.split('.').slice(0, 2).map((part) =>
    JSON.parse(Buffer.from(part, 'base64url').toString())
  )
  return { header, claims }
}

/** Returns the text to sign. Header and claims may also be text, for values that JSON cannot express. */
const signingInput = (header: Json | string, claims: Json | string) =>
  `${encoded(asText(header))}.${encoded(asText(claims))}`

export function signEs256(header: Json | string, claims: Json | string, key: KeyObject): string {
  const text = signingInput(header, claims)
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${encoded(signature)}`
}

export function signRs256(header: Json, claims: Json, key: KeyObject): string {
  const text = signingInput(header, claims)
  return `${text}.${encoded(sign('sha256', Buffer.from(text), key))}`
}

export function signHs256(header: Json, claims: Json, secret: string | Buffer): string {
  const text = signingInput({ ...header, alg: 'HS256' }, claims)
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

export const unsignedToken = (header: Json, claims: Json) => signingInput(header, claims)

export const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

const stack = variable('LOCAL_STACK')

type Stored = { state: string; jwk: Json & { kid: string } }

/** Returns the key that the embedded stack signs with. */
function projectKey(): { key: KeyObject; kid: string } {
  const stored: Stored[] = JSON.parse(readFileSync(join(stack!, 'signing-keys.json'), 'utf8'))
  const { jwk } = stored.find(({ state }) => state === 'current')!
  return { key: createPrivateKey({ key: jwk as never, format: 'jwk' }), kid: jwk.kid }
}

/** Returns the token with changed claims and a valid signature; undefined removes a claim. */
export function mintToken(token: string, changes: Json | string, header: Json = {}): string {
  const { key, kid } = projectKey()
  const claims = typeof changes === 'string' ? changes : { ...partsOf(token).claims, ...changes }
  return signEs256({ alg: 'ES256', typ: 'JWT', kid, ...header }, claims, key)
}

/** For tests that need the project's signing key, which only the embedded stack reveals. */
export const testWithKey = test.runIf(stack)
if (!stack) {
  console.log('LOCAL_STACK is not set: tests that sign with the project key are left out.')
}
