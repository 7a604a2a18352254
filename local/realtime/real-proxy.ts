// Configures the real Realtime server and forwards requests to it instead of the stand-in. REAL_REALTIME is
// the path of the release folder of supabase/realtime. The server creates its own tables.
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { endSocket, socketUnavailable, unavailable } from '../http/answers.ts'
import { type Credentials, peerOf, readCredentials } from '../http/credentials.ts'
import { forward, forwardUpgrade } from '../http/forward.ts'
import { hs256Token } from '../http/hs256.ts'
import { type KeyRing, publicKeys, storedKeys } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'
import { limitsOf } from './limits.ts'

/** The name of the project, which is the first part of the host name in requests to Realtime. */
const tenant = 'local'
/** The name of a second database, in which Realtime stores its projects. */
export const tenants = 'realtime_tenants'

const secretOf = ({ secrets }: Stack, use: string) =>
  createHmac('sha256', secrets.secretKey).update(`realtime ${use}`).digest('hex')

export const folderOf = ({ dataDir }: Stack) => join(dataDir, 'realtime')

export function realRealtimeSettings(stack: Stack): Record<string, string> {
  const { ports } = stack
  const database = new URL(stack.databaseUrl('supabase_admin'))
  return {
    HOME: folderOf(stack),
    LANG: 'C.UTF-8',
    APP_NAME: 'realtime',
    NODE_NAME: `realtime${ports.api}`,
    RELEASE_COOKIE: secretOf(stack, 'cookie'),
    RELEASE_TMP: folderOf(stack),
    ERL_CRASH_DUMP_SECONDS: '0',
    // A single Erlang node needs no name server (epmd).
    ERL_AFLAGS: `-start_epmd false -erl_epmd_port ${ports.realtimeNode} ` +
      '-kernel inet_dist_use_interface {127,0,0,1}',
    GEN_RPC_SOCKET_IP: '127.0.0.1',
    GEN_RPC_TCP_SERVER_PORT: String(ports.realtimeCalls),
    GEN_RPC_TCP_CLIENT_PORT: String(ports.realtimeCalls),
    CLUSTER_STRATEGIES: 'NONE',
    REGION: 'us-east-1',
    PORT: String(ports.realtime),
    REALTIME_IP_VERSION: 'ipv4',
    DB_HOST: '127.0.0.1',
    DB_PORT: database.port,
    DB_USER: 'supabase_admin',
    DB_PASSWORD: decodeURIComponent(database.password),
    DB_NAME: tenants,
    DB_IP_VERSION: 'ipv4',
    DB_ENC_KEY: secretOf(stack, 'rows').slice(0, 16),
    API_JWT_SECRET: secretOf(stack, 'admin'),
    METRICS_JWT_SECRET: secretOf(stack, 'metrics'),
    SECRET_KEY_BASE: secretOf(stack, 'pages'),
    SLOT_NAME_SUFFIX: 'local',
    RUN_JANITOR: 'true',
    LOG_LEVEL: 'warning',
    ...(stack.refusedJoins === 'quick' && { CHANNEL_ERROR_BACKOFF_MS: '200' }),
  }
}

/** Sends the project's keys and limits to Realtime, which then migrates the project's schema `realtime`. */
export async function describeProject(stack: Stack): Promise<boolean> {
  const database = new URL(stack.databaseUrl('supabase_admin'))
  const limits = limitsOf('free', stack.rates)
  const most = (limit: number) => Math.min(limit, 1_000_000)
  const body = {
    tenant: {
      name: tenant,
      external_id: tenant,
      // Realtime requires this secret but does not use it: tokens are signed with the keys of jwt_jwks.
      jwt_secret: secretOf(stack, 'unused'),
      jwt_jwks: publicKeys(storedKeys(stack.dataDir)),
      private_only: true,
      max_concurrent_users: most(limits.connections),
      max_events_per_second: most(limits.eventsPerSecond),
      max_joins_per_second: most(limits.joinsPerSecond),
      max_presence_events_per_second: most(limits.presencePerSecond),
      max_channels_per_client: limits.channelsPerConnection,
      max_payload_size_in_kb: 256,
      extensions: [{
        type: 'postgres_cdc_rls',
        settings: {
          db_host: '127.0.0.1',
          db_port: database.port,
          db_name: database.pathname.slice(1),
          db_user: 'supabase_admin',
          db_password: decodeURIComponent(database.password),
          region: 'us-east-1',
          poll_interval_ms: 100,
          poll_max_record_bytes: 1_048_576,
          ssl_enforced: false,
        },
      }],
    },
  }
  const token = await hs256Token(secretOf(stack, 'admin'), { role: 'admin' })
  const response = await fetch(`http://127.0.0.1:${stack.ports.realtime}/api/tenants/${tenant}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) console.error(`REAL_REALTIME: ${response.status} ${await response.text()}`)
  return response.ok
}

/** Signs a token that replaces an API key. It is valid for ten years, because the key does not expire. */
const keyToken = (stack: Stack, keys: KeyRing, { keyRole: role }: Credentials) =>
  keys.sign({ role, iss: stack.issuer, exp: Math.floor(Date.now() / 1000) + 10 * 365 * 86_400 })

const hostOf = ({ ports }: Stack) => `${tenant}.localhost:${ports.realtime}`

export async function forwardToRealRealtime(
  stack: Stack,
  keys: KeyRing,
  request: IncomingMessage,
  response: ServerResponse,
  credentials: Credentials,
): Promise<void> {
  const { bearer, bearerIsKey } = credentials
  const token = await keyToken(stack, keys, credentials)
  const asKey = bearer === undefined || bearerIsKey
  forward(request, response, {
    port: stack.ports.realtime,
    path: request.url!.slice('/realtime/v1'.length),
    peer: peerOf(request),
    unavailable: unavailable(response),
  }, { host: hostOf(stack), apikey: token, ...(asKey && { authorization: `Bearer ${token}` }) })
}

export async function upgradeToRealRealtime(
  stack: Stack,
  keys: KeyRing,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  socket.on('error', () => socket.destroy())
  const credentials = readCredentials(stack, request)
  if ('status' in credentials) {
    endSocket(socket, '401 Unauthorized', 'Invalid API key')
    return
  }
  const token = await keyToken(stack, keys, credentials)
  const { searchParams } = new URL(request.url!, 'http://realtime')
  searchParams.set('apikey', token)
  forwardUpgrade(request, socket, head, {
    port: stack.ports.realtime,
    path: `/socket/websocket?${searchParams}`,
    peer: peerOf(request),
    unavailable: socketUnavailable(socket),
  }, { host: hostOf(stack), apikey: token, 'x-api-key': token })
}
