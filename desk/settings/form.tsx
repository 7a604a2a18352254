// A form that sends the version it showed. What somebody else changed meanwhile is shown beside what was typed.
import { signal, useSignal } from '@preact/signals'
import { isCode, textOf } from '../frame/api.ts'
import { Button, Choice, Dialog, Field, say } from '../frame/parts.tsx'
import { t as common } from '../frame/words.ts'
import { type Option, Table } from '../people/parts.tsx'
import { t } from './words.ts'

export type FormField = { name: string; label: string; options?: Option[]; rows?: number; isNumber?: boolean }
type Texts = Record<string, string>
export type FormProps<Row> = {
  title: string
  about: string
  row: Row
  fields: FormField[]
  /** The texts of the fields of a row. */
  textsOf: (row: Row) => Texts
  /** Sends what was typed; a text that it returns says why it cannot. */
  send: (typed: Texts, row: Row) => Promise<string | void>
  /** Asks for the row as it is now. */
  again: () => Promise<Row | undefined>
  onClose: () => void
}

export function Form<Row>({ title, about, fields, textsOf, send, again, onClose, ...props }: FormProps<Row>) {
  const row = useSignal(props.row)
  const values = useSignal(fields.map(({ name }) => signal(textsOf(props.row)[name]!))).value
  const newer = useSignal<Row | undefined>(undefined)
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const was = textsOf(row.value)
  const now = newer.value && textsOf(newer.value)
  const typed = Object.fromEntries(fields.map(({ name }, at) => [name, values[at]!.value]))
  const attempt = async () => {
    try {
      fault.value = await send(typed, row.value) ?? ''
      if (fault.value) return
      say(t('saved'))
      onClose()
    } catch (error) {
      fault.value = textOf(error)
      if (isCode(error, 'version_conflict')) newer.value = await again().catch(() => undefined)
    }
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    await attempt()
    isBusy.value = false
  }
  /** Goes on from the newer row, with what was typed here if so. */
  const goOn = (keepsMine: boolean) => {
    fields.forEach(({ name }, at) => {
      if (!keepsMine || typed[name] === was[name]) values[at]!.value = now![name]!
    })
    row.value = newer.value!
    newer.value = undefined
    fault.value = ''
  }
  return (
    <Dialog title={title} onClose={onClose} wide>
      <form onSubmit={(event) => void submit(event)}>
        <p class='soft' dir='auto'>{about}</p>
        <div class='fields'>
          {fields.map(({ name, label, options, rows, isNumber }, at) => {
            const value = values[at]!
            if (options) {
              return (
                <Choice
                  key={name}
                  label={label}
                  value={value.value}
                  options={options}
                  onChoose={(one) => (value.value = one)}
                />
              )
            }
            const more = isNumber ? { inputMode: 'decimal', dir: 'ltr', required: true } as const : rows ? { rows } : {}
            return <Field key={name} label={label} value={value} {...more} />
          })}
        </div>
        <p class='bad' role='alert'>{fault.value}</p>
        {now && (
          <Table
            label={t('conflict')}
            heads={[t('field'), t('was'), t('isNow'), t('mine')]}
            rows={fields.filter(({ name }) => was[name] !== now[name] || typed[name] !== was[name])
              .map(({ name, label }) => [name, label, was[name], now[name], typed[name]])}
          />
        )}
        <div class='row'>
          {now
            ? <Button main onClick={() => goOn(false)}>{t('loadNew')}</Button>
            : <Button main submits>{common('save')}</Button>}
          {now && <Button onClick={() => goOn(true)}>{t('keepMine')}</Button>}
          <Button onClick={onClose}>{common('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
