import type { components, paths } from './openapi.ts'

export type Schemas = components['schemas']
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type Route<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, { responses: unknown }> ? Path : never
}[keyof paths]

type Operation<M extends Method, Path extends Route<M>> = paths[Path][M]

/** A list may be passed as an array, which is sent separated by commas. */
type QueryValue<Value> = string extends Value ? Value | readonly string[] : Value

type PathInput<Op> = Op extends { parameters: { path: infer Path } } ? { path: Path }
  : { path?: undefined }

type QueryInput<Op> = Op extends { parameters: { query: infer Query } }
  ? { query: { [Key in keyof Query]: QueryValue<Query[Key]> } }
  : Op extends { parameters: { query?: infer Query } }
    ? { query?: { [Key in keyof Query]: QueryValue<Query[Key]> } | undefined }
  : { query?: undefined }

type Json<Body> = Body extends { content: { 'application/json': infer Value } } ? Value : undefined

type BodyInput<Op> = Op extends { requestBody: infer Body } ? { body: Json<Body> }
  : Op extends { requestBody?: infer Body } ? { body?: Json<NonNullable<Body>> }
  : { body?: undefined }

export type CallOptions = {
  /** Cancels the call. */
  signal?: AbortSignal
  /** Identifies retries of a POST. If a call needs a key and has none, the client generates it. */
  idempotencyKey?: string
  /** An administrator's proof from `POST /auth/sudo`. */
  proof?: string
  /** Further headers, such as `if-match` or `x-expect-identity`. */
  headers?: Record<string, string>
  /** The maximum number of retries of a call that is safe to repeat; 2 by default. */
  retries?: number
}

type Needed<Op> = PathInput<Op> & QueryInput<Op> & BodyInput<Op>

/** The input argument is optional if it has no required properties. */
type Arguments<Inputs> = object extends Inputs ? [input?: Inputs & CallOptions]
  : [input: Inputs & CallOptions]

export type Input<M extends Method, Path extends Route<M>> = Arguments<Needed<Operation<M, Path>>>

type Success = 200 | 201 | 202 | 204

/** The response of an operation according to the OpenAPI description. Files are Blobs. */
export type Answered<Op> = Op extends { responses: infer Responses } ? {
    [Status in keyof Responses & Success]: Responses[Status] extends
      { content: { 'application/json': infer Value } } ? Value
      : Responses[Status] extends { content: object } ? Blob
      : undefined
  }[keyof Responses & Success]
  : never

/** Lists contain cards, or complete records with `fields: 'full'`. */
export type Fields = 'card' | 'full'

type KeysOf<Value> = Value extends object ? keyof Value : never

/** Whether an operation takes `fields` in the query or the body; never if it does not take it. */
type PlaceOfFields<Op> = 'fields' extends KeysOf<Needed<Op>['query']> ? 'query'
  : 'fields' extends KeysOf<Needed<Op>['body']> ? 'body'
  : never

export type FieldsRoute<M extends Method> = {
  [Path in Route<M>]: [PlaceOfFields<Operation<M, Path>>] extends [never] ? never : Path
}[Route<M>]

/** Like `Input`, for a known value of `fields`. */
export type InputWith<F extends Fields, M extends Method, Path extends Route<M>> = Arguments<
  & Needed<Operation<M, Path>>
  & ('full' extends F ? { [Place in PlaceOfFields<Operation<M, Path>>]: { fields: F } }
    : { [Place in PlaceOfFields<Operation<M, Path>>]?: { fields?: F } | undefined })
>

/** A response type without `Item` among the items of its lists. */
type Without<Item, Value> = {
  [Key in keyof Value]: Value[Key] extends (infer Each)[] ? Exclude<Each, Item>[] : Value[Key]
}

/**
 * The response of a call. Lists contain cards, unless the third argument is `'full'`:
 * `Answer<'get', '/search', 'full'>`.
 */
export type Answer<M extends Method, Path extends Route<M>, F extends Fields = 'card'> =
  Path extends FieldsRoute<M>
    ? [F] extends ['card'] ? Without<Schemas['Property'], Answered<Operation<M, Path>>>
    : [F] extends ['full'] ? Without<Schemas['Card'], Answered<Operation<M, Path>>>
    : Answered<Operation<M, Path>>
    : Answered<Operation<M, Path>>

export type Page = { items: unknown[]; nextCursor: string | null }

export type ListRoute = {
  [Path in Route<'get'>]: Answer<'get', Path> extends Page
    ? Operation<'get', Path> extends { parameters: { query?: { cursor?: string } } } ? Path : never
    : never
}[Route<'get'>]
