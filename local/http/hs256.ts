import { SignJWT } from 'jose'

/** Signs a short-lived HS256 token with these claims, for a server that only our proxy calls. */
export const hs256Token = (secret: string, claims: Record<string, unknown>): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(new TextEncoder().encode(secret))
