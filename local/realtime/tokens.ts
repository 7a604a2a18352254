import { errors } from 'jose'
import type { KeyRing } from '../config/signing-keys.ts'
import type { Json } from './frames.ts'

export type Identity = { token?: string; role: string; claims: Json; exp?: number }

/** Why a token is invalid. A rejected join reports the code and the text, a closed channel only the text. */
type TokenProblem = { code: string; text: string }

export async function identify(keys: KeyRing, token: string): Promise<Identity> {
  const claims = await keys.verify(token)
  return { token, role: claims.role!, claims, exp: claims.exp as number }
}

export const expiredSince = (exp: number) =>
  `Token has expired ${Math.max(0, Math.floor(Date.now() / 1000 - exp))} seconds ago`

export function tokenProblem(error: unknown): TokenProblem {
  if (error instanceof errors.JWTExpired) {
    return { code: 'InvalidJWTToken', text: expiredSince(error.payload.exp!) }
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return { code: 'InvalidJWTToken', text: 'Fields `role` and `exp` are required in JWT' }
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return { code: 'MalformedJWT', text: 'The token provided is not a valid JWT' }
  }
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JWKSNoMatchingKey) {
    const text = 'Failed to generate JWT signer, check your JWT secret or JWKS configuration'
    return { code: 'JwtSignerError', text }
  }
  return { code: 'JwtSignatureError', text: 'Failed to validate JWT signature' }
}
