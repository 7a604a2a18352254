// Signs and verifies the tokens of signed URLs, which contain the object, the expiry and the purpose.
import { createHmac } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { badSignature, badToken } from './errors.ts'

/** How long a signed upload URL is valid, in seconds, as on hosted projects. */
export const signedUploadSeconds = 7200

export type Scope = 'download' | 'upload'
export type Signed = { url: string; scope: Scope; owner?: string; upsert?: boolean; exp: number }
export type Signer = ReturnType<typeof openSigner>

export function openSigner(secret: string) {
  const key = createHmac('sha256', secret).update('storage').digest()
  return {
    sign: (claims: Omit<Signed, 'exp'>, seconds: number): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(key),
    verify: async (token: string, url: string, scope: Scope): Promise<Signed> => {
      let claims: Signed
      try {
        claims = (await jwtVerify<Signed>(token, key, { algorithms: ['HS256'] })).payload
      } catch (error) {
        throw badToken((error as Error).message)
      }
      if (claims.scope !== scope) throw badSignature(`Token is not scoped for ${scope}`)
      if (claims.url !== url) throw badSignature()
      return claims
    },
  }
}
