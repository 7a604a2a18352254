// The settings of the service: each by a form that fits it, and whether people get in at all.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { Badge, Button, Field, Loaded, say, useLoad } from '../frame/parts.tsx'
import { type Act, useActs } from '../people/act.tsx'
import { Form, type FormField, type Texts } from './form.tsx'
import { nameOf, t } from './words.ts'

type Setting = Schemas['Setting']
const list = () => api.get('/admin/settings')
const change = (body: { name: string; version: number; value: string }) =>
  withProof((options) => api.patch('/admin/settings', { body, ...options }))

const choices: Record<string, string[]> = {
  review_listings: ['true', 'false'],
  find_duplicates: ['"on"', '"off"'],
  admin_passkeys: ['"optional"', '"required"'],
}
const apps = 'minVersion.ios minVersion.android minVersion.web storeUrl.ios storeUrl.android'
/** The texts that make up a setting that is an object; any other is one text. */
const parts: Record<string, string> = {
  seller: 'nameAr nameEn registrationNo addressAr phone email',
  app: `${apps} privacyUrl support.phone support.email support.whatsapp`,
  terms: 'version url requiredFrom',
  reserved_names: 'everybody people',
}
const partsOf = (name: string) => parts[name]?.split(' ') ?? ['']
const plain = (value: string) => nameOf(value.replaceAll('"', ''))
const labelOf = (part: string) => part in { ios: 1, android: 1, web: 1 } ? word('platform', part) : nameOf(part)

function fieldsOf({ name }: Setting): FormField[] {
  const options = choices[name]?.map((one): [string, string] => [one, plain(one)])
  const more = options ? { options } : name === 'reserved_names' || !(name in parts) ? { rows: 8 } : {}
  return partsOf(name)
    .map((field) => ({ name: field, label: field ? field.split('.').map(labelOf).join(': ') : nameOf(name), ...more }))
}

function textsOf({ name, value }: Setting): Texts {
  if (!(name in parts)) return { '': value }
  return Object.fromEntries(partsOf(name).map((field) => {
    const part = field.split('.').reduce((of, key) => of?.[key], JSON.parse(value))
    return [field, Array.isArray(part) ? part.join('\n') : String(part ?? '')]
  }))
}

/** The setting as JSON. Of `app` what is empty is null, as is `terms` without anything. */
function valueOf(name: string, texts: Texts): string {
  if (!(name in parts)) return texts['']!
  if (name === 'terms' && !Object.values(texts).some((text) => text.trim())) return 'null'
  const whole: Record<string, unknown> = {}
  for (const field of partsOf(name)) {
    const [key, inner] = field.split('.') as [string, string?]
    const text = texts[field]!.trim()
    const lines = text.split('\n').map((line) => line.trim()).filter(Boolean)
    const value = name === 'reserved_names' ? lines : name === 'app' ? text || null : text
    whole[key] = inner ? { ...whole[key] as object, [inner]: value } : value
  }
  return JSON.stringify(whole)
}

const send = (texts: Texts, { name, version }: Setting) => change({ name, version, value: valueOf(name, texts) })

const summary = (setting: Setting) =>
  setting.name in choices
    ? plain(setting.value)
    : Object.values(textsOf(setting)).flatMap((text) => text.split('\n')).filter(Boolean).join(' · ') || t('nothing')

export function Service() {
  const settings = useLoad(list)
  const open = useSignal<Setting | undefined>(undefined)
  const close = () => {
    open.value = undefined
    settings.reload()
  }
  const button = (one: Setting) => (
    <Button aria-label={t('editOf', { name: nameOf(one.name) })} onClick={() => (open.value = one)}>{t('edit')}</Button>
  )
  const row = (one: Setting) => (
    <div key={one.name}>
      <dt>{nameOf(one.name)} <small class='under' dir='ltr'>{one.name}</small></dt>
      <dd><bdi>{summary(one)}</bdi> <small class='under' lang='en' dir='ltr'>{one.note}</small></dd>
      <dd class='act'>{button(one)}</dd>
    </div>
  )
  return (
    <Loaded of={settings}>
      {({ items }) => (
        <>
          {items.filter(({ name }) => name === 'maintenance')
            .map((one) => <Maintenance key={one.name} of={one} reload={settings.reload} />)}
          <section class='card'>
            <dl class='settings'>{items.filter(({ name }) => name !== 'maintenance').map(row)}</dl>
          </section>
          {open.value && (
            <Form title={nameOf(open.value.name)} about={open.value.note} row={open.value} fields={fieldsOf(open.value)}
              textsOf={textsOf} send={send} onClose={close}
              again={async () => (await list()).items.find(({ name }) => name === open.value?.name)} />
          )}
        </>
      )}
    </Loaded>
  )
}

function Maintenance({ of: { name, version, value }, reload }: { of: Setting; reload: () => void }) {
  const now = JSON.parse(value) as { ar: string; en: string } | null
  const [ar, en] = [useSignal(''), useSignal('')]
  const { ask, dialog } = useActs()
  const set = async (next: typeof now) => {
    await change({ name, version, value: JSON.stringify(next) }).finally(reload)
    say(t(next ? 'isClosed' : 'isOpen'))
  }
  const open: Act = { title: t('open'), about: t('openAbout'), reason: null, send: () => set(null) }
  const close: Act = {
    title: t('close'),
    about: t('closeAbout'),
    reason: null,
    isFinal: t('closeSure'),
    isReady: () => ar.value.trim() !== '' && en.value.trim() !== '',
    more: () => (
      <>
        <Field label={t('textAr')} value={ar} rows={2} maxLength={300} dir='rtl' required />
        <Field label={t('textEn')} value={en} rows={2} maxLength={300} dir='ltr' required />
      </>
    ),
    send: () => set({ ar: ar.value.trim(), en: en.value.trim() }),
  }
  const act = now ? open : close
  return (
    <section class='card' aria-label={t('maintenance')}>
      <h2>{t('maintenance')} <Badge tone={now ? 'bad' : 'good'}>{t(now ? 'isClosed' : 'isOpen')}</Badge></h2>
      {now && <p lang='ar' dir='rtl'>{now.ar}</p>}
      {now && <p lang='en' dir='ltr'>{now.en}</p>}
      <div><Button danger={!now} main={Boolean(now)} onClick={() => ask(act)}>{act.title}</Button></div>
      {dialog}
    </section>
  )
}
