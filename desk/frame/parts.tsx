// What all rooms are made of:
//   useLoad(fn, deps) → { state: 'loading' | 'failed' | 'ready', value, error, reload }; usePages(ask, deps) for lists
//   <Loaded of={load} rows={5}>{(value) => …}</Loaded> draws skeleton, failure and value of a useLoad
//   <Page title actions>, <List of={pages} label render open>, <Field label name …>, <Choice label value options on>,
//   <Button onClick main danger>, <Dialog title onClose>, <Badge tone>, <Money of>, <Time at>, <Facts of>, <Empty>,
//   <Failed error retry>, <Picture src alt>, <Copy text>
//   say(text, { undo, seconds }) tells the live region and shows it; explain(error) does so for an error
// and from the other files: `api`, `withProof`, `session`, `word`, `meta` (api.ts), `go`, `place`, `pathWith` (router.ts),
// `useKeys` (keys.ts), `wordsOf`, `named`, `language` (words.ts), `money`, `timeOf`, `dayOf`, `ago`, `number` (format.ts).
// A room is `desk/<room>/room.tsx` with a default export that gets the `Place`.
import { type Signal, signal, useSignal } from '@preact/signals'
import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes, Ref } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { api, service, textOf } from './api.ts'
import { ago, money, timeOf } from './format.ts'
import { useKeys } from './keys.ts'
import { t } from './words.ts'

export type Load<Value> =
  & { reload: () => void }
  & (
    | { state: 'loading'; value?: Value; error?: undefined }
    | { state: 'failed'; value?: Value; error: unknown }
    | { state: 'ready'; value: Value; error?: undefined }
  )

/** Loads when shown and when `deps` change. What is loaded anew by `reload` stays visible until it has come. */
export function useLoad<Value>(load: (signal: AbortSignal) => Promise<Value>, deps: unknown[] = []): Load<Value> {
  const [now, set] = useState<Omit<Load<Value>, 'reload'>>({ state: 'loading' })
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
  return { ...now, reload: () => again((one) => one + 1) } as Load<Value>
}

export type Listed<Item> = {
  items: Item[]
  load: Load<unknown>
  /** Undefined when there are no further pages. */
  more: (() => void) | undefined
  isLoadingMore: boolean
}

/** Loads a list page by page. */
export function usePages<Item, P extends { items: Item[]; nextCursor: string | null }>(
  ask: (cursor: string | undefined, signal: AbortSignal) => Promise<P>,
  deps: unknown[] = [],
): Listed<P['items'][number]> & { first: P | undefined } {
  const [later, setLater] = useState<P[]>([])
  const [isLoadingMore, setLoadingMore] = useState(false)
  const turn = useRef(0)
  const load = useLoad(async (signal) => {
    turn.current++
    const page = await ask(undefined, signal)
    setLater([])
    setLoadingMore(false)
    return page
  }, deps)
  const pages = load.value ? [load.value, ...later] : []
  const cursor = pages.at(-1)?.nextCursor
  const more = cursor && load.state === 'ready'
    ? () => {
      if (isLoadingMore) return
      const began = turn.current
      setLoadingMore(true)
      ask(cursor, new AbortController().signal).then(
        (page) => turn.current === began && setLater((before) => [...before, page]),
        explain,
      ).finally(() => setLoadingMore(false))
    }
    : undefined
  return { items: pages.flatMap(({ items }) => items), first: load.value, load, more, isLoadingMore }
}

type Told = { id: number; text: string; undo?: (() => void) | undefined; failed?: boolean | undefined }
const told = signal<Told | undefined>()
let toldUntil: ReturnType<typeof setTimeout> | undefined

/** Tells what happened, to eyes and screen readers; `undo` takes it back while it is shown. */
export function say(
  text: string,
  { undo, seconds = 6, failed }: { undo?: () => void; seconds?: number; failed?: boolean } = {},
) {
  if (!text) return
  const id = (told.value?.id ?? 0) + 1
  told.value = { id, text, undo, failed }
  clearTimeout(toldUntil)
  toldUntil = setTimeout(() => {
    if (told.value?.id === id) told.value = undefined
  }, seconds * 1000)
}

export const explain = (error: unknown) => say(textOf(error), { failed: true, seconds: 10 })

function takeBack() {
  const { undo } = told.value ?? {}
  told.value = undefined
  undo?.()
}

export function Told() {
  useKeys(told.value?.undo ? { u: takeBack } : {})
  const { text, undo, failed } = told.value ?? {}
  return (
    <div class={`told ${failed ? 'failed' : ''}`} role='status' aria-live='polite'>
      {text && (
        <div>
          <span>{text}</span>
          {undo && (
            <button type='button' onClick={takeBack}>
              {t('undo')} <kbd>U</kbd>
            </button>
          )}
        </div>
      )}
    </div>
  )
}

export function Page(props: { title: string; actions?: ComponentChildren; children: ComponentChildren }) {
  useEffect(() => void (document.title = `${props.title} · ${t('desk')}`), [props.title])
  return (
    <>
      <header class='head'>
        <h1>{props.title}</h1>
        <div class='actions'>{props.actions}</div>
      </header>
      {props.children}
    </>
  )
}

type ButtonProps = Omit<ButtonHTMLAttributes, 'onClick' | 'disabled'> & {
  onClick?: () => unknown
  main?: boolean
  danger?: boolean
  plain?: boolean
  key_?: string
  disabled?: boolean
  submits?: boolean
}
/** A button takes one press at a time, and tells the error of what it does. */
export function Button({ onClick, main, danger, plain, key_, submits, disabled, children, ...rest }: ButtonProps) {
  const isBusy = useSignal(false)
  const press = async () => {
    if (isBusy.value) return
    isBusy.value = true
    await Promise.resolve().then(onClick).catch(explain)
    isBusy.value = false
  }
  return (
    <button
      {...rest}
      type={submits ? 'submit' : 'button'}
      class={main ? 'main' : danger ? 'danger' : plain ? 'plain' : ''}
      aria-busy={isBusy.value}
      disabled={disabled}
      onClick={submits ? undefined : () => void press()}
    >
      {children} {key_ && <kbd aria-hidden='true'>{key_}</kbd>}
    </button>
  )
}

type FieldProps = {
  label: string
  value: Signal<string>
  type?: 'text' | 'password' | 'search' | 'email' | 'tel' | 'date' | 'date' | 'datetime-local'
  rows?: number
  hint?: string
  error?: string | undefined
  ref_?: Ref<HTMLInputElement>
  required?: boolean
  autocomplete?: string
  inputMode?: 'text' | 'numeric' | 'decimal' | 'search' | 'tel'
  maxLength?: number
  dir?: 'auto' | 'ltr' | 'rtl'
  placeholder?: string
}
/** A labelled field; with `rows` of several lines. */
export function Field({ label, value, rows, hint, error, ref_, ...rest }: FieldProps) {
  const id = useId()
  const shared = {
    id,
    dir: 'auto' as const,
    ...rest,
    value: value.value,
    'aria-invalid': Boolean(error),
    'aria-describedby': hint || error ? `${id}-more` : undefined,
    onInput: (event: Event) => (value.value = (event.currentTarget as HTMLInputElement).value),
  }
  return (
    <div class='field'>
      <label for={id}>{label}</label>
      {rows ? <textarea rows={rows} {...shared} /> : <input ref={ref_} {...shared as InputHTMLAttributes} />}
      {(error || hint) && <small id={`${id}-more`} class={error ? 'bad' : ''}>{error || hint}</small>}
    </div>
  )
}

type ChoiceProps = {
  label: string
  value: string
  options: [string, string][]
  onChoose: (value: string) => void
  hidden?: boolean
}
/** A labelled choice of `[value, text]`; with `hidden` the label is for screen readers alone. */
export function Choice({ label, value, options, onChoose, hidden }: ChoiceProps) {
  const id = useId()
  return (
    <div class='field'>
      <label for={id} class={hidden ? 'heard' : ''}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([one, text]) => <option key={one} value={one} selected={one === value}>{text}</option>)}
      </select>
    </div>
  )
}

/** A dialog over the page; Esc closes it, and the focus goes back to where it was. */
export function Dialog(props: { title: string; onClose: () => void; wide?: boolean; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>('form :is(input, select, textarea), button.main')?.focus()
    return () => before instanceof HTMLElement && before.isConnected && before.focus()
  }, [])
  const onCancel = (event: Event) => {
    event.preventDefault()
    props.onClose()
  }
  return (
    <dialog ref={dialog} class={props.wide ? 'wide' : ''} aria-labelledby={id} onCancel={onCancel}>
      <header>
        <h2 id={id}>{props.title}</h2>
        <button type='button' class='plain' aria-label={t('close')} onClick={props.onClose}>✕</button>
      </header>
      {props.children}
    </dialog>
  )
}

export type Tone = 'good' | 'bad' | 'warn' | 'calm'
export const Badge = ({ tone = 'calm', children }: { tone?: Tone; children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)
export const Money = ({ of }: { of: number | string | null | undefined }) => (
  of === null || of === undefined ? <>—</> : <span class='number'>{money(of)}</span>
)
/** How long ago, with the time beside it for who points at it; with `full` the time itself. */
export const Time = ({ at, full }: { at: string | null | undefined; full?: boolean }) => (
  at ? <time dateTime={at} title={timeOf(at)}>{full ? timeOf(at) : ago(at)}</time> : <>—</>
)
/** Names and values; those without a value are left out. */
export const Facts = ({ of }: { of: [string, ComponentChildren][] }) => (
  <dl class='facts'>
    {of.filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd><bdi>{value}</bdi></dd>
        </div>
      ))}
  </dl>
)
export const Empty = ({ children = t('nothing') }: { children?: ComponentChildren }) => <p class='empty'>{children}</p>
export const Failed = ({ error, retry }: { error: unknown; retry?: () => void }) => (
  <div class='empty' role='alert'>
    <p>{textOf(error) || t('failed')}</p>
    {retry && <Button onClick={retry}>{t('retry')}</Button>}
  </div>
)
export const Skeleton = ({ rows = 4 }: { rows?: number }) => (
  <div class='skeleton' role='status' aria-label={t('loading')}>
    {Array.from({ length: rows }, (_, row) => <i key={row} />)}
  </div>
)
export function Loaded<Value>(
  props: { of: Load<Value>; rows?: number; children: (value: Value) => ComponentChildren },
) {
  const { state, value, error, reload } = props.of
  if (state === 'failed') return <Failed error={error} retry={reload} />
  return state === 'loading' ? <Skeleton rows={props.rows ?? 4} /> : <>{props.children(value)}</>
}

type ListProps<Item> = {
  of: Listed<Item>
  label: string
  render: (item: Item) => ComponentChildren
  /** The address that an item opens, such as `/people/<id>`. */
  open?: (item: Item) => string
  empty?: ComponentChildren
  /** Ids of what is selected; with it each item can be. */
  selected?: Signal<Set<string>>
  keys?: Record<string, (item: Item) => void>
}
/** A list by page, in which J, K and the arrows move, Enter opens and X selects. */
export function List<Item extends { id: string | number }>(props: ListProps<Item>) {
  const { of: { items, load, more, isLoadingMore }, selected } = props
  const list = useRef<HTMLUListElement>(null)
  const rows = () => [...list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? []]
  const here = () => rows().findIndex((row) => row.closest('li')?.contains(document.activeElement))
  const move = (by: number) => {
    const at = here()
    const row = rows()[at < 0 ? 0 : at + by]
    row?.focus()
    row?.scrollIntoView({ block: 'nearest' })
    if (at + by >= items.length - 1) more?.()
  }
  const toggle = (item: Item | undefined) => {
    if (!item || !selected) return
    const next = new Set(selected.value)
    if (!next.delete(String(item.id))) next.add(String(item.id))
    selected.value = next
  }
  const onItem = (act: (item: Item) => void) => () => {
    const item = items[here()]
    if (item) act(item)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    ...selected && { x: onItem(toggle) },
    ...Object.fromEntries(Object.entries(props.keys ?? {}).map(([key, act]) => [key, onItem(act)])),
  })
  if (load.state === 'failed') return <Failed error={load.error} retry={load.reload} />
  if (load.state === 'loading') return <Skeleton rows={8} />
  if (!items.length) return <Empty>{props.empty}</Empty>
  return (
    <>
      <ul class='list' aria-label={props.label} ref={list}>
        {items.map((item) => (
          <li key={item.id}>
            {selected && (
              <input
                type='checkbox'
                aria-label={t('choose')}
                checked={selected.value.has(String(item.id))}
                onChange={() => toggle(item)}
              />
            )}
            {props.open
              ? <a data-row href={`#${props.open(item)}`}>{props.render(item)}</a>
              : <div data-row tabIndex={0}>{props.render(item)}</div>}
          </li>
        ))}
      </ul>
      {more && (
        <div class='more'>
          <Button onClick={more} aria-busy={isLoadingMore}>{t('more')}</Button>
        </div>
      )}
    </>
  )
}

/** The address of a file of the service or its Storage; undefined for any other. */
export function ownAddress(given: string | null | undefined): string | undefined {
  if (!given || !URL.canParse(given, service)) return undefined
  const url = new URL(given, service)
  return url.origin === new URL(service).origin && /^https?:$/.test(url.protocol) ? url.href : undefined
}

type PictureProps = { src: string | null | undefined; alt: string; class?: string }
/** A picture of the service; what is suspended has no public address and is fetched with the token. */
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

/** A text that is copied by a press, such as an address that is not opened here. */
export const Copy = ({ text }: { text: string }) => (
  <span class='copy'>
    <bdi>{text}</bdi>
    <Button
      plain
      aria-label={`${t('copy')} ${text}`}
      onClick={() => navigator.clipboard.writeText(text).then(() => say(t('copied')))}
    >
      {t('copy')}
    </Button>
  </span>
)
