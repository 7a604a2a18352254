// Components that the rooms people, money, figures, settings and audit share: coloured states, tables,
// filters, tabs, and dialogs that send one request at a time, show why it failed, and close when it has
// succeeded.
import { type Signal, useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { api, textOf, word } from './api.ts'
import { Badge, Button, Choice, Dialog, Field, say, Time, type Tone } from './parts.tsx'
import { t } from './words.ts'

const toned: Partial<Record<Tone, string>> = {
  good: 'active paid captured settled',
  bad: 'suspended banned deleted rejected failed upheld mismatch unmatched',
  warn: 'pending_review pending_verification expired open surplus processing',
}
/** Shows a code of a vocabulary as a coloured badge with its text. */
export function State({ of, in: vocabulary }: { of: string; in: string }) {
  const [tone] = Object.entries(toned).find(([, codes]) => codes.split(' ').includes(of)) ?? ['calm']
  return <Badge tone={tone as Tone}>{word(vocabulary, of)}</Badge>
}

export const Two = ({ top, under }: { top: ComponentChildren; under: ComponentChildren }) =>
  <><bdi>{top}</bdi><small class='under'>{under}</small></>

type TableProps = { label: string; heads: string[]; rows: [key: string | number, ...cells: ComponentChildren[]][] }
/**
 * A table whose first column has the row headings. It scrolls if it is too wide. `ends` are columns of
 * numbers.
 */
export function Table({ label, heads, ends = [], rows }: TableProps & { ends?: number[] }) {
  const end = (column: number) => ends.includes(column) ? 'end' : ''
  return <div class='scroll' role='group' aria-label={label} tabIndex={0}>
    <table>
      <thead><tr>{heads.map((head, at) => <th key={at} scope='col' class={end(at)}>{head}</th>)}</tr></thead>
      <tbody>
        {rows.map(([key, first, ...cells]) => <tr key={key}>
          <th scope='row'>{first}</th>
          {cells.map((cell, at) => <td key={at} class={end(at + 1)}>{cell}</td>)}
        </tr>)}
      </tbody>
    </table>
  </div>
}

export type Option = [value: string, text: string]
export const codes = (vocabulary: string, all: string): Option[] =>
  all.split(' ').map((code) => [code, word(vocabulary, code)])
export const yesOrNo = (): Option[] => [['true', t('yes')], ['false', t('no')]]

export type Chosen = Record<string, string>
type Filter = [name: string, label: string, options: Option[], none?: string]
/** Drop-down filters of a list. Filters without a choice are not sent. */
export function Filters({ of, all, children }: { of: Signal<Chosen>; all: Filter[]; children?: ComponentChildren }) {
  const choose = (name: string) => (value: string) => {
    const { [name]: _, ...others } = of.value
    of.value = value ? { ...others, [name]: value } : others
  }
  const choices = all.map(([name, label, options, none = t('any')]) =>
    <Choice key={name} label={label} value={of.value[name] ?? ''} options={[['', none], ...options]}
      onChoose={choose(name)} />)
  return <div class='filters'>{children}{choices}</div>
}

type TabsProps = { label: string; room: string; shown: string; of: Option[] }
export const Tabs = ({ label, room, shown, of }: TabsProps) => <nav class='tabs' aria-label={label}>
  {of.map(([id, text]) =>
    <a key={id} href={`#/${room}/${id}`} aria-current={id === shown ? 'page' : undefined}>{text}</a>)}
</nav>

/** The dialog stays open if `send` resolves to false. */
type SendingProps = { title: string; onClose: () => void; send: () => Promise<unknown>; wide?: boolean }
  & { children: ComponentChildren; buttons: ComponentChildren }
export function Sending({ title, onClose, send, wide = false, children, buttons }: SendingProps) {
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    fault.value = ''
    await send().then((isDone) => isDone === false || onClose(), (error) => (fault.value = textOf(error)))
    isBusy.value = false
  }
  return <Dialog title={title} onClose={onClose} wide={wide}>
    <form onSubmit={(event) => void submit(event)} aria-busy={isBusy.value}>
      {children}
      <p class='bad' role='alert'>{fault.value}</p>
      <div class='row'>{buttons}<Button onClick={onClose}>{t('cancel')}</Button></div>
    </form>
  </Dialog>
}

/** An action that the user has to confirm in a dialog. */
export type Act = {
  title: string; about?: string
  /** The label of the field for the reason; null if no reason is required. */
  reason?: string | null
  /** Set if the action cannot be undone: the user has to tick a box first. A text replaces its label. */
  isFinal?: boolean | string
  more?: () => ComponentChildren
  /** Returns false while a field of `more` has no valid value. */
  isReady?: () => boolean
  send: (reason: string) => Promise<unknown>
}

/** Returns the dialog, and `ask`, which opens it for an action. */
export function useActs() {
  const open = useSignal<Act | undefined>(undefined)
  const dialog = open.value && <ActDialog act={open.value} onClose={() => (open.value = undefined)} />
  return { ask: (act: Act) => (open.value = act), dialog }
}

function ActDialog({ act, onClose }: { act: Act; onClose: () => void }) {
  const { title, about, reason: label = t('reason'), isFinal = false, more, isReady } = act
  const reason = useSignal('')
  const isSure = useSignal(!isFinal)
  const why = reason.value.trim()
  const isOff = !isSure.value || (label !== null && why.length < 2) || isReady?.() === false
  const button = <Button main={!isFinal} danger={Boolean(isFinal)} submits disabled={isOff}>{title}</Button>
  return <Sending title={title} onClose={onClose} send={() => act.send(why)} buttons={button}>
    {about && <p>{about}</p>}
    {more?.()}
    {label !== null && <Field label={label} value={reason} rows={3} maxLength={500} required />}
    {isFinal && <Check label={isFinal === true ? t('sure') : isFinal} value={isSure} />}
  </Sending>
}

export const Check = ({ label, value }: { label: string; value: { value: boolean } }) => <label class='check'>
  <input type='checkbox' checked={value.value} onChange={() => (value.value = !value.value)} /> {label}
</label>

type SectionProps = { title: string; of: unknown[]; head?: ComponentChildren; children: ComponentChildren }
export const Section = ({ title, of, head, children }: SectionProps) => <section class='card' aria-label={title}>
  <h2>{title} <small>{of.length >= 50 ? t('newest50') : of.length}</small></h2>
  {head}
  {of.length ? children : <p class='soft'>{t('none')}</p>}
</section>

type Note = Schemas['Note']
type NotesProps = { of: Note[]; label: string; on: Pick<Note, 'targetType' | 'targetId'>; reload: () => void }
/** Administrators' notes about an object, with a field to add another. */
export function Notes({ of, label, on, reload }: NotesProps) {
  const text = useSignal('')
  const add = async () => {
    await api.post('/admin/notes', { body: { ...on, text: text.value } })
    text.value = ''
    say(t('noted'))
    reload()
  }
  const form = <>
    <Field label={label} value={text} rows={2} maxLength={1000} />
    <div><Button onClick={add} disabled={!text.value.trim()}>{t('add')}</Button></div>
  </>
  return <Section title={t('notes')} of={of} head={form}>
    {of.map(({ id, text, by, targetType, createdAt }) => <div key={id} class='entry'>
      <p class='text' dir='auto'>{text}</p>
      <small><bdi>{by.fullName}</bdi> · {word('noteTarget', targetType)} · <Time at={createdAt} full /></small>
    </div>)}
  </Section>
}
