// A form that sends the version that it showed. If somebody else has changed the row, it shows both changes.
import { Button, Choice, Field, isCode, type Option, say, Sending, signal, t as common, Table } from '../frame/index.ts'
import { useSignal } from '../frame/index.ts'
import { t } from './words.ts'

export type FormField = { name: string; label: string; options?: Option[]; rows?: number; isNumber?: boolean }
export type Texts = Record<string, string>
type FormProps<Row> = {
  title: string; about: string; row: Row; fields: FormField[]; onClose: () => void
  /** Returns the values of a row's fields as text. */
  textsOf: (row: Row) => Texts
  send: (typed: Texts, row: Row) => Promise<unknown>
  /** Loads the current version of the row. */
  again: () => Promise<Row | undefined>
}

export function Form<Row>({ title, about, fields, textsOf, send, again, onClose, ...props }: FormProps<Row>) {
  const row = useSignal(props.row)
  const newer = useSignal<Row | undefined>(undefined)
  const values = useSignal(fields.map(({ name }) => signal(textsOf(props.row)[name]!))).value
  const was = textsOf(row.value)
  const now = newer.value && textsOf(newer.value)
  const typed = Object.fromEntries(fields.map(({ name }, at) => [name, values[at]!.value]))
  const save = async () => {
    try {
      await send(typed, row.value)
      say(t('saved'))
    } catch (error) {
      if (!isCode(error, 'version_conflict')) throw error
      newer.value = await again()
      return false
    }
  }
  /** Continues with the newer row. With `mine`, keeps the values that were typed in this form. */
  const goOn = (mine: boolean) => {
    fields.forEach(({ name }, at) => {
      if (!mine || typed[name] === was[name]) values[at]!.value = now![name]!
    })
    row.value = newer.value!
    newer.value = undefined
  }
  const takeNew = <Button main onClick={() => goOn(false)}>{t('loadNew')}</Button>
  const keepMine = <Button onClick={() => goOn(true)}>{t('keepMine')}</Button>
  const buttons = now ? [takeNew, keepMine] : <Button main submits>{common('save')}</Button>
  return <Sending title={title} onClose={onClose} send={save} buttons={buttons} wide>
    <p class='soft' dir='auto'>{about}</p>
    <div class='fields'>
      {fields.map(({ name, label, options, rows, isNumber }, at) => {
        const value = values[at]!
        const more = isNumber ? { inputMode: 'decimal', dir: 'ltr', required: true } as const : rows ? { rows } : {}
        if (!options) return <Field key={name} label={label} value={value} {...more} />
        const choose = (one: string) => (value.value = one)
        return <Choice key={name} label={label} value={value.value} options={options} onChoose={choose} />
      })}
    </div>
    {now && <p class='warn' role='alert'>{t('conflict')}</p>}
    {now && <Table label={t('conflict')} heads={[t('field'), t('was'), t('isNow'), t('mine')]}
      rows={fields.filter(({ name }) => was[name] !== now[name] || typed[name] !== was[name])
        .map(({ name, label }) => [name, label, was[name], now[name], typed[name]])} />}
  </Sending>
}
