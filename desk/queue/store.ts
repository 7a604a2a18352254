// The waiting items for the list and the item pages, and decisions, which are held back for five seconds.
import { batch, signal } from '@preact/signals'
import { api, explain, go, type Input, isCode, named, onLeaving, ownAddress, pathWith, place } from '../frame/index.ts'
import { say, type Schemas, textOf, withProof, word } from '../frame/index.ts'
import { t } from './words.ts'

/**
 * `problem` is the error of a failed decision; `seen` is the version on screen before somebody changed it.
 */
export type Item = Schemas['ModerationItem'] & { problem?: unknown; seen?: Item }
export type Kind = Item['kind']
export type Decision = Item['decisions'][number]
type Body = NonNullable<Input<'post', '/admin/moderation/{id}/decide'>[0]>['body']
type Query = NonNullable<NonNullable<Input<'get', '/admin/moderation'>[0]>['query']>

type State =
  { of: string; state: 'loading' | 'ready' | 'failed'; error?: unknown; cursor?: string | null; isLoadingMore?: true }
export const queue = signal<State>({ of: '-', state: 'loading' })
export const items = signal<Item[]>([])
export const reasons = signal<Schemas['ModerationPage']['reasons']>([])
export const selected = signal(new Set<string>())
export type Lately = { item: Item; decision: Decision; decided: Schemas['Decided'] }
export const lately = signal<Lately[]>([])

let turn = 0
/** Loads a page of the queue. The result is ignored if a later load has started. */
async function ask(of: string, cursor?: string) {
  const mine = ++turn
  const filters = { ...Object.fromEntries(new URLSearchParams(of)), ...cursor && { cursor } } as Query
  const page = await api.get('/admin/moderation', { query: { limit: 30, ...filters } }).catch((error) => {
    if (mine !== turn) return
    if (cursor) explain(error)
    queue.value = cursor ? { of, state: 'ready', cursor } : { of, state: 'failed', error }
  })
  if (!page || mine !== turn) return
  const known = cursor ? items.value : []
  const isNew = ({ id }: Item) => !isHeld(id) && !known.some((item) => item.id === id)
  batch(() => {
    items.value = [...known, ...page.items.filter(isNew)]
    reasons.value = page.reasons
    queue.value = { of, state: 'ready', cursor: page.nextCursor }
  })
}

/** Loads the queue with the filters in the URL. With `anew`, reloads it even if they have not changed. */
export function load(of: string, anew = false) {
  if (of === queue.value.of && queue.value.state !== 'failed' && !anew) return
  batch(() => {
    items.value = []
    selected.value = new Set()
    queue.value = { of, state: 'loading' }
  })
  void ask(of)
}
export function more() {
  const { of, cursor, isLoadingMore } = queue.value
  if (!cursor || isLoadingMore) return
  queue.value = { ...queue.value, isLoadingMore: true }
  void ask(of, cursor)
}

export const remove = (id: string) => (items.value = items.value.filter((item) => item.id !== id))
export const replace = (item: Item) => (items.value = items.value.map((one) => one.id === item.id ? item : one))
export function titleOf({ listing, identity, report, payout, kind }: Item): string {
  if (report) return report.then?.displayName || report.target.displayName
  const record = identity && { nameAr: identity.record.displayName, nameEn: identity.record.nameEn ?? null }
  return listing?.titleAr || record && named(record) || payout?.name || word('moderationKind', kind)
}
/** The pictures on the page of an item, in the same order. */
export const picturesOf = ({ listing, pictures, report, of }: Item) =>
  [...pictures ?? listing?.media ?? [], ...of?.media ?? [], ...report?.then?.pictures ?? []]
export const next = (id: string, by = 1): Item | undefined =>
  items.value[items.value.findIndex((item) => item.id === id) + by]

/**
 * Prefetches the pictures of the next item, but not its documents: the audit trail records who opens them.
 */
export function prepare(id: string) {
  const at = items.value.findIndex((item) => item.id === id)
  if (at > items.value.length - 8) more()
  const following = items.value[at + 1]
  for (const { url } of following ? picturesOf(following).slice(0, 6) : []) {
    const address = url.startsWith('/') ? undefined : ownAddress(url)
    if (address) new Image().src = address
  }
}
export const openItem = (item: Item | undefined) =>
  go(pathWith(item ? `/queue/${item.id}` : '/queue', Object.fromEntries(place.value.query)), true)

type Sent = { item: Item; body: Body; at: number }
type Held = { sent: Sent[]; timer: ReturnType<typeof setTimeout>; from: string }
let held: Held[] = []
const isHeld = (id: string) => held.some(({ sent }) => sent.some(({ item }) => item.id === id))

/**
 * Shows the next item at once, but sends the decision after five seconds or on leaving. Undo works until
 * then.
 */
export function decide(given: Item[], body: Body) {
  const { id } = given[0]!
  const following = given.length === 1 ? next(id) ?? next(id, -1) : undefined
  const sent = given.map((item): Sent => {
    const papers = item.identity && { documentIds: item.identity.documents.map(({ id }) => id) }
    const version = item.version !== null && { version: item.version }
    return { item, at: items.value.findIndex((one) => one.id === item.id), body: { ...body, ...version, ...papers } }
  })
  const one: Held = { sent, from: place.value.id, timer: setTimeout(() => void send(one), 5000) }
  held.push(one)
  batch(() => {
    items.value = items.value.filter(({ id }) => !isHeld(id))
    selected.value = new Set()
    if (one.from) openItem(following)
  })
  const done = given.length > 1 ? t('many', { n: given.length }) : t(`did_${body.decision}`)
  const after = !one.from ? '' : following ? t('nextIs', { title: titleOf(following) }) : t('queueEmpty')
  say(`${done} ${after}`, { seconds: 5, undo: () => undo(one) })
}

function drop(one: Held) {
  clearTimeout(one.timer)
  held = held.filter((other) => other !== one)
}
const putBack = (item: Item, at: number) =>
  (items.value = items.value.filter(({ id }) => id !== item.id).toSpliced(Math.max(0, at), 0, item))
function undo(one: Held) {
  if (!held.includes(one)) return say(t('sentAlready'))
  drop(one)
  for (const { item, at } of one.sent) putBack(item, at)
  if (one.from) openItem(one.sent[0]!.item)
  say(t('undone'))
}

/** Sends decisions that were held back, four at a time. If one fails, its item returns with the error. */
async function send(one: Held) {
  drop(one)
  const waiting = one.sent.values()
  const inTurn = async () => {
    for (const next of waiting) await sendOne(next)
  }
  await Promise.all([1, 2, 3, 4].map(inTurn))
}
async function sendOne({ item, body, at }: Sent) {
  try {
    const decided = await decideNow(item.id, body)
    lately.value = [{ item, decision: body.decision, decided }, ...lately.value].slice(0, 20)
  } catch (error) {
    putBack({ ...item, problem: error }, at)
    say(`${t('notDecided', { title: titleOf(item) })} ${textOf(error)}`, { failed: true, seconds: 10 })
  }
}
export const decideNow = (id: string, body: Body) =>
  withProof((proof) => api.post('/admin/moderation/{id}/decide', { path: { id }, body, ...proof }))
/** Sends all decisions that are still held back. */
export const flush = () => Promise.all(held.map(send))
onLeaving(flush)

/** Reloads an item that somebody has changed. The version that was on screen becomes `seen`. */
export async function seeAnew(item: Item) {
  const { item: now } = await claim(item.id)
  if (now) return replace({ ...now, seen: item })
  remove(item.id)
  say(t('gone'))
}
export const isConflict = (error: unknown) => isCode(error, 'version_conflict', 'documents_changed')
export const claim = (id: string) => api.post('/admin/moderation/{id}/claim', { path: { id } })
export const release = (id: string) => {
  // If this fails, the claim expires by itself.
  if (!isHeld(id)) api.post('/admin/moderation/{id}/release', { path: { id } }).catch(() => {})
}
