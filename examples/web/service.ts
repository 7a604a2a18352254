// The API client and the chat, one each for the whole app, and data that several pages need.
import { createClient, isApiError, pictureIn, type Schemas, type Session } from 'kuwait-property-client'
import { type Chat, createChat } from 'kuwait-property-client/chat'
import { language, t } from './words.ts'

export type { Schemas }
export type Card = Schemas['Card']
export type Property = Schemas['Property']

export const url: string = import.meta.env.VITE_API ?? 'http://127.0.0.1:54321'

// The client stores the session in localStorage, shares it between tabs and renews it before it expires.
export const client = createClient({ url, storage: localStorage, language })

let session: Session | undefined
let talking: Chat | undefined

/** The acting identity: the user, or one of the user's companies and offices. */
export const me = () => session?.activeIdentity ?? undefined

/** The chat of the signed-in user. It ends with the session. */
export const chat = (): Chat => talking ??= createChat(client)

/** Loads the stored session. Calls `changed` when the user signs in or out, or switches identity. */
export async function followSession(changed: () => void): Promise<void> {
  session = await client.auth.session()
  client.auth.onChange((now) => {
    const acts = (one?: Session) => `${one?.user.id} ${one?.activeIdentity?.id}`
    const isOther = acts(now) !== acts(session) // if false, only the tokens were renewed
    session = now
    if (!isOther) return
    talking?.close()
    talking = undefined
    changed()
  })
}

type Meta = { areas: Map<string, Schemas['Area']>; governorates: Schemas['Governorate'][]; enums: Schemas['Enums']; app: Schemas['App'] }
let meta: Meta | undefined
/** Loads areas, vocabularies and settings, which every page needs. */
export async function loadMeta(signal: AbortSignal): Promise<true> {
  const [areas, governorates, enums, app] = await Promise.all([
    client.get('/meta/areas', { signal }), client.get('/meta/governorates', { signal }),
    client.get('/meta/enums', { signal }), client.get('/meta/app', { signal }),
  ])
  meta = { areas: new Map(areas.items.map((area) => [area.id, area])), governorates: governorates.items, enums, app }
  return true
}
export const allGovernorates = () => meta?.governorates ?? []
export const allAreas = () => [...meta?.areas.values() ?? []]
export const codes = (vocabulary: string) => meta?.enums[vocabulary] ?? []
/** The text of a code, such as «شقة» for `kind` and `apartment`. Returns a new, unknown code unchanged. */
export function word(vocabulary: string, code: string | null | undefined): string {
  const found = codes(vocabulary).find((one) => one.code === code)
  return found ? found[language === 'ar' ? 'textAr' : 'textEn'] : code ?? ''
}
/** The name of a record in the language of the page, or in Arabic if it has no English name. */
export const named = (one?: { nameAr: string | null; nameEn?: string | null }) =>
  (language === 'ar' ? one?.nameAr : one?.nameEn || one?.nameAr) ?? ''
export const areaName = (id: string | null | undefined) => named(meta?.areas.get(id ?? ''))
export const governorateName = (id: string) => named(allGovernorates().find((one) => one.id === id))
export const titled = (one: { titleAr?: string | null; titleEn?: string | null }) =>
  (language === 'en' && one.titleEn) || one.titleAr || t('untitled')
/** The URL of a picture, resized to about this width if the service can resize pictures. */
export const picture = (width: number, address: string) => meta ? pictureIn(width, address, meta.app.picture) : address

/** The text of an error for the user; empty if the request was aborted (page left, or a newer request). */
export function textOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AbortError') return ''
  if (!isApiError(error)) return reportError(error), t('unexpected') // a bug in the app
  return error.code === 'connection' ? t('offline') : error.message
}

/** The return URL of sandbox payments. An app sends its own URL, which RETURN_URLS must allow. */
export const returnUrl = `${url}/functions/v1/api/sandbox/done`
