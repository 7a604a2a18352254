/**
 * The API client. Routes are called by their path in the contract:
 *
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:54321', storage: localStorage })
 * await client.auth.signIn({ identifier: '50000021', password })
 *
 * const listing = await client.get('/properties/{id}', { path: { id } })
 * await client.post('/favorites/{propertyId}', { path: { propertyId: id } })
 * for await (const card of client.list('/search', { query: { areaIds: ['salmiya'] } })) show(card)
 * ```
 */
import { type Auth, authOf } from './auth.ts'
import { Http, type HttpOptions } from './http.ts'
import { renewalBy, SessionKeeper } from './keeper.ts'
import type {
  Answer,
  CallOptions,
  Fields,
  FieldsRoute,
  Input,
  InputWith,
  ListRoute,
  Method,
  Page,
  Route,
  Schemas,
} from './operations.ts'
import { type List, listOf } from './pages.ts'
import { givenTokens, memoryStorage, type Storage } from './session.ts'
import { SignOuts } from './sign-out.ts'
import { type Uploads, uploadsBy } from './uploads.ts'

export type ClientOptions = {
  url: string
  /** Where the session is stored. Without it, users are signed out when the app is closed. */
  storage?: Storage
  /** Returns the current token, if the app manages the session itself. */
  accessToken?: () => string | undefined | Promise<string | undefined>
  /** The language of error messages; Arabic by default. */
  language?: 'ar' | 'en'
  /** Runs the functions only in this Supabase region, such as `eu-central-1`. */
  region?: string
  /** Headers for all calls. From browsers, the service allows only some headers (CORS). */
  headers?: Record<string, string>
  fetch?: typeof fetch
  /** The timeout of an attempt in milliseconds; 30,000 by default. */
  timeout?: number
}

export type Client = {
  readonly url: string
  /** The region of the functions, if one was chosen. */
  readonly region?: string | undefined
  readonly storage: Storage
  readonly auth: Auth
  readonly upload: Uploads
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  put<P extends Route<'put'>>(path: P, ...input: Input<'put', P>): Promise<Answer<'put', P>>
  patch<P extends Route<'patch'>>(path: P, ...input: Input<'patch', P>): Promise<Answer<'patch', P>>
  delete<P extends Route<'delete'>>(
    path: P,
    ...input: Input<'delete', P>
  ): Promise<Answer<'delete', P>>
  /** Iterates over all items of a list, page by page. */
  readonly list: ListCall
}

/**
 * A list contains cards, or records with `fields: 'full'`. If the compiler does not know the value of
 * `fields`, the type allows both.
 */
interface Call<M extends 'get' | 'post'> {
  <P extends FieldsRoute<M>>(
    path: P,
    ...input: InputWith<'full', M, P>
  ): Promise<Answer<M, P, 'full'>>
  <P extends FieldsRoute<M>>(path: P, ...input: InputWith<'card', M, P>): Promise<Answer<M, P>>
  <P extends Route<M>>(path: P, ...input: Input<M, P>): Promise<Answer<M, P, Fields>>
}

interface ListCall {
  <P extends ListRoute & FieldsRoute<'get'>>(
    path: P,
    ...input: InputWith<'full', 'get', P>
  ): List<Extract<Answer<'get', P, 'full'>, Page>>
  <P extends ListRoute & FieldsRoute<'get'>>(
    path: P,
    ...input: InputWith<'card', 'get', P>
  ): List<Extract<Answer<'get', P>, Page>>
  <P extends ListRoute>(
    path: P,
    ...input: Input<'get', P>
  ): List<Extract<Answer<'get', P, Fields>, Page>>
}

/** The input of a call as it is at run time, without route-specific types. */
type AnyInput = CallOptions & {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

export function createClient(options: ClientOptions): Client {
  const { region } = options
  const url = options.url.replace(/\/+$/, '')
  const storage = options.storage ?? memoryStorage()
  const httpOptions: HttpOptions = {
    url: `${url}/functions/v1/api`,
    language: options.language,
    headers: { ...(region && { 'x-region': region }), ...options.headers },
    // Browsers require that `fetch` is called as a plain function, not as a method of this object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeout: options.timeout ?? 30_000,
  }
  const keeper: SessionKeeper = new SessionKeeper(storage, (token) => renewalBy(http)(token))
  const given = options.accessToken
  const tokens = given ? givenTokens(given, () => keeper.tell(undefined)) : keeper
  const signOuts = new SignOuts(httpOptions)
  const http: Http = new Http({
    ...httpOptions,
    reached: () => signOuts.retry(),
    identityChanged: async (expected) => {
      // Another tab may have stored the new identity already.
      if (!expected || keeper.known?.activeIdentity?.id !== expected) return
      const call = { route: '/auth/me', retries: 0 }
      await http.send<Schemas['Me']>('get', call).then((me) => keeper.update(me), () => {})
    },
  }, tokens)
  const call = (method: Method) => (route: string, input?: AnyInput) =>
    http.send<never>(method, { route, ...input })
  const post = async (route: string, input?: AnyInput) => {
    const leaving = route === '/auth/me/delete' ? await keeper.current() : undefined
    const answer = await http.send<never>('post', { route, ...input })
    // The service has ended all sessions of the account, so a sign-out or a renewal would fail.
    if (leaving) await keeper.leave(leaving)
    return answer
  }
  return {
    url,
    region,
    storage,
    auth: authOf({ http, keeper, tokens, signOuts }),
    upload: uploadsBy(http),
    get: call('get') as Client['get'],
    post: post as Client['post'],
    put: call('put') as Client['put'],
    patch: call('patch') as Client['patch'],
    delete: call('delete') as Client['delete'],
    list: ((route: string, input?: AnyInput) => {
      const caller = http.caller()
      return listOf((cursor) => {
        const query = { ...input?.query, ...(cursor && { cursor }) }
        return http.send<Page>('get', { route, ...input, query, caller })
      })
    }) as Client['list'],
  }
}
