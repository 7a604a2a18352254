/** The types of every route, by its path in the contract. */
import type { components, paths } from './openapi.ts'

export type Schemas = components['schemas']
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The routes that have a method. */
export type Route<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, { responses: unknown }> ? Path : never
}[keyof paths]

type Operation<M extends Method, Path extends Route<M>> = paths[Path][M]

/** Lists may be given as such; they are sent with commas between. */
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

/** What may be said with every call. */
export type CallOptions = {
  /** Cancels it. */
  signal?: AbortSignal
  /** Makes a POST one and the same with an earlier one; made for each call where it counts. */
  idempotencyKey?: string
  /** Of `POST /auth/sudo`: an administrator proves by it who calls. */
  proof?: string
  /** More headers, as `if-match` or `x-expect-identity`. */
  headers?: Record<string, string>
  /** How often it may be sent again, where that is safe; 2 by default. */
  retries?: number
}

type Needed<Op> = PathInput<Op> & QueryInput<Op> & BodyInput<Op>

/** The arguments that take these: none, where nothing is needed. */
type Arguments<Inputs> = object extends Inputs ? [input?: Inputs & CallOptions]
  : [input: Inputs & CallOptions]

/** What a call takes: nothing, where nothing is needed. */
export type Input<M extends Method, Path extends Route<M>> = Arguments<Needed<Operation<M, Path>>>

type Success = 200 | 201 | 202 | 204

/** What an operation answers, as it is described; a file is a Blob. */
type Answered<Op> = Op extends { responses: infer Responses } ? {
    [Status in keyof Responses & Success]: Responses[Status] extends
      { content: { 'application/json': infer Value } } ? Value
      : Responses[Status] extends { content: object } ? Blob
      : undefined
  }[keyof Responses & Success]
  : never

// Lists of listings ---------------------------------------------------------------------------

/** What lists carry of a listing: its card, or with `fields: 'full'` its whole record. */
export type Fields = 'card' | 'full'

type KeysOf<Value> = Value extends object ? keyof Value : never

/** Where an operation takes `fields`, if it does. */
type PlaceOfFields<Op> = 'fields' extends KeysOf<Needed<Op>['query']> ? 'query'
  : 'fields' extends KeysOf<Needed<Op>['body']> ? 'body'
  : never

/** The routes whose lists carry cards or records. */
export type FieldsRoute<M extends Method> = {
  [Path in Route<M>]: [PlaceOfFields<Operation<M, Path>>] extends [never] ? never : Path
}[Route<M>]

/** As `Input`, where `fields` is known. */
export type InputWith<F extends Fields, M extends Method, Path extends Route<M>> = Arguments<
  & Needed<Operation<M, Path>>
  & ('full' extends F ? { [Place in PlaceOfFields<Operation<M, Path>>]: { fields: F } }
    : { [Place in PlaceOfFields<Operation<M, Path>>]?: { fields?: F } | undefined })
>

/** An answer without such items in its lists. */
type Without<Item, Value> = {
  [Key in keyof Value]: Value[Key] extends (infer Each)[] ? Exclude<Each, Item>[] : Value[Key]
}

/**
 * What a call gives; nothing for 204. Lists of listings carry cards, unless the call says otherwise:
 * `Answer<'get', '/search', 'full'>`.
 */
export type Answer<M extends Method, Path extends Route<M>, F extends Fields = 'card'> =
  Path extends FieldsRoute<M>
    ? [F] extends ['card'] ? Without<Schemas['Property'], Answered<Operation<M, Path>>>
    : [F] extends ['full'] ? Without<Schemas['Card'], Answered<Operation<M, Path>>>
    : Answered<Operation<M, Path>>
    : Answered<Operation<M, Path>>

// Pages ---------------------------------------------------------------------------------------

/** A page that names the next one. */
export type Page = { items: unknown[]; nextCursor: string | null }

/** The routes that give pages. */
export type ListRoute = {
  [Path in Route<'get'>]: Answer<'get', Path> extends Page
    ? Operation<'get', Path> extends { parameters: { query?: { cursor?: string } } } ? Path : never
    : never
}[Route<'get'>]
