// Configures the real Storage server and forwards requests to it instead of the stand-in. REAL_STORAGE is the
// path of a build of supabase/storage. The server creates its own tables, and its files are in the data
// folder.
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { unavailable } from '../http/answers.ts'
import { type Credentials, peerOf } from '../http/credentials.ts'
import { forward } from '../http/forward.ts'
import { hs256Token } from '../http/hs256.ts'
import { publicKeys, storedKeys } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'
import type { Storage } from './server.ts'
import { signedUploadSeconds } from './signed.ts'

/** Storage does not accept API keys. This secret signs the tokens that replace them. */
const realStorageSecret = ({ secrets }: Stack) =>
  createHmac('sha256', secrets.secretKey).update('storage').digest('base64url')

export function realStorageSettings(stack: Stack): Record<string, string> {
  return {
    SERVER_HOST: '127.0.0.1',
    SERVER_PORT: String(stack.ports.storage),
    DATABASE_URL: stack.databaseUrl('supabase_storage_admin'),
    DATABASE_MAX_CONNECTIONS: '10',
    AUTH_JWT_SECRET: realStorageSecret(stack),
    JWT_JWKS: JSON.stringify(publicKeys(storedKeys(stack.dataDir))),
    STORAGE_BACKEND: 'file',
    STORAGE_FILE_BACKEND_PATH: join(stack.dataDir, 'real-storage'),
    STORAGE_S3_BUCKET: 'files',
    STORAGE_S3_REGION: 'local',
    TENANT_ID: 'local',
    UPLOAD_FILE_SIZE_LIMIT: String(stack.config.storage.limit),
    UPLOAD_SIGNED_URL_EXPIRATION_TIME: String(signedUploadSeconds),
    REQUEST_HARD_LIMITS_ENABLED: 'true',
    S3_PROTOCOL_ENABLED: 'false',
    IMAGE_TRANSFORMATION_ENABLED: 'false',
    PG_QUEUE_ENABLE: 'false',
    EXPOSE_DOCS: 'false',
    PROMETHEUS_METRICS_ENABLED: 'false',
    OTEL_METRICS_ENABLED: 'false',
    LOG_LEVEL: 'warn',
  }
}

export function openRealStorage(stack: Stack): Storage {
  const secret = realStorageSecret(stack)
  return {
    handle: async (request, response, path, credentials) => {
      forward(request, response, {
        port: stack.ports.storage,
        path,
        peer: peerOf(request),
        unavailable: unavailable(response),
      }, await replaced(secret, credentials))
    },
    close: () => Promise.resolve(),
  }
}

async function replaced(secret: string, credentials: Credentials | undefined) {
  if (!credentials) return undefined
  const { keyRole, bearer, bearerIsKey } = credentials
  if (bearer !== undefined && !bearerIsKey) return undefined
  return { authorization: `Bearer ${await hs256Token(secret, { role: keyRole })}` }
}
