// The sign-in page, and the end of an idle session.
import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { api, endedBy, signOut, tab, textOf } from './api.ts'
import { Button, Dialog, Field } from './parts.tsx'
import { t } from './words.ts'

const [idleAfter, warnedBefore] = [30 * 60_000, 60_000]

/** When the desk was last used. Stored together with the session, so that an old session ends on opening. */
let used = Number(tab.getItem('desk.used')) || 0
let kept = used
/** True if the stored session of this tab has been idle for too long. */
export const wasIdle = Date.now() - used > idleAfter
function use(event?: Event) {
  // If the session has been idle for too long, for example during sleep, a key or click does not extend it.
  if (event && Date.now() - used > idleAfter) return
  used = Date.now()
  if (used - kept < 5000) return
  kept = used
  tab.setItem('desk.used', String(used))
}
for (const event of ['keydown', 'pointerdown', 'pointermove', 'wheel']) addEventListener(event, use, { passive: true })

export function IdleWatch() {
  const [left, setLeft] = useState(Infinity)
  useEffect(() => {
    use()
    const watch = setInterval(() => {
      const now = idleAfter - (Date.now() - used)
      if (now <= 0) void signOut(t('wasIdle'))
      else setLeft(now <= warnedBefore ? Math.ceil(now / 1000) : Infinity)
    }, 1000)
    return () => clearInterval(watch)
  }, [])
  if (left === Infinity) return null
  const stay = () => (use(), setLeft(Infinity))
  return <Dialog title={t('idleTitle')} onClose={stay}>
    <p role='timer'>{t('idleSoon', { seconds: left })}</p><Button main onClick={stay}>{t('stay')}</Button>
  </Dialog>
}

export function SignIn() {
  const [identifier, password, code, said] = [useSignal(''), useSignal(''), useSignal(''), useSignal(endedBy.value)]
  const [step, setStep] = useState<'password' | 'forgot' | 'reset'>('password')
  const [resetId, setResetId] = useState<string>()
  const steps = {
    async password() {
      use()
      endedBy.value = ''
      await api.auth.signIn({ identifier: identifier.value, password: password.value })
    },
    async forgot() {
      const sent = await api.post('/auth/password/forgot', { body: { identifier: identifier.value } })
      setResetId(sent.resetId)
      password.value = ''
      setStep('reset')
      said.value = t('codeSent')
    },
    async reset() {
      const given = { identifier: identifier.value, code: code.value, ...resetId && { resetId } }
      const body = { ...given, newPassword: password.value, confirmPassword: password.value }
      await api.post('/auth/password/reset', { body })
      setStep('password')
      said.value = t('passwordSet')
    },
  }
  const submit = (event: Event) => {
    event.preventDefault()
    said.value = ''
    steps[step]().catch((error) => (said.value = textOf(error)))
  }
  const isReset = step === 'reset'
  return <form class='sign-in' onSubmit={submit}>
    <h1>{t('desk')}</h1><p role='alert'>{said.value}</p>
    <Field label={t('identifier')} value={identifier} autocomplete='username' dir='ltr' required />
    {isReset && <Field label={t('code')} value={code} autocomplete='one-time-code' dir='ltr' required />}
    {step !== 'forgot' && <Field label={t(isReset ? 'newPassword' : 'password')} value={password} type='password'
      autocomplete={isReset ? 'new-password' : 'current-password'} dir='ltr' required />}
    <Button main submits>{t(({ password: 'signIn', forgot: 'sendCode', reset: 'save' } as const)[step])}</Button>
    <Button plain onClick={() => setStep(step === 'password' ? 'forgot' : 'password')}>
      {t(step === 'password' ? 'forgot' : 'back')}
    </Button>
  </form>
}
