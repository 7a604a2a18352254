// Finds people by anything that somebody on the phone may mention. The search is kept when a person is
// opened, but it is not in the URL, because browsers store URLs.
import { useEffect } from 'preact/hooks'
import { Csv } from '../audit/csv.tsx'
import { api, Badge, type Chosen, codes, type ComponentChildren, dayOf, Field, Filters, List } from '../frame/index.ts'
import { Page, type Schemas, signal, State, Time, usePages, word, yesOrNo } from '../frame/index.ts'
import type { Place } from '../frame/router.ts'
import { Person } from './person.tsx'
import { t } from './words.ts'

const [typed, asked, filters] = [signal(''), signal(''), signal<Chosen>({})]
const query = () => ({ ...filters.value, ...asked.value && { q: asked.value } })

/** The search field and its results. `open` returns the path of a result. */
export function PeopleList({ open, children }: { open: (id: string) => string; children?: ComponentChildren }) {
  const text = typed.value.trim()
  const isShort = text !== '' && [...text].length < 3
  useEffect(() => {
    const later = setTimeout(() => (asked.value = isShort ? '' : text), 350)
    return () => clearTimeout(later)
  }, [text])
  const people = usePages(query(), (query, signal) => api.get('/admin/users', { query, signal }))
  const error = isShort ? t('tooShort') : undefined
  return <>
    <form class='search' role='search' onSubmit={(event) => event.preventDefault()}>
      <Field label={t('search')} value={typed} type='search' hint={t('searchMore')} error={error} />
    </form>
    {children}
    <List of={people} label={t('title')} open={({ id }) => open(id)} render={(one) => <Row of={one} />}
      empty={t('nobody')} />
  </>
}

const Row = ({ of: user }: { of: Schemas['AdminUser'] }) => <>
  <span class='grow'>
    <b><bdi>{user.fullName ?? t('noName')}</bdi></b>
    <small><bdi>{user.phone}</bdi> <bdi>{user.email}</bdi></small>
    {user.identities.filter(({ type }) => type !== 'individual').map(({ id, type, displayName, status }) =>
      <small key={id}>{word('identityType', type)}: <bdi>{displayName}</bdi>, {word('identityStatus', status)}</small>)}
  </span>
  <span class='end'>
    {user.isAdmin && <Badge>{t('admin')}</Badge>}{' '}
    {user.deleteAt && <Badge tone='warn'>{t('willGo', { day: dayOf(user.deleteAt) })}</Badge>}{' '}
    <State of={user.status} in='accountStatus' />
    <small class='under'>{t('lastSignIn')}: {user.lastSignInAt ? <Time at={user.lastSignInAt} /> : t('never')}</small>
  </span>
</>

function Find({ given }: { given: string | null }) {
  useEffect(() => {
    if (given) asked.value = typed.value = given
  }, [given])
  const states = 'active pending_verification rejected expired suspended closing closed'
  const orders = ['oldest', 'name', '-lastSignInAt', 'suspendedUntil', 'deleteAt'] as const
  return <Page title={t('title')} actions={<Csv name='users' query={query()} />}>
    <PeopleList open={(id) => `/people/${id}`}>
      <Filters of={filters} all={[
        ['status', t('status'), codes('accountStatus', 'active suspended banned deleted')],
        ['type', t('type'), codes('identityType', 'individual company office')],
        ['identityStatus', t('identityStatus'), codes('identityStatus', states)],
        ['isAdmin', t('admin'), yesOrNo()], ['toBeDeleted', t('leaving'), yesOrNo()],
        ['sort', t('order'), orders.map((order) => [order, t(order)]), t('newest')],
      ]} />
    </PeopleList>
  </Page>
}

export default ({ id, query }: Place) => id ? <Person key={id} id={id} /> : <Find given={query.get('q')} />
