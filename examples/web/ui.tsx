// The components of pages: loading, lists, loading and error states, and form controls.
import { isApiError, readNumber } from 'kuwait-property-client'
import type { ButtonHTMLAttributes, ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import icons from './icons.svg?no-inline'
import { go, keep, takeKept, to } from './router.ts'
import { areaName, type Card, client, me, picture, textOf, titled } from './service.ts'
import { number, type Text, t } from './words.ts'

type Children = { children?: ComponentChildren }
export type Load<Value> = { value?: Value; error?: unknown; reload: () => void }

/** Loads on mount and whenever `deps` change. During a `reload`, the old value stays visible. */
export function useLoad<Value>(load: (signal: AbortSignal) => Promise<Value>, deps: unknown[] = []): Load<Value> {
  const [now, set] = useState<{ value?: Value; error?: unknown }>({})
  const [turn, again] = useState(0)
  const last = useRef(0)
  useLayoutEffect(() => {
    const screen = new AbortController()
    if (last.current === turn || now.error) set({})
    last.current = turn
    load(screen.signal).then(
      (value) => screen.signal.aborted || set({ value }),
      (error) => screen.signal.aborted || set({ error }),
    )
    return () => screen.abort()
  }, [...deps, turn])
  return { ...now, reload: () => again((one) => one + 1) }
}

/** Loads a list page by page. After Back, all pages that had been loaded are shown again. */
export function usePages<P extends { items: unknown[]; nextCursor: string | null }>(
  ask: (page: { cursor?: string }, signal?: AbortSignal) => Promise<P>, deps: unknown[] = [],
) {
  const [pages, setPages] = useState<P[]>([])
  const first = useLoad(async (signal) => {
    const found = takeKept() as P[] | undefined ?? [await ask({}, signal)]
    setPages(found)
    return found[0]!
  }, deps)
  useLayoutEffect(() => void (pages.length && keep(pages)), [pages])
  const cursor = pages.at(-1)?.nextCursor
  const more = async () => {
    const page = await ask({ cursor: cursor! })
    setPages((now) => now.at(-1)?.nextCursor === cursor ? [...now, page] : now)
  }
  const shown = first.value ? pages : []
  const items: P['items'][number][] = shown.flatMap(({ items }) => items)
  return { ...first, pages: shown, items, more: cursor ? more : undefined }
}

/** A skeleton. After some seconds, it shows that the connection is slow (style.css). */
export const Loading = () => <div class='loading' role='status' aria-label={t('loading')}><i /><i /><i /><p>{t('slow')}</p></div>

/** Shows what failed and what the user can do about it, instead of an empty page. */
export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
  const { code, status } = isApiError(error) ? error : { code: '', status: -1 }
  useEffect(() => {
    if (code !== 'connection') return
    addEventListener('online', retry)
    return () => removeEventListener('online', retry)
  }, [code])
  return <div class='none' role='alert'>
    <Icon name={code === 'connection' ? 'no-line' : status === 404 ? 'gone' : 'fault'} />
    <p>{code === 'connection' ? t('offlineLong') : textOf(error)}</p>
    {status === 404 ? <a class='button' href={to('search')}>{t('toSearch')}</a> : <Button onClick={retry}>{t('retry')}</Button>}
  </div>
}
export const None = ({ icon = 'search', children }: Children & { icon?: string }) => <div class='none'><Icon name={icon} />{children}</div>

export function Loaded<Value>({ of, children }: { of: Load<Value>; children: (value: Value) => ComponentChildren }) {
  if (of.error !== undefined) return <Failed error={of.error} retry={of.reload} />
  return of.value === undefined ? <Loading /> : <>{children(of.value)}</>
}

type ListProps<Item> = {
  of: Load<unknown> & { items: Item[]; more?: (() => Promise<void>) | undefined }
  kind?: string; none: ComponentChildren; children: (item: Item, index: number) => ComponentChildren
}
export const List = <Item,>({ of, kind = 'list', none, children }: ListProps<Item>) => <Loaded of={of}>{() =>
  of.items.length ? <>
    <div class={kind}>{of.items.map(children)}</div>
    {of.more && <p class='more'><Button second onClick={of.more}>{t('more')}</Button></p>}
  </> : <>{none}</>}</Loaded>

/** The heading of a page. Also sets the title of the window. */
export function Title({ text, children }: Children & { text: string }) {
  useEffect(() => void (document.title = `${text} · ${t('brand')}`), [text])
  return <div class='title'><h1>{text}</h1>{children}</div>
}

/** Shows a message and announces it to screen readers. */
export function say(text: string) {
  const said = document.getElementById('said')!
  said.textContent = text
  setTimeout(() => said.textContent === text && (said.textContent = ''), 6000)
}
export const explain = (error: unknown) => say(textOf(error))
/** Switches to another identity of the account: the user, or one of the user's companies and offices. */
export const actAs = async (id: string) => say(t('nowActingAs', { name: (await client.auth.switchIdentity(id)).activeIdentity!.displayName }))

type ButtonProps = Omit<ButtonHTMLAttributes, 'onClick'> & Children & { onClick?: () => unknown; second?: boolean }
/** A button that ignores clicks while its action is running, and shows why the action failed. */
export function Button({ onClick, second, ...rest }: ButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const press = async () => {
    if (isBusy) return
    setBusy(true)
    await Promise.resolve().then(onClick).catch(explain)
    setBusy(false)
  }
  return <button type='button' class={second ? 'second' : ''} {...rest as object} aria-busy={isBusy} onClick={() => void press()} />
}

type DialogProps = Children & { title: string; wide?: boolean; onClose: () => void; onKey?: (key: string) => void }
export function Dialog({ title, wide, onClose, onKey, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  return <dialog ref={dialog} class={wide ? 'wide' : ''} aria-label={title} onClose={onClose} onKeyDown={({ key }) => onKey?.(key)}
    onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}>
    <div class='title'><h2>{title}</h2>
      <button type='button' class='plain' aria-label={t('close')} onClick={() => dialog.current?.close()}>✕</button></div>
    {children}
  </dialog>
}

type Labelled = { label: string; error?: string | undefined }
/** A label with a control, which receives the id and ARIA attributes. */
export function Field({ label, error, children }: Labelled & { children: (id: object) => ComponentChildren }) {
  const id = useId()
  return <div class='field'><label for={id}>{label}</label>
    {children({ id, 'aria-invalid': Boolean(error), 'aria-describedby': error && `${id}-fault` })}
    {error && <small class='wrong' id={`${id}-fault`}>{error}</small>}
  </div>
}
export const Input = ({ label, error, ...rest }: Labelled & InputHTMLAttributes) =>
  <Field label={label} error={error}>{(id) => <input {...id} {...rest as object} />}</Field>
export type Option = [code: string, text: string]
type SelectProps = Labelled & { name: string; value?: string | null; options: Option[]; onChange?: (value: string) => void }
export const Select = ({ label, error, options, value, onChange, ...rest }: SelectProps) =>
  <Field label={label} error={error}>{(id) =>
    <select {...id} {...rest} onChange={({ currentTarget }) => onChange?.(currentTarget.value)}>
      {options.map(([code, text]) => <option key={code} value={code} selected={code === (value ?? '')}>{text}</option>)}
    </select>}</Field>

/**
 * A number as people type it, including ٣٥٠ and 1,200. If the text is ambiguous, the user chooses the number;
 * if it is not a number, an error is shown. The app never sends a number that the user did not mean.
 */
export function NumberInput({ value, error, ...rest }: Labelled & { name: string; value?: number | null | undefined }) {
  const [typed, setTyped] = useState(value === null || value === undefined ? '' : `${value}`.replace('.', '٫'))
  const [isLeft, setLeft] = useState(false)
  const read = readNumber(typed)
  const choose = (one: number) => setTyped(`${one}`.replace('.', '٫')) // ٫ is always the decimal separator
  return <>
    <Input {...rest} error={isLeft && numberFault(typed) || error} value={typed} inputMode='decimal' dir='ltr' autocomplete='off'
      onInput={({ currentTarget }) => setTyped(currentTarget.value)} onBlur={() => setLeft(true)} />
    {read.reason === 'ambiguous' && <div class='line'>{read.readings.map((one) =>
      <button key={one} type='button' class='chip' onClick={() => choose(one)}>{number(one)}</button>)}</div>}
  </>
}
const why: Record<string, Text | ''> = { empty: '', ambiguous: 'numberAmbiguous', too_long: 'numberTooLong', not_a_number: 'numberNone' }
/** Returns why a text is not a number; empty if it is a number or there is no text. */
function numberFault(typed: string): string {
  const text = why[readNumber(typed).reason ?? 'empty']
  return text ? t(text) : ''
}
export type Faults = Record<string, string>
/** The values of a form: numbers as numbers, empty fields as null. `faults` are the invalid numbers. */
export function valuesOf(form: HTMLFormElement, numbers: string[]) {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()] as const)
  const faults: Faults = Object.fromEntries(fields.filter(([name, text]) => numbers.includes(name) && numberFault(text))
    .map(([name, text]) => [name, numberFault(text)]))
  const values = Object.fromEntries(fields.map(([name, text]) => [name, numbers.includes(name) ? readNumber(text).value : text || null]))
  return { values, faults, isRight: !Object.keys(faults).length }
}
export const faultsOf = (error: unknown): Faults =>
  isApiError(error) ? Object.fromEntries(error.fields.map(({ path, message }) => [path, message])) : {}
export const submitted = (act: (form: HTMLFormElement) => Promise<unknown>) => (event: SubmitEvent) => {
  event.preventDefault()
  act(event.currentTarget as HTMLFormElement).catch(explain)
}

export const Icon = ({ name }: { name: string }) => <svg aria-hidden='true'><use href={`${icons}#${name}`} /></svg>
export const Face = ({ of: { avatarUrl, displayName } }: { of: { avatarUrl: string | null; displayName: string } }) =>
  avatarUrl ? <img class='face' src={picture(160, avatarUrl)} alt='' /> : <span class='face' aria-hidden='true'>{displayName[0]}</span>

export function Heart({ id, on, title }: { id: string; on: boolean; title: string }) {
  const [isSaved, setSaved] = useState(on)
  const toggle = async () => {
    if (!me()) return go(to('sign-in', { to: location.hash }))
    setSaved((await client.post('/favorites/{propertyId}', { path: { propertyId: id } })).isFavorite)
  }
  return <Button class='heart' aria-label={`${t('save')}: ${title}`} aria-pressed={isSaved} onClick={toggle}><Icon name='favorites' /></Button>
}

export function CardOf({ card, note }: { card: Card; note?: string | undefined }) {
  const size = card.landAreaM2 ?? card.builtAreaM2
  const facts = [areaName(card.areaId), card.bedrooms && t('bedroomsOf', { n: card.bedrooms }), size && t('squareMetres', { n: size })]
  return <article class='card'>
    {card.picture ? <img class='cover' src={picture(640, card.picture.url)} alt='' loading='lazy' />
      : <div class='cover'>{t('noPicture')}</div>}
    <Heart id={card.id} on={card.isFavorite} title={titled(card)} />
    <div class='about'><strong>{card.priceLabel}</strong>
      {card.dropPct && <span class='drop'>{t('dropped', { n: card.dropPct })}</span>}
      <h2><a href={to(`listing/${card.id}`)}>{titled(card)}</a></h2>
      <p>{facts.filter(Boolean).join(' · ')}</p>{note && <p class='note'>{note}</p>}</div>
  </article>
}
