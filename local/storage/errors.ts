// What Storage answers when it does not do something. The HTTP status is 400 for nearly everything;
// what it was stands in the body.

export class StorageError extends Error {
  readonly status: number
  readonly body: { statusCode: string; error: string; message: string; code: string }

  constructor(statusCode: number, error: string, message: string, code: string, status = 400) {
    super(message)
    this.status = status
    this.body = { statusCode: String(statusCode), error, message, code }
  }
}

export const noObject = () => new StorageError(404, 'not_found', 'Object not found', 'NoSuchKey')
export const noBucket = () =>
  new StorageError(404, 'Bucket not found', 'Bucket not found', 'NoSuchBucket')
export const denied = (message = 'new row violates row-level security policy') =>
  new StorageError(403, 'Unauthorized', message, 'AccessDenied')
export const exists = () =>
  new StorageError(409, 'Duplicate', 'The resource already exists', 'ResourceAlreadyExists')
export const tooLarge = () =>
  new StorageError(
    413,
    'Payload too large',
    'The object exceeded the maximum allowed size',
    'EntityTooLarge',
  )
export const wrongType = (type: string) =>
  new StorageError(
    415,
    'invalid_mime_type',
    `mime type ${type} is not supported`,
    'InvalidMimeType',
  )
export const badKey = (key: string) =>
  new StorageError(400, 'InvalidKey', `Invalid key: ${key}`, 'InvalidKey')
export const badToken = (message: string) =>
  new StorageError(400, 'InvalidJWT', message, 'InvalidJWT')
export const badSignature = () =>
  new StorageError(400, 'InvalidSignature', 'Invalid signature', 'InvalidSignature')
export const badRequest = (message: string) =>
  new StorageError(400, 'Error', message, 'InvalidRequest')
export const noRoute = () => new StorageError(404, 'Not Found', 'Route not found', 'NotFound', 404)

/** Anything thrown as Storage would answer it; undefined is nothing that anybody foresaw. */
export function errorOf(thrown: unknown): StorageError | undefined {
  if (thrown instanceof StorageError) return thrown
  const { code, table } = thrown as { code?: string; table?: string }
  if (code === '42501') return denied()
  if (code === '23505') return exists()
  if (code === '23503') return table === 'objects' ? noBucket() : badRequest('It is not empty')
  if (code === '57014') {
    return new StorageError(
      544,
      'DatabaseTimeout',
      'The connection to the database timed out',
      'DatabaseTimeout',
      544,
    )
  }
  return undefined
}
