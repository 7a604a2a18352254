/// <reference types="vite/client" />
// One client and one chat for the whole app, and the data that several pages need.
import { createClient, type Schemas, type Session } from 'kuwait-property-client'
import { type Chat, createChat } from 'kuwait-property-client/chat'

export type Card = Schemas['Card']

export const url: string = import.meta.env.VITE_API ?? 'http://127.0.0.1:54321'

// The session is stored in localStorage and renewed in time, once for all tabs.
export const client = createClient({ url, storage: localStorage })

let session: Session | undefined
let talking: Chat | undefined

export const me = () => session

/** The chat of the signed-in person; it ends with the session. */
export const chat = (): Chat => talking ??= createChat(client)

/** Reads the session of an earlier visit, and calls `changed` when the acting identity changes, or signs out. */
export async function followSession(changed: () => void): Promise<void> {
  session = await client.auth.session()
  client.auth.onChange((now) => {
    const acts = (one?: Session) => `${one?.user.id} ${one?.activeIdentity?.id}`
    const isOther = acts(now) !== acts(session) // otherwise the session was only renewed
    session = now
    if (!isOther) return
    talking = undefined
    changed()
  })
}

let areas: Promise<Map<string, Schemas['Area']>> | undefined
export const allAreas = () =>
  areas ??= client.get('/meta/areas').then(({ items }) => new Map(items.map((area) => [area.id, area])))

let enums: Promise<Schemas['Enums']> | undefined
/** Returns the texts of a vocabulary by code, such as «شقة» for apartment. */
export async function words(vocabulary: string): Promise<Map<string, string>> {
  const all = await (enums ??= client.get('/meta/enums'))
  const entries = (all as Record<string, { code: string; textAr: string }[]>)[vocabulary] ?? []
  return new Map(entries.map(({ code, textAr }) => [code, textAr]))
}

/** The return URL of a sandbox payment. An app sends its own, which RETURN_URLS has to allow. */
export const returnUrl = `${url}/functions/v1/api/sandbox/done`
