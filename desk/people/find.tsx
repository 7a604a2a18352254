// Finds people by whatever somebody at the telephone says. What was asked stays while one looks at a person; it is
// not in the address, which browsers keep.
import { signal } from '@preact/signals'
import type { Input, Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Csv } from '../audit/csv.tsx'
import { api, word } from '../frame/api.ts'
import { dayOf } from '../frame/format.ts'
import { Badge, Choice, Field, List, Page, Time, type Tone, usePages } from '../frame/parts.tsx'
import { t } from './words.ts'

type Filters = Omit<NonNullable<NonNullable<Input<'get', '/admin/users'>[0]>['query']>, 'q' | 'cursor' | 'limit'>

const typed = signal('')
const asked = signal('')
const filters = signal<Filters>({})

const tones: Record<string, Tone> = {
  ...Object.fromEntries(['active', 'paid', 'captured', 'settled'].map((one) => [one, 'good' as const])),
  ...Object.fromEntries(['suspended', 'banned', 'deleted', 'rejected', 'failed', 'upheld'].map((one) => [one, 'bad' as const])),
  ...Object.fromEntries(
    ['pending_review', 'pending_verification', 'expired', 'open', 'surplus', 'processing'].map((one) => [one, 'warn' as const]),
  ),
}
/** A code of a vocabulary as word and colour. */
export const State = ({ of, in: vocabulary }: { of: string; in: string }) => (
  <Badge tone={tones[of] ?? 'calm'}>{word(vocabulary, of)}</Badge>
)

/** The field and the people that fit; `open` says where one leads. */
export function PeopleList({ given, open, children }: { given?: string | null; open: (id: string) => string; children?: ComponentChildren }) {
  useEffect(() => {
    if (given) asked.value = typed.value = given
  }, [given])
  const { value } = typed
  useEffect(() => {
    const later = setTimeout(() => (asked.value = [...value.trim()].length < 3 ? '' : value.trim()), 350)
    return () => clearTimeout(later)
  }, [value])
  const query = { ...filters.value, ...asked.value && { q: asked.value } }
  const people = usePages((cursor, signal) => api.get('/admin/users', { query: { ...query, cursor }, signal }), [JSON.stringify(query)])
  const isShort = value.trim() !== '' && [...value.trim()].length < 3
  return (
    <>
      <form class='search' role='search' onSubmit={(event) => event.preventDefault()}>
        <Field label={t('search')} value={typed} type='search' hint={t('searchMore')} error={isShort ? t('tooShort') : undefined} />
      </form>
      {children}
      <List of={people} label={t('title')} open={({ id }) => open(id)} render={(one) => <Row of={one} />} empty={t('nobody')} />
    </>
  )
}

function Row({ of: { fullName, phone, email, status, isAdmin, deleteAt, identities, lastSignInAt } }: { of: Schemas['AdminUser'] }) {
  const others = identities.filter(({ type }) => type !== 'individual')
  return (
    <>
      <span class='grow'>
        <b><bdi>{fullName ?? t('noName')}</bdi></b>
        <small><bdi dir='ltr'>{phone}</bdi>{phone && email && ' · '}<bdi dir='ltr'>{email}</bdi></small>
        {others.map(({ id, type, displayName, status }) => (
          <small key={id}>{word('identityType', type)}: <bdi>{displayName}</bdi> ({word('identityStatus', status)})</small>
        ))}
      </span>
      <span class='end'>
        {isAdmin && <Badge>{t('admin')}</Badge>} {deleteAt && <Badge tone='warn'>{t('willGo', { day: dayOf(deleteAt) })}</Badge>}{' '}
        <State of={status} in='accountStatus' />
        <br />
        <small>{t('lastSignIn')}: {lastSignInAt ? <Time at={lastSignInAt} /> : t('never')}</small>
      </span>
    </>
  )
}

const choices = (vocabulary: string, codes: string[]): [string, string][] =>
  [['', t('any')], ...codes.map((code): [string, string] => [code, word(vocabulary, code)])]

export function Find({ given }: { given: string | null }) {
  const now = filters.value
  const set = (more: Record<string, unknown>) => {
    filters.value = Object.fromEntries(Object.entries({ ...now, ...more }).filter(([, value]) => value !== ''))
  }
  const query = { ...now, ...asked.value && { q: asked.value } }
  return (
    <Page title={t('title')} actions={<Csv name='users' query={query} />}>
      <PeopleList given={given} open={(id) => `/people/${id}`}>
        <div class='filters'>
          <Choice label={t('status')} value={now.status ?? ''} onChoose={(status) => set({ status })}
            options={choices('accountStatus', ['active', 'suspended', 'banned', 'deleted'])} />
          <Choice label={t('type')} value={now.type ?? ''} onChoose={(type) => set({ type })}
            options={choices('identityType', ['individual', 'company', 'office'])} />
          <Choice label={t('identityStatus')} value={now.identityStatus ?? ''} onChoose={(identityStatus) => set({ identityStatus })}
            options={choices('identityStatus', ['active', 'pending_verification', 'rejected', 'expired', 'suspended', 'closing', 'closed'])} />
          <Choice
            label={t('who')}
            value={now.isAdmin ? 'isAdmin' : now.toBeDeleted ? 'toBeDeleted' : ''}
            options={[['', t('any')], ['isAdmin', t('admins')], ['toBeDeleted', t('leaving')]]}
            onChoose={(one) => set({ isAdmin: one === 'isAdmin' || '', toBeDeleted: one === 'toBeDeleted' || '' })}
          />
          <Choice
            label={t('order')}
            value={now.sort ?? ''}
            options={[
              ...[['', t('newest')], ['oldest', t('oldest')], ['name', t('name')], ['-lastSignInAt', t('lastSignIn')]],
              ...[['suspendedUntil', t('suspendedUntil')], ['deleteAt', t('deleteAt')]],
            ] as [string, string][]}
            onChoose={(sort) => set({ sort })}
          />
        </div>
      </PeopleList>
    </Page>
  )
}
