// Components that all rooms share: loading, lists, notices, and parts of pages.
import { type Signal, signal, useSignal } from '@preact/signals'
import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { api, service, textOf } from './api.ts'
import { ago, money, timeOf } from './format.ts'
import { useKeys } from './keys.ts'
import { t } from './words.ts'

type Children = { children?: ComponentChildren }
type Now<Value> = { error?: unknown } &
  ({ state: 'ready'; value: Value } | { state: 'loading' | 'failed'; value?: Value })
export type Load<Value> = Now<Value> & { reload: () => void }

/** Loads on mount and whenever `deps` change. During a `reload`, the old value stays visible. */
export function useLoad<Value>(load: (signal: AbortSignal) => Promise<Value>, deps: unknown[] = []): Load<Value> {
  const [now, set] = useState<Now<Value>>({ state: 'loading' })
  const [turn, again] = useState(0)
  const last = useRef(turn)
  useEffect(() => {
    const stop = new AbortController()
    const keepsValue = last.current !== turn
    last.current = turn
    set(({ value }) => keepsValue && value !== undefined ? { state: 'ready', value } : { state: 'loading' })
    load(stop.signal).then(
      (value) => stop.signal.aborted || set({ state: 'ready', value }),
      (error) => stop.signal.aborted || set({ state: 'failed', error }),
    )
    return () => stop.abort()
  }, [...deps, turn])
  return { ...now, reload: () => again((one) => one + 1) }
}
/** Loads the next page; undefined if there are no further pages. */
type More = (() => void) | undefined
export type Listed<Item> = { items: Item[]; load: Load<unknown>; more: More; isLoadingMore: boolean }

/** Loads a list page by page, and starts from the first page when the query changes. */
export function usePages<Query extends object, P extends { items: unknown[]; nextCursor: string | null }>(
  query: Query, ask: (query: Query & { cursor?: string }, signal: AbortSignal) => Promise<P>,
): Listed<P['items'][number]> {
  const [later, setLater] = useState<P[]>([])
  const [isLoadingMore, setLoadingMore] = useState(false)
  const stop = useRef<AbortSignal>(undefined)
  const load = useLoad(async (signal) => {
    stop.current = signal
    const page = await ask(query, signal)
    setLater([])
    return page
  }, [JSON.stringify(query)])
  const pages = load.value ? [load.value, ...later] : []
  const cursor = pages.at(-1)?.nextCursor
  const signal = stop.current
  const more = () => {
    if (isLoadingMore || !cursor || !signal) return
    setLoadingMore(true)
    ask({ ...query, cursor }, signal).then((page) => signal.aborted || setLater((before) => [...before, page]))
      .catch(explain).finally(() => setLoadingMore(false))
  }
  const isMore = cursor && load.state === 'ready'
  return { items: pages.flatMap(({ items }) => items), load, more: isMore ? more : undefined, isLoadingMore }
}
type Told = { text: string; undo?: (() => void) | undefined; failed?: boolean | undefined }
const told = signal<Told | undefined>()
/** Shows a notice and announces it to screen readers. Its undo button calls `undo`. */
export function say(text: string, { seconds = 6, ...more }: Omit<Told, 'text'> & { seconds?: number } = {}) {
  if (!text) return
  const mine = told.value = { text, ...more }
  setTimeout(() => told.value === mine && (told.value = undefined), seconds * 1000)
}
export const explain = (error: unknown) => say(textOf(error), { failed: true, seconds: 10 })

export function Told() {
  const { text, undo, failed } = told.value ?? {}
  const takeBack = () => (told.value = undefined, undo?.())
  useKeys(undo ? { u: takeBack } : {})
  const button = undo && <button type='button' onClick={takeBack}>{t('undo')} <kbd>U</kbd></button>
  return <div class={`told ${failed ? 'failed' : ''}`} role='status' aria-live='polite'>
    {text && <div><span>{text}</span>{button}</div>}
  </div>
}

export function Page({ title, actions, children }: Children & { title: string; actions?: ComponentChildren }) {
  useEffect(() => void (document.title = `${title} · ${t('desk')}`), [title])
  return <><header class='head'><h1>{title}</h1><div class='actions'>{actions}</div></header>{children}</>
}

type Looks = { main?: boolean; danger?: boolean; plain?: boolean; key_?: string; disabled?: boolean; submits?: boolean }
type ButtonProps = Children & Omit<ButtonHTMLAttributes, 'onClick' | 'disabled'> & Looks & { onClick?: () => unknown }
/** A button that ignores clicks while its action is running, and shows why the action failed. */
export function Button({ onClick, main, danger, plain, key_, submits, children, ...rest }: ButtonProps) {
  const isBusy = useSignal(false)
  const press = async () => {
    if (isBusy.value) return
    isBusy.value = true
    await Promise.resolve().then(onClick).catch(explain)
    isBusy.value = false
  }
  return <button {...rest} type={submits ? 'submit' : 'button'} aria-busy={isBusy.value}
    class={main ? 'main' : danger ? 'danger' : plain ? 'plain' : ''} onClick={submits ? undefined : () => void press()}>
    {children} {key_ && <kbd aria-hidden='true'>{key_}</kbd>}
  </button>
}

type FieldProps = Omit<InputHTMLAttributes, 'value' | 'type' | 'onInput'> & {
  label: string; value: Signal<string>
  type?: 'text' | 'password' | 'search' | 'email' | 'tel' | 'date' | 'datetime-local'
  rows?: number; hint?: string; error?: string | undefined
}
export function Field({ label, value, rows, hint, error, ...rest }: FieldProps) {
  const id = useId()
  const shared = {
    id, dir: 'auto', ...rest, value: value.value, 'aria-invalid': Boolean(error),
    'aria-describedby': hint || error ? `${id}-more` : undefined,
    onInput: (event: Event) => (value.value = (event.currentTarget as HTMLInputElement).value),
  } as InputHTMLAttributes
  return <div class='field'>
    <label for={id}>{label}</label>
    {rows ? <textarea rows={rows} {...shared as object} /> : <input {...shared} />}
    {(error || hint) && <small id={`${id}-more`} class={error ? 'bad' : ''}>{error || hint}</small>}
  </div>
}

type ChoiceProps = { label: string; value: string; options: [string, string][]; onChoose: (value: string) => void }
export function Choice({ label, value, options, onChoose }: ChoiceProps) {
  const id = useId()
  return <div class='field'>
    <label for={id}>{label}</label>
    <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {options.map(([one, text]) => <option key={one} value={one} selected={one === value}>{text}</option>)}
    </select>
  </div>
}

type DialogProps = Children & { title: string; onClose: () => void; wide?: boolean }
/** A modal dialog. Esc closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, wide, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea), button.main')?.focus()
    return () => before instanceof HTMLElement && before.isConnected && before.focus()
  }, [])
  const cancel = (event: Event) => (event.preventDefault(), onClose())
  const close = <button type='button' class='plain' aria-label={t('close')} onClick={onClose}>✕</button>
  return <dialog ref={dialog} class={wide ? 'wide' : ''} aria-labelledby={id} onCancel={cancel}>
    <header><h2 id={id}>{title}</h2>{close}</header>{children}
  </dialog>
}

export type Tone = 'good' | 'bad' | 'warn' | 'calm'
export const Badge = ({ tone = 'calm', children }: Children & { tone?: Tone }) =>
  <span class={`badge ${tone}`}>{children}</span>
export const Money = ({ of }: { of: number | string | null | undefined }) =>
  of === null || of === undefined ? <>—</> : <span class='number'>{money(of)}</span>
/** Shows how long ago `at` was, with the time as a tooltip. With `full`, shows the time itself. */
export const Time = ({ at, full }: { at: string | null | undefined; full?: boolean }) =>
  at ? <time dateTime={at} title={timeOf(at)}>{full ? timeOf(at) : ago(at)}</time> : <>—</>
/** A list of names and values. Names without a value are left out. */
export const Facts = ({ of }: { of: [string, ComponentChildren][] }) => <dl class='facts'>
  {of.map(([name, value]) =>
    (value || value === 0) && <div key={name}><dt>{name}</dt><dd><bdi>{value}</bdi></dd></div>)}
</dl>
export const Empty = ({ children = t('nothing') }: Children) => <p class='empty'>{children}</p>
export const Failed = ({ error, retry }: { error: unknown; retry?: () => void }) => <div class='empty' role='alert'>
  <p>{textOf(error) || t('failed')}</p>{retry && <Button onClick={retry}>{t('retry')}</Button>}
</div>
export const Skeleton = ({ rows = 4 }: { rows?: number | undefined }) =>
  <div class='skeleton' role='status' aria-label={t('loading')}>{[...Array(rows)].map((_, at) => <i key={at} />)}</div>
type LoadedProps<Value> = { of: Load<Value>; rows?: number; children: (value: Value) => ComponentChildren }
export function Loaded<Value>({ of, rows, children }: LoadedProps<Value>) {
  if (of.state === 'ready') return <>{children(of.value)}</>
  return of.state === 'failed' ? <Failed error={of.error} retry={of.reload} /> : <Skeleton rows={rows} />
}

type ListProps<Item> = {
  of: Listed<Item>; label: string; render: (item: Item) => ComponentChildren; empty?: ComponentChildren
  /** Returns the path of the page of an item, such as `/people/<id>`. */
  open?: (item: Item) => string
  /** The selected ids; undefined if items cannot be selected. */
  selected?: Signal<Set<string>>
  keys?: Record<string, (item: Item) => void>
}
/** A paged list. J, K and the arrow keys move, Enter opens an item, and X selects it. */
export function List<Item extends { id: string | number }>(props: ListProps<Item>) {
  const { of: { items, load, more, isLoadingMore }, selected, label, render, empty, open, keys } = props
  const list = useRef<HTMLUListElement>(null)
  const rows = () => [...list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? []]
  const here = () => rows().findIndex((row) => row.closest('li')?.contains(document.activeElement))
  const move = (by: number) => () => {
    const to = here() < 0 ? 0 : here() + by
    rows()[to]?.focus()
    if (to >= items.length - 1) more?.()
  }
  const toggle = ({ id }: Item) => (selected!.value = selected!.value.symmetricDifference(new Set([String(id)])))
  const onItem = (act: (item: Item) => void) => () => {
    const item = items[here()]
    if (item) act(item)
  }
  const acts = Object.entries({ ...keys, ...selected && { x: toggle } }).map(([key, act]) => [key, onItem(act)])
  useKeys({ j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1), ...Object.fromEntries(acts) })
  if (load.state !== 'ready') return <Loaded of={load} rows={8}>{() => null}</Loaded>
  if (!items.length) return <Empty>{empty}</Empty>
  return <>
    <ul class='list' aria-label={label} ref={list}>
      {items.map((item) => <li key={item.id}>
        {selected && <input type='checkbox' aria-label={t('choose')} checked={selected.value.has(String(item.id))}
          onChange={() => toggle(item)} />}
        {open
          ? <a data-row href={`#${open(item)}`}>{render(item)}</a>
          : <div data-row tabIndex={0}>{render(item)}</div>}
      </li>)}
    </ul>
    {more && <div class='more'><Button onClick={more} aria-busy={isLoadingMore}>{t('more')}</Button></div>}
  </>
}

/** Returns a URL if it is on the origin of the service or its Storage; undefined for any other URL. */
export function ownAddress(given: string | null | undefined): string | undefined {
  if (!given || !URL.canParse(given, service)) return undefined
  const url = new URL(given, service)
  return url.origin === new URL(service).origin && /^https?:$/.test(url.protocol) ? url.href : undefined
}

type PictureProps = { src: string | null | undefined; alt: string; class?: string }
/** A picture from the service. A suspended picture has no public URL and is fetched with the token. */
export function Picture({ src, alt, ...rest }: PictureProps) {
  const [fetched, setFetched] = useState('')
  const [isGone, setGone] = useState(false)
  const mediaId = /^\/admin\/pictures\/([\w-]+)$/.exec(src ?? '')?.[1]
  useEffect(() => {
    setGone(false)
    if (!mediaId) return
    let url = ''
    api.get('/admin/pictures/{mediaId}', { path: { mediaId } })
      .then((file) => setFetched(url = URL.createObjectURL(file)), () => setGone(true))
    return () => URL.revokeObjectURL(url)
  }, [src])
  const url = mediaId ? fetched : ownAddress(src)
  if (!url || isGone) return <span {...rest} class={`none ${rest.class ?? ''}`} role='img' aria-label={alt} />
  return <img {...rest} src={url} alt={alt} decoding='async' onError={() => setGone(true)} />
}

/** A text with a button that copies it, such as a URL that the desk must not open. */
export function Copy({ text }: { text: string }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => say(t('copied')))
  return <span class='copy'>
    <bdi>{text}</bdi> <Button plain aria-label={`${t('copy')} ${text}`} onClick={copy}>{t('copy')}</Button>
  </span>
}
