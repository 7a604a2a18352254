// What waits, as the list and the pages of its items share it, and the decisions that are held for five seconds.
import { batch, signal } from '@preact/signals'
import type { Input, Schemas } from 'kuwait-property-client'
import { api, isCode, textOf, withProof, word } from '../frame/api.ts'
import { explain, ownAddress, say } from '../frame/parts.tsx'
import { go, pathWith, place } from '../frame/router.ts'
import { named } from '../frame/words.ts'
import { t } from './words.ts'

export type Item = Schemas['ModerationItem'] & { problem?: unknown; seen?: Item }
export type Kind = Item['kind']
export type Decision = Item['decisions'][number]
type Body = NonNullable<Input<'post', '/admin/moderation/{id}/decide'>[0]>['body']
export type Query = NonNullable<NonNullable<Input<'get', '/admin/moderation'>[0]>['query']>
type Reasons = Schemas['ModerationPage']['reasons']

export const items = signal<Item[]>([])
export const reasons = signal<Reasons>([])
export const listing = signal<{ state: 'loading' | 'ready' | 'failed'; error?: unknown; isMore?: boolean }>({
  state: 'loading',
})
export const selected = signal(new Set<string>())
export const lately = signal<{ item: Item; decision: Decision; decided: Schemas['Decided'] }[]>([])

let shown: string | undefined
let cursor: string | null = null
let turn = 0

/** Loads the queue by the filters of the address; `anew` also where it has them already. */
export async function load(query: URLSearchParams, anew = false) {
  const wanted = new URLSearchParams([...query].sort()).toString()
  if (wanted === shown && !anew) return
  const mine = ++turn
  shown = wanted
  batch(() => {
    items.value = []
    selected.value = new Set()
    listing.value = { state: 'loading' }
  })
  try {
    const page = await api.get('/admin/moderation', { query: { limit: 30, ...Object.fromEntries(query) as Query } })
    if (mine !== turn) return
    batch(() => {
      items.value = page.items.filter(({ id }) => !isHeld(id))
      reasons.value = page.reasons
      cursor = page.nextCursor
      listing.value = { state: 'ready' }
    })
  } catch (error) {
    if (mine === turn) listing.value = { state: 'failed', error }
    shown = undefined
  }
}

export const hasMore = () => cursor !== null

export async function more() {
  if (!cursor || listing.value.isMore || listing.value.state !== 'ready') return
  const mine = turn
  listing.value = { state: 'ready', isMore: true }
  const query = { limit: 30, ...Object.fromEntries(new URLSearchParams(shown)) as Query, cursor }
  const page = await api.get('/admin/moderation', { query }).catch(explain)
  if (mine !== turn) return
  if (page) {
    const known = new Set(items.value.map(({ id }) => id))
    items.value = [...items.value, ...page.items.filter(({ id }) => !known.has(id) && !isHeld(id))]
    cursor = page.nextCursor
  }
  listing.value = { state: 'ready' }
}

export const replace = (item: Item) => (items.value = items.value.map((one) => one.id === item.id ? item : one))

export function titleOf({ listing, identity, report, payout, kind, id }: Item): string {
  if (report) return report.then?.displayName || report.target.displayName || id
  return listing?.titleAr || identity && named({ ...identity.record, nameAr: identity.record.displayName }) ||
    payout?.name || word('moderationKind', kind)
}

/** The pictures that the page of an item shows, in its order. */
export const picturesOf = ({ listing, pictures, report, of }: Item) => [
  ...(pictures ?? listing?.media ?? []),
  ...(of?.media ?? []),
  ...(report?.then?.pictures ?? []),
]

/** What comes after an item in the list; of the last one what comes before it. */
export function next(id: string, by = 1): Item | undefined {
  const at = items.value.findIndex((item) => item.id === id)
  return items.value[at + by]
}

/** Has the pictures of the next one at hand. Papers are not fetched ahead: to open one stands in the audit trail. */
export function prepare(id: string) {
  const at = items.value.findIndex((item) => item.id === id)
  if (at > items.value.length - 8) void more()
  for (const { url } of picturesOf(items.value[at + 1] ?? { listing: null } as Item).slice(0, 6)) {
    const address = ownAddress(url)
    if (address) new Image().src = address
  }
}

export const openItem = (item: Item | undefined) =>
  go(pathWith(item ? `/queue/${item.id}` : '/queue', Object.fromEntries(place.value.query)), true)

type Held = { sent: { item: Item; body: Body; at: number }[]; timer: ReturnType<typeof setTimeout>; from: string }
let held: Held[] = []
const isHeld = (id: string) => held.some(({ sent }) => sent.some(({ item }) => item.id === id))

export const needsProof = (decision: Decision) => decision === 'paid_out' || decision === 'written_off'

/** Decides after five seconds, or when the desk is left; until then it can be undone. The next item shows at once. */
export function decide(given: Item[], body: Body) {
  const following = given.length === 1 ? next(given[0]!.id) ?? next(given[0]!.id, -1) : undefined
  const ids = new Set(given.map(({ id }) => id))
  const sent = given.map((item) => ({
    item,
    at: items.value.indexOf(item),
    body: {
      ...body,
      ...item.version !== null && { version: item.version },
      ...item.identity && { documentIds: item.identity.documents.map(({ id }) => id) },
    },
  }))
  const one: Held = { sent, from: place.value.id, timer: setTimeout(() => void send(one), 5000) }
  held.push(one)
  batch(() => {
    items.value = items.value.filter(({ id }) => !ids.has(id))
    selected.value = new Set()
    if (place.value.id) openItem(following)
  })
  const done = given.length > 1 ? t('many', { n: given.length }) : t(`did_${body.decision}`)
  const after = !place.value.id ? '' : following ? t('nextIs', { title: titleOf(following) }) : t('queueEmpty')
  say(`${done} ${after}`, { seconds: 5, undo: () => undo(one) })
}

function undo(one: Held) {
  clearTimeout(one.timer)
  held = held.filter((other) => other !== one)
  for (const { item, at } of one.sent) putBack(item, at)
  if (one.from) openItem(one.sent[0]!.item)
  say(t('undone'))
}

function putBack(item: Item, at: number) {
  const rest = items.value.filter(({ id }) => id !== item.id)
  items.value = [...rest.slice(0, Math.max(0, at)), item, ...rest.slice(Math.max(0, at))]
}

/** Sends what was held; what is refused comes back with the reason. */
async function send(one: Held) {
  clearTimeout(one.timer)
  held = held.filter((other) => other !== one)
  const waiting = [...one.sent]
  const inTurn = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await sendOne(next.item, next.body, next.at)
  }
  await Promise.all([inTurn(), inTurn(), inTurn(), inTurn()])
}

async function sendOne(item: Item, body: Body, at: number) {
  try {
    const path = { id: item.id }
    const decided = await withProof((options) =>
      api.post('/admin/moderation/{id}/decide', { path, body, ...needsProof(body.decision) && options })
    )
    lately.value = [{ item, decision: body.decision, decided }, ...lately.value].slice(0, 20)
  } catch (error) {
    putBack({ ...item, problem: error }, at)
    say(`${t('notDecided', { title: titleOf(item) })} ${textOf(error)}`, { failed: true, seconds: 10 })
  }
}

/** Sends all that is held at once. */
export const flush = () => void held.map((one) => send(one))
addEventListener('pagehide', flush)

/** Loads an item that was changed meanwhile, and keeps what was seen beside it. */
export async function seeAnew(item: Item) {
  const { item: now } = await claim(item.id)
  if (now) return replace({ ...now, seen: item })
  items.value = items.value.filter(({ id }) => id !== item.id)
  say(t('gone'))
}

export const isConflict = (error: unknown) => isCode(error, 'version_conflict', 'documents_changed')

export type Claim = Schemas['Claim']
export const claim = (id: string) => api.post('/admin/moderation/{id}/claim', { path: { id } })
export function release(id: string) {
  if (!isHeld(id)) void api.post('/admin/moderation/{id}/release', { path: { id } }).catch(() => {}) // it ends by itself
}
