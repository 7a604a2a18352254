// A form that sends the version it showed. What somebody else changed meanwhile is shown beside what was typed.
import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { isCode, textOf } from '../frame/api.ts'
import { Button, Dialog, say } from '../frame/parts.tsx'
import { t as common } from '../frame/words.ts'
import { t } from './words.ts'

export type Values = Record<string, Signal<string>>
type FormProps<Row extends { version: number }> = {
  title: string
  about?: string
  row: Row
  /** The texts of the fields of a row, in their order. */
  textsOf: (row: Row) => Record<string, string>
  nameOf: (field: string) => string
  fields: (values: Values) => ComponentChildren
  /** Sends what was typed; a text that it returns is why it cannot. */
  send: (typed: Record<string, string>, row: Row) => Promise<string | void>
  /** Asks for the row as it is now. */
  again: () => Promise<Row | undefined>
  onClose: () => void
}

export function Form<Row extends { version: number }>(props: FormProps<Row>) {
  const row = useSignal(props.row)
  const values = useSignal(signalsOf(props.textsOf(props.row))).value
  const newer = useSignal<Row | undefined>(undefined)
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const typed = () => Object.fromEntries(Object.entries(values).map(([name, { value }]) => [name, value]))
  const take = (texts: Record<string, string>) => Object.entries(texts).forEach(([name, text]) => (values[name]!.value = text))
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    fault.value = ''
    try {
      fault.value = await props.send(typed(), row.value) ?? ''
      if (!fault.value) {
        say(t('saved'))
        props.onClose()
      }
    } catch (error) {
      fault.value = textOf(error)
      if (isCode(error, 'version_conflict')) newer.value = await props.again().catch(() => undefined)
    }
    isBusy.value = false
  }
  /** Goes on from the newer row; `mine` keeps the fields that were changed here. */
  const goOn = (mine: boolean) => {
    const [was, now] = [props.textsOf(row.value), props.textsOf(newer.value!)]
    take(mine ? Object.fromEntries(Object.entries(now).filter(([name]) => values[name]!.value === was[name])) : now)
    row.value = newer.value!
    newer.value = undefined
    fault.value = ''
  }
  return (
    <Dialog title={props.title} onClose={props.onClose} wide>
      <form onSubmit={(event) => void submit(event)}>
        {props.about && <p class='soft'>{props.about}</p>}
        <div class='fields'>{props.fields(values)}</div>
        {newer.value && <Conflict was={props.textsOf(row.value)} now={props.textsOf(newer.value)} mine={typed()} nameOf={props.nameOf} />}
        <p class='bad' role='alert'>{newer.value ? '' : fault.value}</p>
        <div class='row'>
          {newer.value
            ? <><Button main onClick={() => goOn(false)}>{t('loadNew')}</Button><Button onClick={() => goOn(true)}>{t('keepMine')}</Button></>
            : <Button main submits aria-busy={isBusy.value}>{common('save')}</Button>}
          <Button onClick={props.onClose}>{common('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

const signalsOf = (texts: Record<string, string>): Values =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, signal(text)]))

type Texts = Record<string, string>
function Conflict({ was, now, mine, nameOf }: { was: Texts; now: Texts; mine: Texts; nameOf: (field: string) => string }) {
  const names = Object.keys(now).filter((name) => was[name] !== now[name] || mine[name] !== was[name])
  return (
    <section class='banner' role='alert'>
      <p>{t('conflict')}</p>
      <div class='scroll'>
        <table>
          <thead><tr><th>{t('field')}</th><th>{t('was')}</th><th>{t('isNow')}</th><th>{t('mine')}</th></tr></thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope='row'>{nameOf(name)}</th>
                {[was, now, mine].map((texts, at) => <td key={at}><bdi>{texts[name] || '—'}</bdi></td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
