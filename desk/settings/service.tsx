// The settings of the service, each with a suitable form, and maintenance mode.
import { type Act, api, Badge, Button, Field, Loaded, type Option, say, type Schemas, useActs } from '../frame/index.ts'
import { useLoad, useSignal, withProof, word } from '../frame/index.ts'
import { Form, type FormField, type Texts } from './form.tsx'
import { aboutOf, nameOf, placeOf, t } from './words.ts'

type Setting = Schemas['Setting']
const list = () => api.get('/admin/settings')
const change = (body: { name: string; version: number; value: string }) =>
  withProof((options) => api.patch('/admin/settings', { body, ...options }))

const choices: Record<string, string[]> =
  { review_listings: ['true', 'false'], find_duplicates: ['on', 'off'], admin_passkeys: ['optional', 'required'] }
const terms = { version: '', url: '', requiredFrom: '' }
const shapeOf = ({ name, value }: Setting): unknown => JSON.parse(value) ?? (name === 'terms' ? terms : null)
const isObject = (of: unknown): of is object => typeof of === 'object' && of !== null && !Array.isArray(of)
const under = (path: string, key: string) => path ? `${path}.${key}` : key

/** Returns the values of a setting with their paths. If the setting is a single value, the path is empty. */
const leaves = (of: unknown, path = ''): [string, unknown][] =>
  isObject(of) ? Object.entries(of).flatMap(([key, one]) => leaves(one, under(path, key))) : [[path, of]]
const textOf = (leaf: unknown) => Array.isArray(leaf) ? leaf.join('\n') : String(leaf ?? '')
const textsOf = (setting: Setting): Texts =>
  Object.fromEntries(leaves(shapeOf(setting)).map(([path, leaf]) => [path, textOf(leaf)]))
const labelOf = (part: string) => ['ios', 'android', 'web'].includes(part) ? word('platform', part) : nameOf(part)

const fieldsOf = (setting: Setting) =>
  leaves(shapeOf(setting)).sort(([one], [other]) => placeOf(one) - placeOf(other)).map(([name, leaf]): FormField => {
    const label = name ? name.split('.').map(labelOf).join(': ') : nameOf(setting.name)
    const options = choices[setting.name]?.map((one): Option => [one, nameOf(one)])
    return { name, label, ...options && { options }, ...Array.isArray(leaf) && { rows: 8 } }
  })

function send(texts: Texts, setting: Setting) {
  const none = setting.name === 'seller' ? '' : null
  const filled = (of: unknown, path = ''): unknown => {
    const part = ([key, one]: [string, unknown]) => [key, filled(one, under(path, key))]
    if (isObject(of)) return Object.fromEntries(Object.entries(of).map(part))
    const text = texts[path]!.trim()
    if (Array.isArray(of)) return text.split('\n').map((line) => line.trim()).filter(Boolean)
    return typeof of === 'boolean' ? text === 'true' : typeof of === 'number' ? Number(text) : text || none
  }
  const isNothing = Object.values(texts).every((text) => !text.trim()) && setting.name === 'terms'
  const value = JSON.stringify(isNothing ? null : filled(shapeOf(setting)))
  return change({ name: setting.name, version: setting.version, value })
}

const summary = (setting: Setting) =>
  Object.values(textsOf(setting)).flatMap((text) => text.split('\n')).filter(Boolean)
    .map((text) => setting.name in choices ? nameOf(text) : text).join(' · ') || t('nothing')

export function Service() {
  const settings = useLoad(list)
  const open = useSignal<Setting | undefined>(undefined)
  const close = () => (open.value = undefined, settings.reload())
  const button = (one: Setting) =>
    <Button aria-label={t('editOf', { name: nameOf(one.name) })} onClick={() => (open.value = one)}>{t('edit')}</Button>
  const row = (one: Setting) => <div key={one.name}>
    <dt>{nameOf(one.name)} <small class='under' dir='ltr'>{one.name}</small></dt>
    <dd><bdi>{summary(one)}</bdi> <small class='under'>{aboutOf(one)}</small></dd>
    <dd class='act'>{button(one)}</dd>
  </div>
  return <Loaded of={settings}>
    {({ items }) => <>
      {items.filter(({ name }) => name === 'maintenance')
        .map((one) => <Maintenance key={one.name} of={one} reload={settings.reload} />)}
      <dl class='card settings'>{items.filter(({ name }) => name !== 'maintenance').map(row)}</dl>
      {open.value && <Form title={nameOf(open.value.name)} about={aboutOf(open.value)} row={open.value}
        fields={fieldsOf(open.value)} textsOf={textsOf} send={send} onClose={close}
        again={async () => (await list()).items.find(({ name }) => name === open.value?.name)} />}
    </>}
  </Loaded>
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
    title: t('close'), about: t('closeAbout'), reason: null, isFinal: t('closeSure'),
    isReady: () => ar.value.trim() !== '' && en.value.trim() !== '',
    more: () => <>
      <Field label={t('textAr')} value={ar} rows={2} maxLength={300} dir='rtl' required />
      <Field label={t('textEn')} value={en} rows={2} maxLength={300} dir='ltr' required />
    </>,
    send: () => set({ ar: ar.value.trim(), en: en.value.trim() }),
  }
  const act = now ? open : close
  return <section class='card' aria-label={t('maintenance')}>
    <h2>{t('maintenance')} <Badge tone={now ? 'bad' : 'good'}>{t(now ? 'isClosed' : 'isOpen')}</Badge></h2>
    {now && <><p lang='ar' dir='rtl'>{now.ar}</p><p lang='en' dir='ltr'>{now.en}</p></>}
    <div><Button danger={!now} main={Boolean(now)} onClick={() => ask(act)}>{act.title}</Button></div>
    {dialog}
  </section>
}
