// The client of the service, whose session it is, and the proof of an administrator.
import { effect, signal } from '@preact/signals'
import { createClient, isApiError, type Schemas, type Session } from 'kuwait-property-client'
import { language, storage, t } from './words.ts'

export const service: string = import.meta.env.VITE_API
/** True while the page is left: what is sent then arrives nevertheless. */
let leaving = false
const leavers: (() => Promise<unknown>)[] = []
/** Calls `act` when the page is left, and before the session ends. */
export const onLeaving = (act: () => Promise<unknown>) => leavers.push(act)
const leave = () => Promise.all(leavers.map((act) => act()))
// By `pagehide` alone nothing is sent where the browser freezes the page.
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
/** Why there is no session any more, to be told at the sign-in. */
export const endedBy = signal('')
let proof = ''
let proofEnds = 0
export const keepProof = (given: Schemas['SudoProof']) =>
  [proof, proofEnds] = [given.proof, Date.now() + given.expiresIn * 1000]

/** Set while a proof is asked for. */
export const asking = signal<((proven: boolean) => void) | undefined>()
let asked: Promise<void> | undefined
/** Asks once for all calls that wait for a proof. */
const ask = () => asked ??= new Promise<void>((resolve, reject) => {
  asking.value = (proven) => {
    asking.value = asked = undefined
    proven ? resolve() : reject(new DOMException('No proof was given.', 'AbortError'))
  }
})

/** Makes a call with the proof that there is; where the service wants one, asks for it and calls once more. */
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

/** The text of an error in the reader's language; empty for what the person broke off. */
export function textOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return ''
  if (isCode(error, 'connection')) return t('offline')
  if (isApiError(error)) return [...new Set([error, ...error.fields].map(({ message }) => message))].join(' ')
  console.error(error)
  return t('unexpected')
}

/** Reads the session of the tab, and follows its end, which brings the sign-in. */
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
/** Vocabularies and places; undefined until they have come. */
export const meta = signal<Awaited<ReturnType<typeof loadMeta>> | undefined>()
effect(() => {
  // Codes are shown where words have not come.
  if (session.value && !meta.peek()) loadMeta().then((loaded) => (meta.value = loaded), () => {})
})

/** The word of a vocabulary's code, such as «شقة» of `kind` and `apartment`. */
export function word(vocabulary: string, code: string | null | undefined): string {
  const found = meta.value?.enums[vocabulary]?.find((one) => one.code === code)
  return found ? (language.value === 'ar' ? found.textAr : found.textEn) : code ?? ''
}
