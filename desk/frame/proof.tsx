// Asks an administrator to re-authenticate: with a passkey, the password, a code or a recent sign-in.
import { useSignal } from '@preact/signals'
import { startAuthentication, WebAuthnError } from '@simplewebauthn/browser'
import type { Input } from 'kuwait-property-client'
import { useState } from 'preact/hooks'
import { api, asking, isCode, keepProof, session, textOf } from './api.ts'
import { Button, Dialog, Field, say } from './parts.tsx'
import { isolated, t } from './words.ts'

type Proving = NonNullable<Input<'post', '/auth/sudo'>[0]>['body']
/** Returns the error text if the browser did not complete the passkey dialog. */
export function passkeyError(error: unknown): string {
  if (!(error instanceof WebAuthnError || error instanceof DOMException)) return textOf(error)
  return t('code' in error && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED' ? 'sameKey' : 'proofAborted')
}
export const ProofDialog = () => asking.value ? <Ask done={asking.value} /> : null

function Ask({ done }: { done: (proven: boolean) => void }) {
  const user = session.value!.user
  const to = user.phone ?? (user.emailProven ? user.email : null)
  const [password, code, fault] = [useSignal(''), useSignal(''), useSignal('')]
  const [way, setWay] = useState<'passkey' | 'password' | 'code'>('password')
  const [isSent, setSent] = useState(false)
  const attempt = (act: () => Promise<unknown>) => async () => {
    fault.value = ''
    try {
      await act()
    } catch (error) {
      if (isCode(error, 'passkey_required')) setWay('passkey')
      fault.value = passkeyError(error)
    }
  }
  const prove = async (body: Proving) => (keepProof(await api.post('/auth/sudo', { body })), done(true))
  const byPasskey = attempt(async () => {
    const optionsJSON = await api.post('/auth/sudo/options')
    await prove({ assertion: await startAuthentication({ optionsJSON }) as never })
  })
  const send = attempt(async () => {
    await api.post('/auth/otp/resend', { body: { identifier: to!, purpose: 'sudo' } })
    setSent(true)
    say(t('codeTo', { to: to! }))
  })
  const given = () => way === 'code' ? { code: code.value } : { currentPassword: password.value }
  const submit = (event: Event) => (event.preventDefault(), void attempt(() => prove(given()))())
  return <Dialog title={t('proofTitle')} onClose={() => done(false)}>
    <form onSubmit={submit}>
      <p>{t('proofWhy')}</p>
      <Button main={way === 'passkey'} onClick={byPasskey}>{t('proofPasskey')}</Button>
      {way === 'password' && <>
        <Field label={t('password')} value={password} type='password' autocomplete='current-password' dir='ltr' />
        <Button main submits disabled={!password.value}>{t('proofPassword')}</Button>
        {to && <Button plain onClick={() => setWay('code')}>{t('proofCode')}</Button>}
        {user.providers.length > 0 && <Button plain onClick={attempt(() => prove({}))}>{t('proofSocial')}</Button>}
      </>}
      {way === 'code' && <Button onClick={send}>{t('sendCode')} {isolated(to!)}</Button>}
      {way === 'code' && isSent && <>
        <Field label={t('code')} value={code} inputMode='numeric' autocomplete='one-time-code' dir='ltr' />
        <Button main submits disabled={!code.value}>{t('proofCode')}</Button>
      </>}
      <p class='bad' role='alert'>{fault.value}</p>
    </form>
  </Dialog>
}
