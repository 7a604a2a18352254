export type Answer = {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** An error response of Auth. `code` is empty for errors from hooks and for unknown paths and methods. */
export class AuthError extends Error {
  readonly status: number
  readonly code: string
  readonly reasons?: string[]

  constructor(
    status: number,
    code: string,
    message: string,
    reasons?: string[],
    cause?: unknown,
  ) {
    super(message, { cause })
    this.status = status
    this.code = code
    this.reasons = reasons
  }
}

/** An error in the format of RFC 6749 (OAuth 2.0). Its status is always 400, and it has no code. */
export class OAuthError extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

export const badRequest = (message: string, code = 'validation_failed') =>
  new AuthError(400, code, message)
export const unprocessable = (code: string, message: string) => new AuthError(422, code, message)
export const forbidden = (code: string, message: string) => new AuthError(403, code, message)
export const internal = (message: string, cause?: unknown) =>
  new AuthError(500, 'unexpected_failure', message, undefined, cause)

const versionName = 'x-supabase-api-version'

export function errorAnswer(error: unknown, version: string | undefined): Answer {
  if (error instanceof OAuthError) {
    return { status: 400, body: { error: error.error, error_description: error.message } }
  }
  const known = error instanceof AuthError
    ? error
    : internal('Unexpected failure, please check server logs for more information', error)
  const versioned = version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) &&
    version >= '2024-01-01'
  const raised = known.cause as { code?: string; message?: string } | undefined
  const status = /^PT(\d{3})$/.exec(raised?.code ?? '')?.[1]
  // If SQL raised PT401, the status is 401, unless the caller sent an API version.
  if (status && !versioned) {
    return { status: Number(status), body: { code: raised!.code, message: raised!.message } }
  }
  const code = known.code || (known.status >= 500 ? 'unexpected_failure' : 'unknown')
  const headers: Record<string, string> = {}
  if (known.code) headers['x-sb-error-code'] = known.code
  if (versioned) headers[versionName] = '2024-01-01'
  const weak = known.reasons ? { weak_password: { reasons: known.reasons } } : {}
  const body = versioned
    ? { code, message: known.message, ...weak }
    : { code: known.status, error_code: code, msg: known.message, ...errorId(known), ...weak }
  return { status: known.status, headers, body }
}

function errorId(error: AuthError) {
  return error.status >= 500 ? { error_id: crypto.randomUUID() } : {}
}
