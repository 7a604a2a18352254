// Settings, plans and decision reasons of the service, and the passkeys of the administrator.
import { startRegistration } from '@simplewebauthn/browser'
import { api, Badge, Button, Empty, Field, language, Loaded, Money, named, number, Page } from '../frame/index.ts'
import { passkeyError, say, type Schemas, Table, Tabs, Time, Two, useActs, useLoad, useSignal } from '../frame/index.ts'
import { withProof, word, yesOrNo } from '../frame/index.ts'
import type { Place } from '../frame/router.ts'
import { Form, type FormField, type Texts } from './form.tsx'
import { Service } from './service.tsx'
import { t } from './words.ts'

const tabs = { service: Service, plans: Plans, passkeys: Passkeys, reasons: Reasons }
type Name = keyof typeof tabs

export default function Settings({ id }: Place) {
  const shown = (id in tabs ? id : 'service') as Name
  const Tab = tabs[shown]
  const names = (Object.keys(tabs) as Name[]).map((name): [Name, string] => [name, t(name)])
  const row = <Tabs label={t('title')} room='settings' shown={shown} of={names} />
  return <Page title={t('title')}>{row}<Tab key={shown} /></Page>
}

function Reasons() {
  const page = useLoad((signal) => api.get('/admin/moderation', { query: { limit: 1 }, signal }))
  const row = ({ code, textAr, textEn, kinds }: Schemas['ModerationPage']['reasons'][number]): [string, ...string[]] =>
    [code, language.value === 'ar' ? textAr : textEn, kinds.map((kind) => word('moderationKind', kind)).join(' · ')]
  return <section class='card'>
    <p class='soft'>{t('reasonsAbout')}</p>
    <Loaded of={page}>
      {({ reasons }) => <Table label={t('reasons')} heads={[t('reasons'), t('usual')]} rows={reasons.map(row)} />}
    </Loaded>
  </section>
}

type Plan = Schemas['AdminPlan']
const counts = ['intervalDays', 'activeListings', 'listingDays', 'photosPerListing', 'featuredCredits'] as const
const names = ['nameAr', 'nameEn', 'price', ...counts, 'onSale'] as const
const isNumber = (name: string) => !name.startsWith('name') && name !== 'onSale'
const planTexts = (plan: Plan): Texts => Object.fromEntries(names.map((name) => [name, String(plan[name])]))
const listPlans = () => api.get('/admin/plans')

async function savePlan(typed: Texts, plan: Plan) {
  const before = planTexts(plan)
  const changed = Object.entries(typed).filter(([name, text]) => text.trim() !== before[name])
    .map(([name, text]) => [name, isNumber(name) ? Number(text) : name === 'onSale' ? text === 'true' : text])
  const call = { path: { planId: plan.id }, body: { version: plan.version, ...Object.fromEntries(changed) } }
  await withProof((options) => api.patch('/admin/plans/{planId}', { ...call, ...options }))
}

function Plans() {
  const plans = useLoad(listPlans)
  const open = useSignal<Plan | undefined>(undefined)
  const more = (name: string) => name === 'onSale' ? { options: yesOrNo() } : { isNumber: isNumber(name) }
  const fields = names.map((name): FormField => ({ name, label: t(name), ...more(name) }))
  const close = () => (open.value = undefined, plans.reload())
  const button = (plan: Plan) =>
    <Button aria-label={t('editOf', { name: named(plan) })} onClick={() => (open.value = plan)}>{t('edit')}</Button>
  return <section class='card'>
    <Loaded of={plans}>
      {({ items }) => <Table label={t('plans')}
        heads={[t('plan'), t('audience'), ...names.slice(2).map((name) => t(name)), t('edit')]}
        ends={[2, 3, 4, 5, 6, 7]} rows={items.map((plan) => [
          plan.id, <bdi>{named(plan)}</bdi>, word('planAudience', plan.audience), <Money of={plan.price} />,
          ...counts.map((name) => number(plan[name])),
          <Badge tone={plan.onSale ? 'good' : 'calm'}>{t(plan.onSale ? 'yes' : 'no')}</Badge>,
          button(plan),
        ])} />}
    </Loaded>
    {open.value && <Form title={t('editOf', { name: named(open.value) })} about={t('planAbout')} row={open.value}
      fields={fields} textsOf={planTexts} send={savePlan} onClose={close}
      again={async () => (await listPlans()).items.find(({ id }) => id === open.value?.id)} />}
  </section>
}

function Passkeys() {
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
  const add = () => (fault.value = '', register().catch((error) => (fault.value = passkeyError(error))))
  const remove = ({ id, name }: Schemas['Passkey']) => {
    const send = async () => {
      await withProof((options) => api.delete('/auth/passkeys/{passkeyId}', { path: { passkeyId: id }, ...options }))
      say(t('keyRemoved'))
      keys.reload()
    }
    const title = t('removeKey', { name: name ?? '' })
    ask({ title, about: t('removeKeyAbout'), reason: null, isFinal: true, send })
  }
  const rows = (items: Schemas['Passkey'][]) =>
    <Table label={t('passkeys')} heads={[t('name'), t('added'), t('used'), t('remove')]}
      rows={items.map((key) => [
        key.id, <Two top={key.name ?? t('unnamed')} under={<bdi>{key.rpId}</bdi>} />,
        <Time at={key.createdAt} full />,
        key.lastUsedAt ? <Time at={key.lastUsedAt} full /> : t('never'),
        <Button onClick={() => remove(key)}>{t('remove')}</Button>,
      ])} />
  return <section class='card'>
    <Loaded of={keys}>{({ items }) => items.length ? rows(items) : <Empty>{t('noKeys')}</Empty>}</Loaded>
    <Field label={t('keyName')} value={name} maxLength={50} />
    <p class='bad' role='alert'>{fault.value}</p>
    <div><Button main onClick={add}>{t('addKey')}</Button></div>
    {dialog}
  </section>
}
