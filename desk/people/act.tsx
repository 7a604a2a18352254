// Dialogs that send something: once at a time, with why it could not be, and closed when it is done.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { textOf } from '../frame/api.ts'
import { Button, Dialog, Field } from '../frame/parts.tsx'
import { t as common } from '../frame/words.ts'
import { t } from './words.ts'

/** `send` gives false where the dialog stays open. */
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
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form onSubmit={(event) => void submit(event)} aria-busy={isBusy.value}>
        {children}
        <p class='bad' role='alert'>{fault.value}</p>
        <div class='row'>{buttons}<Button onClick={onClose}>{common('cancel')}</Button></div>
      </form>
    </Dialog>
  )
}

/** Something that is asked about before it is done. */
export type Act = {
  title: string
  about?: string
  /** What the text is called that goes with it; null: none is asked for. */
  reason?: string | null
  /** There is no way back, which one has to say that one knows; in other words if they are given. */
  isFinal?: boolean | string
  more?: () => ComponentChildren
  /** False while something of `more` is missing. */
  isReady?: () => boolean
  send: (reason: string) => Promise<unknown>
}

/** Returns what asks about an act, and the dialog to be drawn. */
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
  return (
    <Sending title={title} onClose={onClose} send={() => act.send(why)} buttons={button}>
      {about && <p>{about}</p>}
      {more?.()}
      {label !== null && <Field label={label} value={reason} rows={3} maxLength={500} required />}
      {isFinal && <Check label={isFinal === true ? t('sure') : isFinal} value={isSure} />}
    </Sending>
  )
}

export const Check = ({ label, value }: { label: string; value: { value: boolean } }) => (
  <label class='check'>
    <input type='checkbox' checked={value.value} onChange={() => (value.value = !value.value)} /> {label}
  </label>
)
