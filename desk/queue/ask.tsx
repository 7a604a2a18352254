// Asks for what a decision needs beside itself: a reason that the person reads, or the reference of a transfer.
import { signal, useSignal } from '@preact/signals'
import { word } from '../frame/api.ts'
import { Button, Dialog, Field } from '../frame/parts.tsx'
import { t as frame } from '../frame/words.ts'
import { decide, type Decision, type Item, reasons } from './store.ts'
import { t } from './words.ts'

type Asked = { items: Item[]; decision: Decision; send?: (reason: string) => Promise<unknown> }
export const asked = signal<Asked | undefined>()

export const Ask = () => asked.value ? <Form key={asked.value.items[0]?.id} {...asked.value} /> : null

function Form({ items, decision, send }: Asked) {
  const reason = useSignal('')
  const tongue = useSignal<'textAr' | 'textEn'>('textAr')
  const chosen = useSignal('')
  const everywhere = useSignal(false)
  const kinds = new Set(items.map(({ kind }) => kind))
  const usual = decision === 'paid_out' ? [] : reasons.value.filter((one) => one.kinds.some((kind) => kinds.has(kind)))
  const report = items.length === 1 ? items[0]!.report : null
  const hides = items.some((item) => item.report && ['message', 'review'].includes(item.report.targetType))
  const close = () => (asked.value = undefined)

  const choose = (code: string) => {
    chosen.value = code
    reason.value = usual.find((one) => one.code === code)?.[tongue.value] ?? reason.value
  }
  const submit = () => {
    if (!reason.value.trim()) return
    close()
    if (send) return void send(reason.value)
    const given = decision === 'paid_out' ? { note: reason.value } : { reason: reason.value }
    decide(items, { decision, ...given, ...everywhere.value && { everywhere: true } })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const one = usual[Number(event.key) - 1]
    if (event.key === 'Enter' && (event.ctrlKey || !(event.target as Element).matches('textarea, button'))) submit()
    else if (one && !(event.target as Element).matches('textarea')) choose(one.code)
    else return
    event.preventDefault()
  }
  return (
    <Dialog
      title={`${word('moderationDecision', decision)}${items.length > 1 ? ` (${items.length})` : ''}`}
      onClose={close}
    >
      <form
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {hides && <p class='soft'>{t('upholdHides')}</p>}
        {report?.targetType === 'property' && <p class='soft'>{t('upholdSuspends')}</p>}
        {usual.length > 0 && (
          <>
            <fieldset>
              <legend>{t('usual')}</legend>
              {usual.map(({ code, textAr, textEn }, at) => (
                <label key={code} class='check'>
                  <input type='radio' name='usual' checked={chosen.value === code} onChange={() => choose(code)} />
                  <span>
                    <bdi lang='ar'>{textAr}</bdi>{' '}
                    <small lang='en'>
                      <bdi>{textEn}</bdi>
                    </small>
                  </span>
                  {at < 9 && <kbd aria-hidden='true'>{at + 1}</kbd>}
                </label>
              ))}
            </fieldset>
            <div class='row' role='group' aria-label={frame('otherLanguage')}>
              {(['textAr', 'textEn'] as const).map((one) => (
                <Button
                  key={one}
                  plain
                  aria-pressed={tongue.value === one}
                  onClick={() => {
                    tongue.value = one
                    choose(chosen.value)
                  }}
                >
                  {t(one === 'textAr' ? 'inArabic' : 'inEnglish')}
                </Button>
              ))}
            </div>
          </>
        )}
        <Field
          label={t(decision === 'paid_out' ? 'transfer' : 'reason')}
          value={reason}
          rows={3}
          maxLength={500}
          required
        />
        {report?.targetType === 'message' && report.then?.pictures.length
          ? (
            <label class='check'>
              <input
                type='checkbox'
                checked={everywhere.value}
                onChange={() => (everywhere.value = !everywhere.value)}
              />
              {t('everywhere')}
            </label>
          )
          : null}
        <div class='row'>
          <Button submits main disabled={!reason.value.trim()}>{word('moderationDecision', decision)}</Button>
          <Button onClick={close}>{frame('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
