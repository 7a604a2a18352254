/**
 * What the compiler is to say of an app that uses the installed package: this file type-checks, and
 * each `@ts-expect-error` is one that it has to find.
 */
import {
  ApiError,
  type Client,
  isApiError,
  type RouteCode,
  type RouteError,
} from 'kuwait-property-client'

type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false

/** The codes that a call of this route can have, and no others. */
export const ofFavorites: Same<
  RouteCode<'post', '/favorites/{propertyId}'>,
  | 'token_missing'
  | 'token_expired'
  | 'token_invalid'
  | 'account_suspended'
  | 'account_banned'
  | 'identity_not_usable'
  | 'identity_changed'
  | 'property_not_found'
  | 'body_not_json'
  | 'upload_timeout'
  | 'body_too_large'
  | 'content_type_unsupported'
  | 'validation_failed'
  | 'rate_limited'
  | 'internal'
  | 'service_unavailable'
  | 'timeout'
  | 'connection'
  | 'session_changed'
> = true

/** Methods of one path differ. */
export const ofMethods: [
  Same<RouteCode<'get', '/properties/{id}'>, RouteCode<'patch', '/properties/{id}'>>,
  'version_conflict' extends RouteCode<'patch', '/properties/{id}'> ? true : false,
  'version_conflict' extends RouteCode<'get', '/properties/{id}'> ? true : false,
] = [false, true, false]

export async function publish(client: Client, id: string): Promise<string> {
  try {
    await client.post('/properties/{id}/publish', { path: { id } })
    return 'published'
  } catch (error) {
    if (!isApiError<'post', '/properties/{id}/publish'>(error)) throw error
    // Its details are those of the code.
    if (error.code === 'quota_exceeded') return `over ${error.details.limit satisfies number}`
    // @ts-expect-error it answers about no invoice
    if (error.code === 'invoice_already_paid') return 'paid'
    // @ts-expect-error and has details of a quota under that code alone
    return String(error.details.limit satisfies number)
  }
}

/** Every code of a route has its text: one more code, and this does not compile. */
export function textOf(error: RouteError<'get', '/plans'>): string {
  switch (error.code) {
    case 'connection':
      return 'offline'
    case 'token_missing':
    case 'token_expired':
    case 'token_invalid':
    case 'account_suspended':
    case 'account_banned':
    case 'identity_changed':
    case 'session_changed':
      return 'sign in'
    case 'validation_failed':
      return 'wrong'
    case 'rate_limited':
    case 'service_unavailable':
    case 'timeout':
    case 'internal':
      return 'later'
  }
}

export function anyCode(error: unknown): string {
  if (!isApiError(error)) return 'none'
  if (error.code === 'quota_exceeded') return `over ${error.details.limit satisfies number}`
  // @ts-expect-error no code of the service
  if (error.code === 'quota_gone') return 'gone'
  return error.code
}

// @ts-expect-error the route has no such method
export const noMethod = (error: unknown) => isApiError<'put', '/favorites/{propertyId}'>(error)

/** What an app makes itself, as for its tests. */
export const own: RouteError<'get', '/plans'> = new ApiError({ code: 'timeout' })
