import { useSignal } from '@preact/signals'
import { startRegistration, WebAuthnError } from '@simplewebauthn/browser'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof } from '../frame/api.ts'
import { Button, Empty, Field, Loaded, say, Time, useLoad } from '../frame/parts.tsx'
import { passkeyError } from '../frame/proof.tsx'
import { useActs } from '../people/act.tsx'
import { Table, Two } from '../people/parts.tsx'
import { t } from './words.ts'

const textOf = (error: unknown) =>
  error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
    ? t('sameKey')
    : passkeyError(error)

export function Passkeys() {
  const keys = useLoad((signal) => api.get('/auth/passkeys', { signal }))
  const [name, fault] = [useSignal(''), useSignal('')]
  const { ask, dialog } = useActs()
  const register = async () => {
    const optionsJSON = await withProof((options) => api.post('/auth/passkeys/options', options))
    const attestation = await startRegistration({ optionsJSON }) as never
    const body = { attestation, ...name.value.trim() && { name: name.value.trim() } }
    await withProof((options) => api.post('/auth/passkeys', { body, ...options }))
    name.value = ''
    say(t('keyAdded'))
    keys.reload()
  }
  const add = () => {
    fault.value = ''
    return register().catch((error) => (fault.value = textOf(error)))
  }
  const remove = ({ id, name }: Schemas['Passkey']) => {
    const send = async () => {
      await withProof((options) => api.delete('/auth/passkeys/{passkeyId}', { path: { passkeyId: id }, ...options }))
      say(t('keyRemoved'))
      keys.reload()
    }
    const title = t('removeKey', { name: name ?? '' })
    ask({ title, about: t('removeKeyAbout'), reason: null, isFinal: true, send })
  }
  const rows = (items: Schemas['Passkey'][]) => (
    <Table
      label={t('passkeys')}
      heads={[t('name'), t('added'), t('used'), t('remove')]}
      rows={items.map((key) => [
        key.id,
        <Two top={key.name ?? t('unnamed')} under={<bdi>{key.rpId}</bdi>} />,
        <Time at={key.createdAt} full />,
        key.lastUsedAt ? <Time at={key.lastUsedAt} full /> : t('never'),
        <Button onClick={() => remove(key)}>{t('remove')}</Button>,
      ])}
    />
  )
  return (
    <section class='card'>
      <Loaded of={keys}>{({ items }) => items.length ? rows(items) : <Empty>{t('noKeys')}</Empty>}</Loaded>
      <Field label={t('keyName')} value={name} maxLength={50} />
      <p class='bad' role='alert'>{fault.value}</p>
      <div><Button main onClick={add}>{t('addKey')}</Button></div>
      {dialog}
    </section>
  )
}
