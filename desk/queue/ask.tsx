// Asks for what a decision still needs: a reason for the person concerned, or the reference of a bank
// transfer.
import { Button, Check, Dialog, Field, signal, t as frame, useSignal, word } from '../frame/index.ts'
import { decide, type Decision, type Item, reasons } from './store.ts'
import { t } from './words.ts'

type Asked = { items: Item[]; decision: Decision; send?: (reason: string) => unknown }
export const asked = signal<Asked | undefined>()
export const Ask = () => asked.value ? <Form key={asked.value.items[0]?.id} {...asked.value} /> : null
const effects = { message: 'upholdHides', review: 'upholdHides', property: 'upholdSuspends', identity: null } as const

function Form({ items, decision, send }: Asked) {
  const reason = useSignal('')
  const chosen = useSignal('')
  const inEnglish = useSignal(false)
  const everywhere = useSignal(false)
  const isPaid = decision === 'paid_out'
  const kinds = items.map(({ kind }) => kind)
  const usual = isPaid ? [] : reasons.value.filter((one) => one.kinds.some((kind) => kinds.includes(kind)))
  const report = items.length === 1 ? items[0]!.report : null
  const effect = report && decision === 'uphold' ? effects[report.targetType] : undefined
  const hasPictures = report?.targetType === 'message' && Boolean(report.then?.pictures.length)
  const name = word('moderationDecision', decision)
  const close = () => (asked.value = undefined)
  const choose = (code: string, isEnglish = inEnglish.value) => {
    [chosen.value, inEnglish.value] = [code, isEnglish]
    reason.value = usual.find((one) => one.code === code)?.[isEnglish ? 'textEn' : 'textAr'] ?? reason.value
  }
  const submit = () => {
    if (!reason.value.trim()) return
    close()
    if (send) return void send(reason.value)
    const given = isPaid ? { note: reason.value } : { reason: reason.value }
    decide(items, { decision, ...given, ...everywhere.value && { everywhere: true } })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isText = (event.target as Element).matches('textarea')
    const one = isText ? undefined : usual[Number(event.key) - 1]
    if (event.key === 'Enter' && (event.ctrlKey || !isText && !(event.target as Element).matches('button'))) submit()
    else if (one) choose(one.code)
    else return
    event.preventDefault()
  }
  return <Dialog title={items.length > 1 ? `${name} (${items.length})` : name} onClose={close}>
    <form onKeyDown={onKeyDown} onSubmit={(event) => (event.preventDefault(), submit())}>
      {effect && <p class='soft'>{t(effect)}</p>}
      {usual.length > 0 && <fieldset>
        <legend>{t('usual')}</legend>
        {usual.map(({ code, textAr, textEn }, at) => <label key={code} class='check'>
          <input type='radio' name='usual' checked={chosen.value === code} onChange={() => choose(code)} />
          <span><bdi lang='ar'>{textAr}</bdi> <small lang='en'><bdi>{textEn}</bdi></small></span>
          {at < 9 && <kbd aria-hidden='true'>{at + 1}</kbd>}
        </label>)}
        <label class='check'>
          <input type='checkbox' checked={inEnglish.value} onChange={() => choose(chosen.value, !inEnglish.value)} />
          {t('inEnglish')}
        </label>
      </fieldset>}
      <Field label={t(isPaid ? 'transfer' : 'reason')} value={reason} rows={3} maxLength={500} required />
      {hasPictures && <Check label={t('everywhere')} value={everywhere} />}
      <div class='row'>
        <Button submits main disabled={!reason.value.trim()}>{name}</Button>
        <Button onClick={close}>{frame('cancel')}</Button>
      </div>
    </form>
  </Dialog>
}
