// Supabase Storage as far as this project and storage-js use it; the gateway calls it in the same
// process. Files go to disk and come from there in pieces, whatever their size.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Claims, KeyRing } from '../keys.ts'
import type { Credentials } from '../gateway/credentials.ts'
import { buckets, bytesOf } from './buckets.ts'
import { type Caller, openPool } from './database.ts'
import { download, downloadPublic, downloadSigned, info, sign, signMany } from './download.ts'
import { denied, errorOf, noRoute, StorageError } from './errors.ts'
import { openFiles } from './files.ts'
import { copy, list, listByCursor, move, removeMany, removeOne } from './objects.ts'
import { answer, type Context, type StorageRequest } from './request.ts'
import { openSigner } from './signed.ts'
import { signUpload, upload, uploadSigned } from './upload.ts'

type Handler = (context: Context, request: StorageRequest, rest: string) => Promise<void> | void

// The first that fits; the rest of the path is what stands in brackets.
const routes: [method: string, path: RegExp, handler: Handler][] = [
  ['GET', /^\/status$/, (_, request) => answer(request, 200, {})],
  ['*', /^\/bucket(|\/.*)$/, buckets],
  ['GET HEAD', /^\/object\/public\/(.+)$/, downloadPublic],
  ['GET HEAD', /^\/object\/authenticated\/(.+)$/, download],
  ['GET HEAD', /^\/object\/info\/(.+)$/, info],
  ['GET HEAD', /^\/object\/sign\/(.+)$/, downloadSigned],
  ['POST', /^\/object\/upload\/sign\/(.+)$/, signUpload],
  ['PUT', /^\/object\/upload\/sign\/(.+)$/, uploadSigned],
  ['POST', /^\/object\/sign\/([^/]+)$/, signMany],
  ['POST', /^\/object\/sign\/(.+)$/, sign],
  ['POST', /^\/object\/list\/([^/]+)$/, list],
  ['POST', /^\/object\/list-v2\/([^/]+)$/, listByCursor],
  ['POST', /^\/object\/move$/, move],
  ['POST', /^\/object\/copy$/, copy],
  ['DELETE', /^\/object\/([^/]+)$/, removeMany],
  ['DELETE', /^\/object\/(.+)$/, removeOne],
  ['POST PUT', /^\/object\/(.+)$/, upload],
  ['GET HEAD', /^\/object\/(.+)$/, download],
]

/** Paths that need no API key: their address is the key. */
export const needsNoKey = (method: string, path: string) =>
  path === '/status' || path.startsWith('/object/public/') ||
  path.startsWith('/object/info/public/') ||
  (/^(GET|HEAD)$/.test(method) && path.startsWith('/object/sign/')) ||
  (method === 'PUT' && path.startsWith('/object/upload/sign/'))

export type Storage = ReturnType<typeof openStorage>

export function openStorage(options: {
  databaseUrl: string
  dataDir: string
  keys: KeyRing
  secret: string
  /** As config.toml writes it. */
  limit: string
}) {
  const { keys } = options
  const limit = bytesOf(options.limit)!
  const pool = openPool(options.databaseUrl)
  const files = openFiles(options.dataDir)
  const context: Context = { pool, files, signer: openSigner(options.secret), limit }
  files.sweep(pool).catch((error) => console.error('storage: sweep:', error.message))

  async function callerOf({ keyRole, bearer, bearerIsKey }: Credentials): Promise<Caller> {
    if (bearer === undefined || bearerIsKey) return { role: keyRole, claims: { role: keyRole } }
    let claims: Claims
    try {
      claims = await keys.verify(bearer)
    } catch (error) {
      throw denied(`jwt: ${(error as Error).message}`)
    }
    return { role: claims.role === 'anon' ? 'anon' : 'authenticated', claims }
  }

  return {
    /** The path comes without /storage/v1. */
    handle: async (
      raw: IncomingMessage,
      response: ServerResponse,
      url: string,
      credentials: Credentials,
    ) => {
      const [path, query = ''] = url.split('?', 2) as [string, string?]
      const method = raw.method!
      try {
        const [, pattern, handler] = routes.find(([methods, pattern]) =>
          (methods === '*' || methods.split(' ').includes(method)) && pattern.test(path)
        ) ?? []
        if (!handler) {
          throw noRoute()
        }
        const caller = await callerOf(credentials)
        const request: StorageRequest = {
          method,
          path,
          query: new URLSearchParams(query),
          caller,
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

function fail(raw: IncomingMessage, response: ServerResponse, thrown: unknown) {
  // The client went away in the middle of its body, or of our answer.
  if (response.headersSent || response.destroyed || (raw.destroyed && !raw.complete)) {
    return void response.destroy()
  }
  let known = errorOf(thrown)
  if (!known) {
    console.error('storage:', thrown)
    known = new StorageError(500, 'Internal', 'Internal Server Error', 'InternalError', 500)
  }
  // Whatever of the body has not come is not wanted; the connection ends with the answer.
  const early = raw.complete ? {} : { connection: 'close' }
  response.writeHead(known.status, { 'content-type': 'application/json; charset=utf-8', ...early })
  response.end(JSON.stringify(known.body))
  if (!raw.complete) raw.resume()
}
