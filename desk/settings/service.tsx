// The settings of the service: each by a form that fits it, and whether people get in at all.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { api, withProof } from '../frame/api.ts'
import { Badge, Button, Choice, Field, Loaded, say, useLoad } from '../frame/parts.tsx'
import { type Act, ActDialog } from '../people/act.tsx'
import { Form, type Values } from './form.tsx'
import { settingName, t } from './words.ts'

type Setting = Schemas['Setting']
const list = (signal?: AbortSignal) => api.get('/admin/settings', signal && { signal })
const change = (body: { name: string; version: number; value: string }) =>
  withProof((options) => api.patch('/admin/settings', { body, ...options }))

const choices: Record<string, string[]> = {
  review_listings: ['true', 'false'],
  find_duplicates: ['"on"', '"off"'],
  admin_passkeys: ['"optional"', '"required"'],
}
/** The texts that make up a setting that is an object; one that is empty is null, as is a setting without any. */
const parts: Record<string, string[]> = {
  seller: ['nameAr', 'nameEn', 'registrationNo', 'addressAr', 'phone', 'email'],
  app: [
    ...['minVersion.ios', 'minVersion.android', 'minVersion.web', 'storeUrl.ios', 'storeUrl.android', 'privacyUrl'],
    ...['support.phone', 'support.email', 'support.whatsapp'],
  ],
  terms: ['version', 'url', 'requiredFrom'],
  reserved_names: ['everybody', 'people'],
}
type Json = Record<string, unknown> | null
const isList = (name: string) => name === 'reserved_names'

function textsOf({ name, value }: Setting): Record<string, string> {
  const fields = parts[name]
  if (!fields) return { value }
  return Object.fromEntries(fields.map((field) => {
    const part = field.split('.').reduce<unknown>((of, key) => (of as Json)?.[key], JSON.parse(value))
    return [field, Array.isArray(part) ? part.join('\n') : String(part ?? '')]
  }))
}

function valueOf(name: string, texts: Record<string, string>): string {
  const fields = parts[name]
  if (!fields) return texts.value!
  if (name === 'terms' && fields.every((field) => !texts[field]?.trim())) return 'null'
  const whole: Record<string, unknown> = {}
  for (const field of fields) {
    const text = texts[field]!.trim()
    const [key, inner] = field.split('.') as [string, string?]
    const value = isList(name) ? text.split('\n').map((line) => line.trim()).filter(Boolean) : name === 'app' ? text || null : text
    whole[key] = inner ? { ...whole[key] as Json, [inner]: value } : value
  }
  return JSON.stringify(whole)
}

const isJson = (text: string) => {
  try {
    return JSON.parse(text) !== undefined
  } catch {
    return false
  }
}

const summary = ({ name, value }: Setting) =>
  parts[name] ? Object.values(textsOf({ name, value } as Setting)).filter(Boolean).join(' · ') || t('noRule') : value.replaceAll('"', '')

export function Service() {
  const settings = useLoad(list)
  const open = useSignal<Setting | undefined>(undefined)
  const fields = ({ name }: Setting) => (values: Values) => choices[name]
    ? <Choice label={settingName(name)} value={values.value!.value} onChoose={(one) => (values.value!.value = one)}
      options={choices[name].map((one): [string, string] => [one, one.replaceAll('"', '')])} />
    : (parts[name] ?? ['value']).map((field) => (
      <Field key={field} label={parts[name] ? field : settingName(name)} value={values[field]!} {...(isList(name) || !parts[name]) && { rows: 6 }} />
    ))
  return (
    <Loaded of={settings}>
      {({ items }) => (
        <>
          {items.filter(({ name }) => name === 'maintenance').map((one) => <Maintenance key={one.name} of={one} reload={settings.reload} />)}
          <section class='card'>
            <dl class='settings'>
              {items.filter(({ name }) => name !== 'maintenance').map((one) => (
                <div key={one.name}>
                  <dt>{settingName(one.name)} <small dir='ltr'>{one.name}</small></dt>
                  <dd><bdi>{summary(one)}</bdi><br /><small dir='ltr'>{one.note}</small></dd>
                  <Button onClick={() => (open.value = one)} aria-label={t('editOf', { name: settingName(one.name) })}>{t('edit')}</Button>
                </div>
              ))}
            </dl>
          </section>
          {open.value && (
            <Form
              title={settingName(open.value.name)}
              about={open.value.note}
              row={open.value}
              textsOf={textsOf}
              nameOf={(field) => field === 'value' ? settingName(open.value!.name) : field}
              fields={fields(open.value)}
              again={async () => (await list()).items.find(({ name }) => name === open.value?.name)}
              onClose={() => (open.value = undefined)}
              send={async (typed, { name, version }) => {
                const value = valueOf(name, typed)
                if (!isJson(value)) return t('badJson')
                await change({ name, version, value })
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
  const ar = useSignal(now?.ar ?? '')
  const en = useSignal(now?.en ?? '')
  const open = useSignal<Act | undefined>(undefined)
  const set = async (next: object | null) => {
    await change({ name, version, value: JSON.stringify(next) }).finally(reload)
    say(t(next ? 'isClosed' : 'isOpen'))
  }
  const act: Act = now
    ? { title: t('open'), about: t('openAbout'), reason: null, send: () => set(null) }
    : {
      title: t('close'),
      about: t('closeAbout'),
      reason: null,
      isFinal: true,
      isReady: () => Boolean(ar.value.trim() && en.value.trim()),
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
      <h2>{t('maintenance')} <Badge tone={now ? 'bad' : 'good'}>{t(now ? 'isClosed' : 'isOpen')}</Badge></h2>
      {now && <><p lang='ar' dir='rtl'><bdi>{now.ar}</bdi></p><p lang='en' dir='ltr'><bdi>{now.en}</bdi></p></>}
      <div><Button danger={!now} main={Boolean(now)} onClick={() => (open.value = act)}>{act.title}</Button></div>
      {open.value && <ActDialog act={open.value} onClose={() => (open.value = undefined)} />}
    </section>
  )
}
