/**
 * An app that uses the installed package, as a test for the compiler: this file must type-check, and each
 * `@ts-expect-error` marks an error that the compiler has to find.
 */
import {
  type Answer,
  ApiError,
  type Client,
  type Database,
  type Fields,
  type Input,
  isApiError,
  type RouteCode,
  type RouteError,
  type Schemas,
} from 'kuwait-property-client'

type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false

/** All error codes that a call of this route can have. */
export const ofFavorites: Same<
  RouteCode<'post', '/favorites/{propertyId}'>,
  | 'token_missing'
  | 'token_expired'
  | 'token_invalid'
  | 'account_suspended'
  | 'account_banned'
  | 'identity_not_usable'
  | 'identity_changed'
  | 'property_not_found'
  | 'body_not_json'
  | 'upload_timeout'
  | 'body_too_large'
  | 'content_type_unsupported'
  | 'validation_failed'
  | 'rate_limited'
  | 'internal'
  | 'service_unavailable'
  | 'maintenance'
  | 'timeout'
  | 'connection'
  | 'session_changed'
> = true

export const ofMethods: [
  Same<RouteCode<'get', '/properties/{id}'>, RouteCode<'patch', '/properties/{id}'>>,
  'version_conflict' extends RouteCode<'patch', '/properties/{id}'> ? true : false,
  'version_conflict' extends RouteCode<'get', '/properties/{id}'> ? true : false,
] = [false, true, false]

export async function publish(client: Client, id: string): Promise<string> {
  try {
    await client.post('/properties/{id}/publish', { path: { id } })
    return 'published'
  } catch (error) {
    if (!isApiError<'post', '/properties/{id}/publish'>(error)) throw error
    // The code determines the type of the details.
    if (error.code === 'quota_exceeded') return `over ${error.details.limit satisfies number}`
    // @ts-expect-error it answers about no invoice
    if (error.code === 'invoice_already_paid') return 'paid'
    // @ts-expect-error only `quota_exceeded` has these details
    return String(error.details.limit satisfies number)
  }
}

/** This compiles only if each code of the route has a text. */
export function textOf(error: RouteError<'get', '/plans'>): string {
  switch (error.code) {
    case 'connection':
      return 'offline'
    case 'token_missing':
    case 'token_expired':
    case 'token_invalid':
    case 'account_suspended':
    case 'account_banned':
    case 'identity_changed':
    case 'session_changed':
      return 'sign in'
    case 'validation_failed':
      return 'wrong'
    case 'rate_limited':
    case 'service_unavailable':
    case 'maintenance':
    case 'timeout':
    case 'internal':
      return 'later'
  }
}

export function anyCode(error: unknown): string {
  if (!isApiError(error)) return 'none'
  if (error.code === 'quota_exceeded') return `over ${error.details.limit satisfies number}`
  // @ts-expect-error the service has no such code
  if (error.code === 'quota_gone') return 'gone'
  return error.code
}

export function explained(error: unknown): unknown {
  if (!isApiError(error)) return
  const [field] = error.fields
  if (field?.code === 'too_long') return field.max satisfies number | undefined
  switch (error.code) {
    case 'blocks_full':
    case 'documents_full':
    case 'drafts_full':
      return (error.details.limit satisfies number) - (error.details.used satisfies number)
    case 'account_suspended':
      return error.details.until satisfies string | null
    case 'account_banned':
      return error.details.deleteAt satisfies string | undefined
    case 'property_state_conflict':
      return error.details.allowed satisfies string[]
    case 'plan_not_found':
      return error.details satisfies Record<string, unknown>
  }
}

// @ts-expect-error the route has no such method
export const noMethod = (error: unknown) => isApiError<'put', '/favorites/{propertyId}'>(error)

export const own: RouteError<'get', '/plans'> = new ApiError({ code: 'timeout' })

/**
 * Lists contain cards, or records with `fields: 'full'`. If the value is unknown, they may contain either.
 */
export async function lists(client: Client, id: string, either: Fields) {
  const [query, all] = [{ areaIds: ['salmiya'] }, { fields: 'full' }] as const
  const search = {
    plain: await client.get('/search'),
    cards: await client.get('/search', { query: { areaIds: ['salmiya'], fields: 'card' } }),
    full: await client.get('/search', { query: { ...query, ...all } }),
    either: await client.get('/search', { query: { ...query, fields: either } }),
  }
  const deals = {
    plain: await client.post('/search/advanced', { body: { strategy: 'deal' } }),
    full: await client.post('/search/advanced', { body: { strategy: 'deal', ...all } }),
  }
  const favorites = {
    plain: await client.get('/favorites'),
    full: await client.get('/favorites', { query: all }),
  }
  const feed = {
    plain: await client.get('/feed', { query: { filter: 'sale' } }),
    full: await client.get('/feed', { query: all }),
  }
  const others = {
    company: await client.get('/company/{id}', { path: { id } }),
    similar: await client.get('/properties/{id}/similar', { path: { id }, query: all }),
    mine: await client.get('/properties/mine'),
  }
  type Card = Schemas['Card']
  type Property = Schemas['Property']
  type Gone = Schemas['UnavailableFavorite']
  type Office = Schemas['FeedOffice']
  const same: [
    Same<typeof search.plain.items[number], Card>,
    Same<typeof search.cards.items[number], Card>,
    Same<typeof search.full.items[number], Property>,
    Same<typeof search.either.items[number], Card | Property>,
    Same<typeof deals.plain.items[number], Card>,
    Same<typeof deals.full.items[number], Property>,
    Same<typeof favorites.plain.items[number], Card | Gone>,
    Same<typeof favorites.full.items[number], Property | Gone>,
    Same<typeof feed.plain.items[number], Schemas['FeedCard'] | Office>,
    Same<typeof feed.full.items[number], Schemas['FeedProperty'] | Office>,
    Same<typeof others.company.listings[number], Card>,
    Same<typeof others.similar.items[number], Property>,
    Same<typeof others.mine.items[number], Property>,
    Same<Answer<'get', '/search'>['items'][number], Card>,
    Same<Answer<'get', '/search', 'full'>['items'][number], Property>,
  ] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]

  for (const slot of feed.plain.items) {
    if (slot.kind === 'property') console.log(slot.propertyKind, slot.picture?.url)
    else console.log(slot.nameAr)
  }
  for await (const card of client.list('/search', { query: { areaIds: ['salmiya'] } })) {
    console.log(card.picturesCount satisfies number)
    // @ts-expect-error a card has one picture
    console.log(card.media)
  }
  for await (const saved of client.list('/favorites', { query: { fields: 'full' } })) {
    if (saved.status !== 'unavailable') console.log(saved.media.length satisfies number)
  }
  // @ts-expect-error no route has this parameter
  await client.get('/search', { query: { fields: 'full', areaId: 'salmiya' } })
  // @ts-expect-error this value is neither `card` nor `full`
  await client.get('/search', { query: { fields: 'short' } })
  return same
}

/** A generic helper for some of the app's routes. */
export const read = async <P extends '/wallet' | '/favorites'>(
  client: Client,
  path: P,
  ...input: Input<'get', P>
) => await client.get(path, ...input)

/**
 * Our functions as typed for supabase-js: arguments as in the database, results as in the facade's responses.
 */
type Functions = Database['api']['Functions']
export const ofDatabase: [
  Same<Functions['toggle_favorite']['Args'], { property_id: string }>,
  Same<Functions['toggle_favorite']['Returns'][number], Answer<'post', '/favorites/{propertyId}'>>,
  Same<Functions['list_my_properties']['Returns'][number], Answer<'get', '/properties/mine'>>,
  Same<Functions['act_on_property']['Returns'], Schemas['Property']>,
  Same<Functions['accept_terms']['Returns'], null>,
  'search' extends keyof Functions ? true : false,
] = [true, true, true, true, true, false]
