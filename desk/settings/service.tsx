// The settings of the service: each by a form that fits it, and whether people get in at all.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof, word } from '../frame/api.ts'
import { Badge, Button, Field, Loaded, say, useLoad } from '../frame/parts.tsx'
import { type Act, useActs } from '../people/act.tsx'
import { Form, type FormField } from './form.tsx'
import { nameOf, t } from './words.ts'

type Setting = Schemas['Setting']
type Texts = Record<string, string>
const list = (signal?: AbortSignal) => api.get('/admin/settings', signal && { signal })
const change = (body: { name: string; version: number; value: string }) =>
  withProof((options) => api.patch('/admin/settings', { body, ...options }))

const choices: Record<string, string[]> = {
  review_listings: ['true', 'false'],
  find_duplicates: ['"on"', '"off"'],
  admin_passkeys: ['"optional"', '"required"'],
}
/** The texts that make up a setting that is an object. */
const parts: Record<string, string> = {
  seller: 'nameAr nameEn registrationNo addressAr phone email',
  app: 'minVersion.ios minVersion.android minVersion.web storeUrl.ios storeUrl.android privacyUrl support.phone ' +
    'support.email support.whatsapp',
  terms: 'version url requiredFrom',
  reserved_names: 'everybody people',
}
const plain = (value: string) => value.replaceAll('"', '')
const partsOf = (name: string) => parts[name]?.split(' ')
const labelOf = (field: string) =>
  field.split('.').map((part) => ['ios', 'android', 'web'].includes(part) ? word('platform', part) : nameOf(part))
    .join(': ')

function fieldsOf({ name }: Setting): FormField[] {
  const options = choices[name]?.map((one): [string, string] => [one, nameOf(plain(one))])
  if (options) return [{ name: 'value', label: nameOf(name), options }]
  const rows = name === 'reserved_names' ? { rows: 8 } : {}
  return partsOf(name)?.map((field) => ({ name: field, label: labelOf(field), ...rows })) ??
    [{ name: 'value', label: nameOf(name), rows: 8 }]
}

function textsOf({ name, value }: Setting): Texts {
  const fields = partsOf(name)
  if (!fields) return { value }
  return Object.fromEntries(fields.map((field) => {
    const part = field.split('.').reduce((of, key) => of?.[key], JSON.parse(value))
    return [field, Array.isArray(part) ? part.join('\n') : String(part ?? '')]
  }))
}

/** The setting as JSON. Of `app` what is empty is null, as is `terms` without anything. */
function valueOf(name: string, texts: Texts): string {
  const fields = partsOf(name)
  if (!fields) return texts.value!
  if (name === 'terms' && fields.every((field) => !texts[field]!.trim())) return 'null'
  const whole: Record<string, unknown> = {}
  for (const field of fields) {
    const [key, inner] = field.split('.') as [string, string?]
    const text = texts[field]!.trim()
    const lines = text.split('\n').map((line) => line.trim()).filter(Boolean)
    const value = name === 'reserved_names' ? lines : name === 'app' ? text || null : text
    whole[key] = inner ? { ...whole[key] as object, [inner]: value } : value
  }
  return JSON.stringify(whole)
}

async function send(texts: Texts, { name, version }: Setting) {
  const value = valueOf(name, texts)
  try {
    JSON.parse(value)
  } catch {
    return t('badJson')
  }
  await change({ name, version, value })
}

function summary(setting: Setting): string {
  if (!partsOf(setting.name)) return choices[setting.name] ? nameOf(plain(setting.value)) : setting.value
  return Object.values(textsOf(setting)).flatMap((text) => text.split('\n')).filter(Boolean).join('، ') || t('nothing')
}

export function Service() {
  const settings = useLoad(list)
  const open = useSignal<Setting | undefined>(undefined)
  return (
    <Loaded of={settings}>
      {({ items }) => (
        <>
          {items.filter(({ name }) => name === 'maintenance')
            .map((one) => <Maintenance key={one.name} of={one} reload={settings.reload} />)}
          <section class='card'>
            <dl class='settings'>
              {items.filter(({ name }) => name !== 'maintenance').map((one) => (
                <div key={one.name}>
                  <dt>
                    {nameOf(one.name)} <small class='under' dir='ltr'>{one.name}</small>
                  </dt>
                  <dd>
                    <bdi>{summary(one)}</bdi> <small class='under' lang='en' dir='ltr'>{one.note}</small>
                  </dd>
                  <dd class='act'>
                    <Button
                      aria-label={t('editOf', { name: nameOf(one.name) })}
                      onClick={() => (open.value = one)}
                    >
                      {t('edit')}
                    </Button>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
          {open.value && (
            <Form
              title={nameOf(open.value.name)}
              about={open.value.note}
              row={open.value}
              fields={fieldsOf(open.value)}
              textsOf={textsOf}
              send={send}
              again={async () => (await list()).items.find(({ name }) => name === open.value?.name)}
              onClose={() => {
                open.value = undefined
                settings.reload()
              }}
            />
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
  const set = async (next: { ar: string; en: string } | null) => {
    await change({ name, version, value: JSON.stringify(next) }).finally(reload)
    say(t(next ? 'isClosed' : 'isOpen'))
  }
  const open: Act = { title: t('open'), about: t('openAbout'), reason: null, send: () => set(null) }
  const close: Act = {
    title: t('close'),
    about: t('closeAbout'),
    reason: null,
    isFinal: true,
    sure: t('closeSure'),
    isReady: () => ar.value.trim() !== '' && en.value.trim() !== '',
    more: () => (
      <>
        <Field label={t('textAr')} value={ar} rows={2} maxLength={300} dir='rtl' required />
        <Field label={t('textEn')} value={en} rows={2} maxLength={300} dir='ltr' required />
      </>
    ),
    send: () => set({ ar: ar.value.trim(), en: en.value.trim() }),
  }
  return (
    <section class='card' aria-label={t('maintenance')}>
      <h2>
        {t('maintenance')} <Badge tone={now ? 'bad' : 'good'}>{t(now ? 'isClosed' : 'isOpen')}</Badge>
      </h2>
      {now && <p lang='ar' dir='rtl'>{now.ar}</p>}
      {now && <p lang='en' dir='ltr'>{now.en}</p>}
      <div>
        <Button danger={!now} main={Boolean(now)} onClick={() => ask(now ? open : close)}>
          {t(now ? 'open' : 'close')}
        </Button>
      </div>
      {dialog}
    </section>
  )
}
