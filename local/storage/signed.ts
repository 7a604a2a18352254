// Addresses that are good for a while: a token of Storage's own names the object and the end.
import { createHmac } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { badSignature, badToken } from './errors.ts'

export type Signer = ReturnType<typeof openSigner>
export type Signed = { url: string; owner?: string; upsert?: boolean; upload?: boolean }

export function openSigner(secret: string) {
  const key = createHmac('sha256', secret).update('storage').digest()
  return {
    sign: (claims: Signed, seconds: number): Promise<string> =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(key),
    /** The claims of a token for exactly this object and this purpose. */
    verify: async (token: string, url: string, upload: boolean): Promise<Signed> => {
      let claims: Signed
      try {
        claims = (await jwtVerify<Signed>(token, key, { algorithms: ['HS256'] })).payload
      } catch (error) {
        throw badToken(`jwt ${(error as Error).message}`)
      }
      if (claims.url !== url || Boolean(claims.upload) !== upload) throw badSignature()
      return claims
    },
  }
}
