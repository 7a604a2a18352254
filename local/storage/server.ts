// The stand-in for the parts of Supabase Storage that this project and storage-js use. It runs in the proxy's
// process. Files of any size are streamed to and from disk.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Claims, KeyRing } from '../config/signing-keys.ts'
import type { Credentials } from '../http/credentials.ts'
import { buckets } from './buckets.ts'
import { openPool } from '../postgres/pool.ts'
import type { Caller } from './database.ts'
import { download, downloadSigned, info, sign, signMany } from './download.ts'
import { badField, badPath, denied, errorOf, internalError, noRoute } from './errors.ts'
import { openFiles } from './files.ts'
import { copy, list, listByCursor, move, removeMany, removeOne } from './objects.ts'
import { answer, type Context, send, type StorageRequest } from './request.ts'
import { openSigner } from './signed.ts'
import { signUpload, upload, uploadSigned } from './upload.ts'

type Handler = (context: Context, request: StorageRequest, rest: string) => Promise<void> | void

type TokenPolicy = 'token' | 'any' | 'none'

/** As in the real Storage, the status is 200 even if the database does not respond. */
const health: Handler = async ({ pool }, request) => {
  const check = pool.query('select 1 from storage.buckets limit 1')
  const healthy = await Promise.race([
    check.then(() => true, () => false),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 5000).unref()),
  ])
  answer(request, 200, { healthy })
}
const alive: Handler = (_, { response }) =>
  void response.writeHead(200, { 'content-length': 0 }).end()

// The first match is used; the group in the pattern is the rest of the path.
const routes: [tokenPolicy: TokenPolicy, method: string, path: RegExp, handler: Handler][] = [
  ['none', 'GET', /^\/status$/, alive],
  ['token', 'GET', /^\/health$/, health],
  ['token', '*', /^\/bucket(|\/.*)$/, buckets],
  ['none', 'GET HEAD', /^\/object\/public\/([^/]+\/.*)$/, download],
  ['token', 'GET HEAD', /^\/object\/authenticated\/([^/]+\/.*)$/, download],
  ['none', 'GET', /^\/object\/info\/public\/([^/]+\/.*)$/, info],
  ['token', 'GET HEAD', /^\/object\/info\/authenticated\/([^/]+\/.*)$/, info],
  ['any', 'GET HEAD', /^\/object\/info\/([^/]+\/.*)$/, info],
  ['none', 'GET HEAD', /^\/object\/sign\/([^/]+\/.*)$/, downloadSigned],
  ['token', 'POST', /^\/object\/upload\/sign\/([^/]+\/.*)$/, signUpload],
  ['none', 'PUT', /^\/object\/upload\/sign\/([^/]+\/.*)$/, uploadSigned],
  ['token', 'POST', /^\/object\/sign\/([^/]+)$/, signMany],
  ['token', 'POST', /^\/object\/sign\/([^/]+\/.*)$/, sign],
  ['token', 'POST', /^\/object\/list\/([^/]+)$/, list],
  ['token', 'POST', /^\/object\/list-v2\/([^/]+)$/, listByCursor],
  ['token', 'POST', /^\/object\/move$/, move],
  ['token', 'POST', /^\/object\/copy$/, copy],
  ['token', 'DELETE', /^\/object\/([^/]+)$/, removeMany],
  ['token', 'DELETE', /^\/object\/([^/]+\/.*)$/, removeOne],
  ['token', 'POST PUT', /^\/object\/([^/]+\/.*)$/, upload],
  ['any', 'GET HEAD', /^\/object\/([^/]+\/.*)$/, download],
]

export type Storage = ReturnType<typeof openStorage>

export function openStorage(options: {
  databaseUrl: string
  dataDir: string
  keys: KeyRing
  secret: string
  limit: number
}) {
  const { keys, limit } = options
  const pool = openPool(options.databaseUrl, {
    application_name: 'storage',
    statement_timeout: 10_000,
  })
  const files = openFiles(options.dataDir)
  const context: Context = { pool, files, signer: openSigner(options.secret), limit }
  files.purge(pool).catch((error) => console.error('storage: purge:', error.message))

  /** Returns the caller, or undefined if the route needs no token and there is no valid one. */
  async function callerOf(
    tokenPolicy: TokenPolicy,
    raw: IncomingMessage,
    credentials: Credentials | undefined,
  ) {
    if (tokenPolicy === 'none') return undefined
    const { keyRole, bearer, bearerIsKey } = credentials ?? {}
    if (keyRole && (bearer === undefined || bearerIsKey)) {
      return { role: keyRole, claims: { role: keyRole } }
    }
    const { authorization } = raw.headers
    if (authorization === undefined && tokenPolicy === 'token') {
      throw badField("headers must have required property 'authorization'")
    }
    try {
      const claims: Claims = await keys.verify((authorization ?? '').replace(/^bearer\s+/i, ''))
      return { role: claims.role === 'anon' ? 'anon' : 'authenticated', claims }
    } catch (error) {
      if (tokenPolicy === 'any') return undefined
      throw denied((error as Error).message)
    }
  }

  return {
    /** Handles a request. `url` does not include /storage/v1. */
    handle: async (
      raw: IncomingMessage,
      response: ServerResponse,
      url: string,
      credentials: Credentials | undefined,
    ) => {
      const [path, query = ''] = url.split('?', 2) as [string, string?]
      const method = raw.method!
      try {
        if (!isDecodable(path)) throw badPath(url)
        const [tokenPolicy, , pattern, handler] = routes.find(([, methods, pattern]) =>
          (methods === '*' || methods.split(' ').includes(method)) && pattern.test(path)
        ) ?? []
        if (!handler) {
          throw noRoute(method, url)
        }
        const caller: Caller | undefined = await callerOf(tokenPolicy!, raw, credentials)
        const request: StorageRequest = {
          method,
          query: new URLSearchParams(query),
          caller: caller ?? { role: 'anon', claims: { role: 'anon' } },
          authenticated: caller !== undefined,
          raw,
          response,
        }
        await handler(context, request, pattern!.exec(path)![1] ?? '')
      } catch (error) {
        fail(raw, response, error)
      }
    },
    close: () => pool.end(),
  }
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function fail(raw: IncomingMessage, response: ServerResponse, thrown: unknown) {
  // The client disconnected while sending its body or reading our answer.
  if (response.headersSent || response.destroyed || (raw.destroyed && !raw.complete)) {
    return void response.destroy()
  }
  const known = errorOf(thrown)
  if (!known) console.error('storage:', thrown)
  const { status, body } = known ?? internalError()
  // The rest of the body is not needed, so the connection ends after the response.
  send(response, status, body, raw.complete ? {} : { connection: 'close' })
  if (!raw.complete) raw.resume()
}
