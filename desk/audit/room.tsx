// What administrators did: the trail with its filters.
import { signal, useSignal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { api } from '../frame/api.ts'
import { Button, Choice, Field, List, Page, useLoad, usePages } from '../frame/parts.tsx'
import { Csv } from './csv.tsx'
import { EntryView } from './entry.tsx'
import { actCodes, actOf, t } from './words.ts'

type Filters = { actorId?: string; action?: string; targetId?: string; sort?: 'oldest'; since?: string; until?: string }
const chosen = signal<Filters>({})

/** The beginning of a day in Kuwait, or of the one after it. */
function beginning(day: string, later = 0): string | undefined {
  if (!day) return undefined
  return new Date(Date.parse(`${day}T00:00:00+03:00`) + later * 86_400_000).toISOString()
}

export default function Audit() {
  const filters = chosen.value
  const [isBad, setBad] = useState(false)
  const targetId = useSignal(filters.targetId ?? '')
  const from = useSignal(filters.since?.slice(0, 10) ?? '')
  const to = useSignal('')
  const set = (more: Filters) => {
    const now = { ...filters, ...more }
    chosen.value = Object.fromEntries(Object.entries(now).filter(([, value]) => value))
  }
  const apply = (event: Event) => {
    event.preventDefault()
    const id = targetId.value.trim()
    setBad(id !== '' && !/^[0-9a-f-]{36}$/i.test(id))
    if (id === '' || /^[0-9a-f-]{36}$/i.test(id)) {
      set({ targetId: id, since: beginning(from.value), until: beginning(to.value, 1) })
    }
  }
  const admins = useLoad((signal) => api.get('/admin/users', { query: { isAdmin: true, limit: 50 }, signal }))
  const entries = usePages(
    (cursor, signal) => api.get('/admin/audit', { query: { ...filters, cursor, limit: 50 }, signal }),
    [JSON.stringify(filters)],
  )
  const people = (admins.value?.items ?? [])
    .map(({ id, fullName, phone, email }): [string, string] => [id, fullName ?? phone ?? email ?? id])
  return (
    <Page title={t('title')} actions={<Csv name='audit' query={filters} />}>
      <form class='filters' onSubmit={apply}>
        <Choice
          label={t('who')}
          value={filters.actorId ?? ''}
          options={[['', t('everybody')], ...people]}
          onChoose={(actorId) => set({ actorId })}
        />
        <Choice
          label={t('what')}
          value={filters.action ?? ''}
          options={[['', t('everything')], ...actCodes.map((code): [string, string] => [code, actOf(code)])]}
          onChoose={(action) => set({ action })}
        />
        <Field label={t('targetId')} value={targetId} type='search' dir='ltr' error={isBad ? t('badId') : undefined} />
        <Field label={t('from')} value={from} type='date' />
        <Field label={t('to')} value={to} type='date' />
        <Choice
          label={t('order')}
          value={filters.sort ?? ''}
          options={[['', t('newest')], ['oldest', t('oldest')]]}
          onChoose={(sort) => set({ sort: sort === 'oldest' ? sort : undefined })}
        />
        <Button submits>{t('apply')}</Button>
      </form>
      <List of={entries} label={t('title')} render={(entry) => <EntryView entry={entry} />} empty={t('none')} />
    </Page>
  )
}
