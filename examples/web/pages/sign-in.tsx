// Sign-in and registration. To register a phone, the user enters a code from an SMS (locally: the inbox).
import { Button, client, go, here, Input, submitted, t, Title, to, useState } from '../app.ts'

/** Goes to the page in `to`. If a personal page showed the sign-in, it appears without this. */
const done = () => {
  const wanted = here().query.get('to') ?? ''
  if (here().page === 'sign-in') go(wanted.startsWith('#/') ? wanted : to('search'), true)
}

export function SignIn() {
  const [isNew, setNew] = useState(false)
  const [waiting, setWaiting] = useState<{ identifier: string; registrationId: string }>()
  const value = (form: HTMLFormElement, name: string) => String(new FormData(form).get(name))

  async function enter(form: HTMLFormElement) {
    const [identifier, password] = [value(form, 'identifier'), value(form, 'password')]
    if (!isNew) return void await client.auth.signIn({ identifier, password }).then(done)
    const started = await client.auth.register({ identifier, password, fullName: value(form, 'fullName') })
    if (started.status === 'awaiting_otp') return setWaiting({ identifier, registrationId: started.registrationId })
    await client.auth.signIn({ identifier, password }).then(done) // an email needs no code
  }
  const verify = (form: HTMLFormElement) => client.auth.verify({ ...waiting!, code: value(form, 'code') }).then(done)

  if (waiting) return <>
    <Title text={t('code')} />
    <form class='fields' onSubmit={submitted(verify)}>
      <Input label={t('codeOf', { to: waiting.identifier })} name='code' inputMode='numeric' autocomplete='one-time-code' dir='ltr' required />
      <button>{t('confirm')}</button></form>
  </>
  return <>
    <Title text={t(isNew ? 'newAccount' : 'signIn')} />
    <form class='fields' onSubmit={submitted(enter)}>
      <Input label={t('identifier')} name='identifier' autocomplete='username' dir='ltr' required />
      <Input label={t('password')} name='password' type='password' dir='ltr' required
        autocomplete={isNew ? 'new-password' : 'current-password'} />
      {isNew && <Input label={t('fullName')} name='fullName' autocomplete='name' required />}
      <div class='line'><button>{t(isNew ? 'register' : 'signIn')}</button>
        <Button second onClick={() => setNew(!isNew)}>{t(isNew ? 'haveAccount' : 'newAccount')}</Button></div></form>
    <p class='hint'>{t('demo')}</p>
  </>
}
