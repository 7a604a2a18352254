// The real Data API in place of the package: the binary of PostgREST, named by REAL_DATA_API. It has no
// tables; the proxy is in front of it, as on a hosted project.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { unavailable } from '../http/answers.ts'
import { type Credentials, peerOf } from '../http/credentials.ts'
import { forward } from '../http/forward.ts'
import { type KeyRing, publicKeys, storedKeys } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'

/** Its environment: the settings of config.toml and the keys of the data folder. */
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

/** Forwards a request, with a token in place of an API key. */
export async function forwardToRealDataApi(
  stack: Stack,
  keys: KeyRing,
  request: IncomingMessage,
  response: ServerResponse,
  credentials: Credentials,
): Promise<void> {
  const { keyRole: role, bearer, bearerIsKey } = credentials
  const exp = Math.floor(Date.now() / 1000) + 60
  const asKey = bearer === undefined || bearerIsKey
  forward(
    request,
    response,
    {
      port: stack.ports.dataApi,
      path: request.url!.slice('/rest/v1'.length),
      peer: peerOf(request),
      unavailable: unavailable(response),
    },
    asKey
      ? { authorization: `Bearer ${await keys.sign({ role, iss: stack.issuer, exp })}` }
      : undefined,
  )
}
