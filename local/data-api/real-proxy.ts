// Configures the real Data API and forwards requests to it instead of the package @supabase/lite.
// REAL_DATA_API is the path of the PostgREST binary.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { unavailable } from '../http/answers.ts'
import { type Credentials, peerOf, tokenForKey } from '../http/credentials.ts'
import { forward } from '../http/forward.ts'
import { type KeyRing, publicKeys, storedKeys } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'

export function realDataApiSettings(stack: Stack): Record<string, string> {
  const { config: { api }, ports } = stack
  return {
    PGRST_DB_URI: stack.databaseUrl('authenticator'),
    PGRST_DB_SCHEMAS: api.schemas.join(),
    PGRST_DB_EXTRA_SEARCH_PATH: api.searchPath.join(),
    PGRST_DB_ANON_ROLE: 'anon',
    PGRST_DB_MAX_ROWS: String(api.maxRows),
    PGRST_JWT_SECRET: JSON.stringify(publicKeys(storedKeys(stack.dataDir))),
    PGRST_SERVER_HOST: '127.0.0.1',
    PGRST_SERVER_PORT: String(ports.dataApi),
    PGRST_LOG_LEVEL: 'error',
  }
}

export async function forwardToRealDataApi(
  stack: Stack,
  keys: KeyRing,
  request: IncomingMessage,
  response: ServerResponse,
  credentials: Credentials,
): Promise<void> {
  const authorization = await tokenForKey(stack, keys, credentials)
  forward(request, response, {
    port: stack.ports.dataApi,
    path: request.url!.slice('/rest/v1'.length),
    peer: peerOf(request),
    unavailable: unavailable(response),
  }, authorization)
}
