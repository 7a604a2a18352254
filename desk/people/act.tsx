// An act that is asked about before it is done: what comes of it, why, and whether one is sure.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { textOf } from '../frame/api.ts'
import { Button, Dialog, Field } from '../frame/parts.tsx'
import { t as common } from '../frame/words.ts'
import { t } from './words.ts'

export type Act = {
  title: string
  about?: string
  /** What the text is called that goes with it; null: none is asked for. */
  reason?: string | null
  /** There is no way back, which one has to say that one knows. */
  isFinal?: boolean
  /** What one says then, in other words than these. */
  sure?: string
  more?: () => ComponentChildren
  /** False while something of `more` is missing. */
  isReady?: () => boolean
  send: (reason: string) => Promise<unknown>
}

/** Returns what asks about an act, and the dialog to be drawn. */
export function useActs() {
  const open = useSignal<Act | undefined>(undefined)
  const close = () => (open.value = undefined)
  return {
    ask: (act: Act) => (open.value = act),
    dialog: open.value && <ActDialog act={open.value} onClose={close} />,
  }
}

function ActDialog({ act, onClose }: { act: Act; onClose: () => void }) {
  const { title, about, reason: label = t('reason'), isFinal = false, more, isReady } = act
  const reason = useSignal('')
  const isSure = useSignal(!isFinal)
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const why = reason.value.trim()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    fault.value = ''
    await act.send(why).then(onClose, (error) => (fault.value = textOf(error)))
    isBusy.value = false
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {about && <p>{about}</p>}
        {more?.()}
        {label !== null && <Field label={label} value={reason} rows={3} maxLength={500} required />}
        {isFinal && <Check label={act.sure ?? t('sure')} value={isSure} />}
        <p class='bad' role='alert'>{fault.value}</p>
        <div class='row'>
          <Button
            main={!isFinal}
            danger={isFinal}
            submits
            disabled={!isSure.value || (label !== null && why.length < 2) || isReady?.() === false}
            aria-busy={isBusy.value}
          >
            {title}
          </Button>
          <Button onClick={onClose}>{common('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

export const Check = ({ label, value }: { label: string; value: { value: boolean } }) => (
  <label class='check'>
    <input type='checkbox' checked={value.value} onChange={() => (value.value = !value.value)} /> {label}
  </label>
)
