// The client of the service, its session, and the administrator's proof.
import { effect, signal } from '@preact/signals'
import { createClient, isApiError, type Schemas, type Session } from 'kuwait-property-client'
import { language, storage, t } from './words.ts'

export const service: string = import.meta.env.VITE_API
/** True while the page is being left; requests then use keepalive, so that they still arrive. */
let leaving = false
const leavers: (() => Promise<unknown>)[] = []
/** Calls `act` when the page is left, and before the session ends. */
export const onLeaving = (act: () => Promise<unknown>) => leavers.push(act)
const leave = () => Promise.all(leavers.map((act) => act()))
// With `pagehide` alone nothing is sent if the browser freezes the page.
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

/** Undefined until the storage was read; null without a session. */
export const session = signal<Session | null | undefined>()
/** Why the session ended, to be shown at the sign-in. */
export const endedBy = signal('')
let proof = ''
let proofEnds = 0
export const keepProof = (given: Schemas['SudoProof']) =>
  [proof, proofEnds] = [given.proof, Date.now() + given.expiresIn * 1000]

/** Set while the dialog asks for a proof. */
export const asking = signal<((proven: boolean) => void) | undefined>()
let asked: Promise<void> | undefined
/** Asks once for all calls that wait for a proof. */
const ask = () => asked ??= new Promise<void>((resolve, reject) => {
  asking.value = (proven) => {
    asking.value = asked = undefined
    proven ? resolve() : reject(new DOMException('No proof was given.', 'AbortError'))
  }
})

/** Makes a call with the proof, if there is one. If the service requires one, asks for it and calls again. */
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

/** The text of an error in the reader's language; empty if the person cancelled. */
export function textOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return ''
  if (isCode(error, 'connection')) return t('offline')
  if (isApiError(error)) return [...new Set([error, ...error.fields].map(({ message }) => message))].join(' ')
  console.error(error)
  return t('unexpected')
}

/** Reads the tab's session and watches it: when it ends, the sign-in is shown. */
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
  // Without words, codes are shown.
  if (session.value && !meta.peek()) loadMeta().then((loaded) => (meta.value = loaded), () => {})
})

/** The word for a vocabulary's code, such as «شقة» for `apartment` of `kind`. */
export function word(vocabulary: string, code: string | null | undefined): string {
  const found = meta.value?.enums[vocabulary]?.find((one) => one.code === code)
  return found ? (language.value === 'ar' ? found.textAr : found.textEn) : code ?? ''
}
