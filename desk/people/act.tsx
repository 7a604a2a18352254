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
  more?: () => ComponentChildren
  /** False while something of `more` is missing. */
  isReady?: () => boolean
  send: (reason: string) => Promise<unknown>
}

export function ActDialog({ act, onClose }: { act: Act; onClose: () => void }) {
  const reason = useSignal('')
  const isSure = useSignal(!act.isFinal)
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const why = reason.value.trim()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value) return
    isBusy.value = true
    fault.value = ''
    try {
      await act.send(why)
      onClose()
    } catch (error) {
      fault.value = textOf(error)
    }
    isBusy.value = false
  }
  const isReady = isSure.value && (act.reason === null || why.length > 1) && (act.isReady?.() ?? true)
  return (
    <Dialog title={act.title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {act.about && <p>{act.about}</p>}
        {act.more?.()}
        {act.reason !== null && <Field label={act.reason ?? t('reason')} value={reason} rows={3} maxLength={500} required />}
        {act.isFinal && (
          <label class='check'>
            <input type='checkbox' checked={isSure.value} onChange={() => (isSure.value = !isSure.value)} /> {t('sure')}
          </label>
        )}
        <p class='bad' role='alert'>{fault.value}</p>
        <div class='row'>
          <Button main={!act.isFinal} danger={act.isFinal ?? false} submits disabled={!isReady} aria-busy={isBusy.value}>{act.title}</Button>
          <Button onClick={onClose}>{common('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
