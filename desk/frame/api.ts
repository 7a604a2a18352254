// The API client with its session, and the proof that an administrator gets by re-authenticating.
import { effect, signal } from '@preact/signals'
import { createClient, isApiError, type Schemas, type Session } from 'kuwait-property-client'
import { language, storage, t } from './words.ts'

export const service: string = import.meta.env.VITE_API
/** True while the page is being closed. Requests then use keepalive, so that they are still sent. */
let leaving = false
const leavers: (() => Promise<unknown>)[] = []
/** Calls `act` when the page is closed, and before signing out. */
export const onLeaving = (act: () => Promise<unknown>) => leavers.push(act)
const leave = () => Promise.all(leavers.map((act) => act()))
// `pagehide` is not enough: if the browser freezes the page, nothing would be sent.
for (const event of ['beforeunload', 'pagehide']) addEventListener(event, () => (leaving = true, leave()))
addEventListener('pageshow', () => (leaving = false))

export const tab = storage('sessionStorage')
export const api = createClient({
  url: service,
  storage: tab,
  fetch: (input, init) => fetch(input, {
    ...init,
    headers: { ...init?.headers as Record<string, string>, 'accept-language': language.value },
    keepalive: leaving,
    referrerPolicy: 'no-referrer',
  }),
})

/** Undefined until the storage has been read; null if nobody is signed in. */
export const session = signal<Session | null | undefined>()
/** Why the session ended; shown on the sign-in page. */
export const endedBy = signal('')
let proof = ''
let proofEnds = 0
export const keepProof = (given: Schemas['SudoProof']) =>
  [proof, proofEnds] = [given.proof, Date.now() + given.expiresIn * 1000]

/** Set while the re-authentication dialog is open. */
export const asking = signal<((proven: boolean) => void) | undefined>()
let asked: Promise<void> | undefined
/** Opens the dialog. All calls that wait for a proof share it. */
const ask = () => asked ??= new Promise<void>((resolve, reject) => {
  asking.value = (proven) => {
    asking.value = asked = undefined
    proven ? resolve() : reject(new DOMException('No proof was given.', 'AbortError'))
  }
})

/** Makes a call with the current proof. If the service requires a new one, asks for it and retries. */
export async function withProof<Value>(call: (options: { proof?: string }) => Promise<Value>): Promise<Value> {
  try {
    return await call(Date.now() < proofEnds ? { proof } : {})
  } catch (error) {
    if (!isCode(error, 'proof_required', 'passkey_required')) throw error
    await ask()
    return await call({ proof })
  }
}
export const isCode = (error: unknown, ...codes: string[]) => isApiError(error) && codes.includes(error.code)

/** The text of an error in the user's language; empty if the user cancelled. */
export function textOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return ''
  if (isCode(error, 'connection')) return t('offline')
  if (isApiError(error)) return [...new Set([error, ...error.fields].map(({ message }) => message))].join(' ')
  console.error(error)
  return t('unexpected')
}

/** Reads the session of this tab and watches it. When it ends, the sign-in page is shown. */
export async function follow() {
  api.auth.onChange((now, reason) => {
    if (!now) {
      if (session.value && !endedBy.value) endedBy.value = reason ? textOf(reason) : t('wasEnded')
      asking.value?.(false)
      proof = ''
    }
    session.value = now ?? null
  })
  session.value = await api.auth.session() ?? null
}

export async function signOut(why = '') {
  await Promise.race([leave(), new Promise((resolve) => setTimeout(resolve, 3000))])
  endedBy.value = why
  session.value = null
  await api.auth.signOut()
}

const byId = <Item extends { id: string }>({ items }: { items: Item[] }) =>
  new Map(items.map((item) => [item.id, item]))
async function loadMeta() {
  const asked = [api.get('/meta/areas'), api.get('/meta/governorates'), api.get('/meta/enums')] as const
  const [areas, governorates, enums] = await Promise.all(asked)
  return { areas: byId(areas), governorates: byId(governorates), enums }
}
/** Vocabularies and places; undefined until loaded. */
export const meta = signal<Awaited<ReturnType<typeof loadMeta>> | undefined>()
effect(() => {
  // If this fails, the desk shows codes instead of texts.
  if (session.value && !meta.peek()) loadMeta().then((loaded) => (meta.value = loaded), () => {})
})

/** The text for a code of a vocabulary, such as «شقة» for the code `apartment` of `kind`. */
export function word(vocabulary: string, code: string | null | undefined): string {
  const found = meta.value?.enums[vocabulary]?.find((one) => one.code === code)
  return found ? (language.value === 'ar' ? found.textAr : found.textEn) : code ?? ''
}
