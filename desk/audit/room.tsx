// The audit trail of what administrators did, with filters.
import { useEffect } from 'preact/hooks'
import { api, type Chosen, Field, Filters, List, type Option, Page, type Place, type Schemas } from '../frame/index.ts'
import { signal, useLoad, usePages } from '../frame/index.ts'
import { Csv } from './csv.tsx'
import { EntryView } from './entry.tsx'
import { actCodes, actOf, t } from './words.ts'

const filters = signal<Chosen>({})
const [target, from, to] = [signal(''), signal(''), signal('')]
const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Returns the time at which a day begins in Kuwait: the day that is `later` days after `day`. */
const beginning = (day: string, later = 0) =>
  new Date(Date.parse(`${day}T00:00:00+03:00`) + later * 86_400_000).toISOString()

export default function Audit({ query: address }: Place) {
  const given = address.get('targetId')
  useEffect(() => {
    if (given) target.value = given
  }, [given])
  const id = target.value.trim()
  const times = { ...from.value && { since: beginning(from.value) }, ...to.value && { until: beginning(to.value, 1) } }
  const query = { ...filters.value, ...isId(id) && { targetId: id }, ...times }
  const admins = useLoad((signal) => api.get('/admin/users', { query: { isAdmin: true, limit: 50 }, signal }))
  const entries = usePages({ ...query, limit: 50 }, (query, signal) => api.get('/admin/audit', { query, signal }))
  const nameOf = ({ id, fullName, phone, email }: Schemas['AdminUser']) => fullName ?? phone ?? email ?? id
  const people = admins.value?.items.map((one): Option => [one.id, nameOf(one)])
  return <Page title={t('title')} actions={<Csv name='audit' query={query} />}>
    <Filters of={filters} all={[
      ['actorId', t('who'), people ?? []],
      ['action', t('what'), actCodes.map((code): Option => [code, actOf(code)])],
      ['sort', t('order'), [['oldest', t('oldest')]], t('newest')],
    ]}>
      <Field label={t('targetId')} value={target} type='search' dir='ltr'
        error={id && !isId(id) ? t('badId') : undefined} />
      <Field label={t('from')} value={from} type='date' />
      <Field label={t('to')} value={to} type='date' />
    </Filters>
    <List of={entries} label={t('title')} render={(entry) => <EntryView entry={entry} />} empty={t('none')} />
  </Page>
}
