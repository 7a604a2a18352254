// The error responses of Storage. Nearly all have HTTP status 400, with the actual status in the body.

type Body = Record<string, string | number>

export class StorageError extends Error {
  readonly status: number
  readonly body: Body

  constructor(status: number, body: Body & { message: string }) {
    super(body.message)
    this.status = status
    this.body = body
  }
}

const storageError = (
  statusCode: number,
  code: string,
  message: string,
  { error = code, status = 400 }: { error?: string; status?: number } = {},
) => new StorageError(status, { statusCode: String(statusCode), error, message, code })

export const noObject = () =>
  storageError(404, 'NoSuchKey', 'Object not found', { error: 'not_found' })
export const noBucket = () =>
  storageError(404, 'NoSuchBucket', 'Bucket not found', { error: 'Bucket not found' })
const notRelated = () => storageError(404, 'InvalidRequest', 'The related resource does not exist')
export const denied = (message = 'new row violates row-level security policy', status = 400) =>
  storageError(403, 'AccessDenied', message, { error: 'Unauthorized', status })
export const exists = (code = 'ResourceAlreadyExists') =>
  storageError(409, code, 'The resource already exists', { error: 'Duplicate' })
export const notEmpty = () =>
  storageError(409, 'ResourceNotEmpty', 'The bucket you tried to delete is not empty')
export const tooLarge = () =>
  storageError(413, 'EntityTooLarge', 'The object exceeded the maximum allowed size', {
    error: 'Payload too large',
  })
export const wrongType = (message: string) =>
  storageError(415, 'InvalidMimeType', message, { error: 'invalid_mime_type' })
export const badKey = (key: string) => storageError(400, 'InvalidKey', `Invalid key: ${key}`)
export const badBucketName = () =>
  storageError(400, 'InvalidBucketName', 'Bucket name invalid', { error: 'Invalid Input' })
export const badToken = (message: string) => storageError(400, 'InvalidJWT', message)
export const badSignature = (message = 'Invalid signature') =>
  storageError(400, 'InvalidSignature', message)
export const badRange = () =>
  storageError(416, 'InvalidRange', 'invalid range provided', {
    error: 'invalid_range',
    status: 416,
  })
export const badCursor = () =>
  storageError(400, 'InvalidParameter', 'Invalid Parameter continuation token')
/** An error that schema validation does not detect. */
export const badRequest = (message: string) => storageError(400, 'InvalidRequest', message)
/** A body, query or header that does not match the schema. */
export const badField = (message: string) =>
  storageError(400, 'InvalidRequest', message, { error: 'Error' })
/** A body that the HTTP server rejects before the fields are read. */
export const badBody = (message: string) =>
  storageError(400, 'InvalidRequest', message, { error: 'FastifyError' })
export const badPath = (path: string) =>
  new StorageError(400, {
    error: 'Bad Request',
    code: 'FST_ERR_BAD_URL',
    message: `'${path}' is not a valid url component`,
    statusCode: 400,
  })
export const noRoute = (method: string, url: string) => {
  const message = `Route ${method}:${url} not found`
  return /^\/(object|bucket)\b/.test(url)
    ? storageError(404, 'InvalidRequest', message, { error: 'Not Found', status: 404 })
    : new StorageError(404, { message, error: 'Not Found', statusCode: 404 })
}
export const internalError = () =>
  storageError(500, 'InternalError', 'Internal Server Error', { error: 'Internal', status: 500 })

export function errorOf(thrown: unknown): StorageError | undefined {
  if (thrown instanceof StorageError) return thrown
  const { code } = thrown as { code?: string }
  if (code === '42501') return denied()
  if (code === '23505') return exists()
  if (code === '23503') return notRelated()
  if (code === '57014') {
    const message = 'The connection to the database timed out'
    return storageError(544, 'DatabaseTimeout', message, { status: 544 })
  }
  return undefined
}
