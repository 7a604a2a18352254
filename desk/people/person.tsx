// Everything about a person on one page, loaded with one request.
import { EntryView } from '../audit/entry.tsx'
import { type Act, api, Badge, Button, Copy, dayOf, explain, Facts, Loaded, Notes } from '../frame/index.ts'
import { Page, price, say, type Schemas, Section, session, State, Table, Time, Two, useActs, useLoad } from '../frame/index.ts'
import { word } from '../frame/index.ts'
import { Invoices } from '../money/invoices.tsx'
import { decideNow } from '../queue/store.ts'
import { actsOn } from './acts.tsx'
import { t } from './words.ts'

type History = Schemas['UserHistory']
type PartProps = { of: History; isFree: boolean; ask: (act: Act) => void; reload: () => void }

export function Person({ id }: { id: string }) {
  const { ask, dialog } = useActs()
  const load = useLoad((signal) => api.get('/admin/users/{userId}/history', { path: { userId: id }, signal }), [id])
  const { reload, value } = load
  const user = value?.user
  const isSelf = session.value?.user.id === id
  const isFree = !isSelf && user?.isAdmin === false && user.status !== 'deleted'
  const told = isSelf ? 'isSelf' : user?.isAdmin ? 'isAdmin' : user?.status === 'deleted' && 'isDeleted'
  const button = (act: Act) =>
    <Button key={act.title} danger={Boolean(act.isFinal)} onClick={() => ask(act)}>{act.title}</Button>
  const title = user ? user.fullName ?? t('noName') : t('title')
  return <Page title={title} actions={isFree && actsOn(user, reload).map(button)}>
    {told && <p class='banner'>{t(told)}</p>}
    <Loaded of={load} rows={10}>
      {(of) => <div class='person'>
        <div class='aside'>
          <Account of={of} />
          <Identities {...{ of, isFree, ask, reload }} />
          <Listings {...{ of, isFree: !isSelf, ask, reload }} />
          <Section title={t('invoices')} of={of.invoices}><Invoices of={of.invoices} reload={reload} /></Section>
          <Reports title={t('reportsAbout')} of={of.reports.about} />
          <Reports title={t('reportsMade')} of={of.reports.made} />
        </div>
        <div class='aside'>
          <Notes of={of.notes} label={t('note')} on={{ targetType: 'account', targetId: id }} reload={reload} />
          <Section title={t('acts')} of={of.audit}>
            {of.audit.map((entry) => <EntryView key={entry.id} entry={entry} isAbout={id} />)}
          </Section>
        </div>
      </div>}
    </Loaded>
    {dialog}
  </Page>
}

function Account({ of: { user, sessions } }: { of: History }) {
  const isLocked = user.status === 'suspended' || user.status === 'banned'
  const email = user.email && <Copy text={user.email} />
  return <section class='card' aria-label={t('title')}>
    <Facts of={[
      [t('status'), <State of={user.status} in='accountStatus' />], [t('statusReason'), user.statusReason],
      [t('until'), isLocked && (user.suspendedUntil ? <Time at={user.suspendedUntil} full /> : t('forGood'))],
      [t('deleteAt'), user.deleteAt && <Badge tone='warn'>{dayOf(user.deleteAt)}</Badge>],
      [t('phone'), user.phone && <Copy text={user.phone} />],
      [t('email'), email && <>{email} {!user.emailProven && <Badge tone='warn'>{t('unproven')}</Badge>}</>],
      [t('created'), <Time at={user.createdAt} full />],
      [t('lastSignIn'), user.lastSignInAt ? <Time at={user.lastSignInAt} full /> : t('never')],
      [t('sessions'), String(sessions)], [t('language'), word('language', user.language)],
      [t('id'), <Copy text={user.id} />],
    ]} />
  </section>
}

type Way = 'suspend' | 'restore'
type SwitchProps = { of: { status: string; statusReason: string | null }; name: string; more: (to: Way) => object }
  & { put: (to: Way, reason: string) => Promise<unknown>; ask: (act: Act) => void; reload: () => void }
/** Suspends or restores a listing or identity of a person. Each of the two actions undoes the other. */
function Switch({ of: { status, statusReason }, name, more, put, ask, reload }: SwitchProps) {
  const way = status === 'active' ? 'suspend' : status === 'suspended' && 'restore'
  if (!way) return null
  const title = `${t(way)} ${name}`
  const back = way === 'suspend' ? 'restore' : 'suspend'
  const undo = () => void put(back, statusReason ?? t('undone')).then(reload, explain)
  const send = async (reason: string) => {
    await put(way, reason)
    say(t('done', { what: title }), { undo })
    reload()
  }
  return <Button plain onClick={() => ask({ title, send, ...more(way) })}>{t(way)}</Button>
}

function Identities({ of: { identities }, isFree, ask, reload }: PartProps) {
  type Identity = History['identities'][number]
  const put = (identityId: string) => (to: Way, reason: string) => {
    const body = { status: to === 'suspend' ? 'suspended' as const : 'active' as const, reason }
    return api.patch('/admin/identities/{identityId}/status', { path: { identityId }, body })
  }
  const about = ({ id, type, nameEn, licenceNo, licenceExpiresOn, phone, email }: Identity) => <>
    {word('identityType', type)}{[nameEn, phone, email].map((text) => text && <> · <bdi key={text}>{text}</bdi></>)}
    {licenceNo && ` · ${t('licence', { no: licenceNo, day: licenceExpiresOn ? dayOf(licenceExpiresOn) : '—' })}`}
    {' '}<Copy text={id} />
  </>
  const more = () => ({ about: t('identityAbout') })
  return <Section title={t('identities')} of={identities}>
    <Table label={t('identities')} heads={[t('name'), t('status'), t('act')]} rows={identities.map((one) => [
      one.id,
      <Two top={one.displayName} under={about(one)} />,
      <Two top={<State of={one.status} in='identityStatus' />} under={one.statusReason} />,
      isFree && <Switch of={one} name={one.displayName} put={put(one.id)} {...{ more, ask, reload }} />,
    ])} />
  </Section>
}

function Listings({ of: { newestListings, listings, identities }, isFree, ask, reload }: PartProps) {
  const put = (id: string) => (decision: Way, reason: string) =>
    decideNow(id, decision === 'suspend' ? { decision, reason } : { decision })
  const more = (way: Way) => way === 'suspend' ? { about: t('listingAbout') } : { reason: null }
  const name = (identityId: string) => identities.find(({ id }) => id === identityId)?.displayName
  const counts = Object.entries(listings).map(([code, count]) => `${word('listingStatus', code)} ${count}`).join(' · ')
  const about = ({ refNo, kind, type, identityId }: History['newestListings'][number]) =>
    <><bdi>{refNo}</bdi> · {word('kind', kind)} {word('listingType', type)} · <bdi>{name(identityId)}</bdi></>
  const heads = [t('listing'), t('price'), t('status'), t('date'), t('act')]
  return <Section title={t('listings')} of={newestListings} head={<small>{counts}</small>}>
    <Table label={t('listings')} heads={heads} ends={[1]} rows={newestListings.map((one) => [
      one.id,
      <Two top={one.titleAr ?? '—'} under={about(one)} />,
      one.price === null ? '—' : <span class='number'>{price(one.price)}</span>,
      <Two top={<State of={one.status} in='listingStatus' />} under={one.statusReason} />,
      <Time at={one.createdAt} />,
      isFree && <Switch of={one} name={one.refNo} put={put(one.id)} {...{ more, ask, reload }} />,
    ])} />
  </Section>
}

const Reports = ({ title, of }: { title: string; of: Schemas['Report'][] }) => <Section title={title} of={of}>
  {of.map(({ id, targetType, targetId, reason, note, status, createdAt }) => <div key={id} class='entry'>
    <p class='row'>
      <b>{word('reportReason', reason)}</b> <small>{word('reportTarget', targetType)} <Copy text={targetId} /></small>
      {status === 'open' ? <a href={`#/queue/${id}`}>{t('toQueue')}</a> : <State of={status} in='reportStatus' />}
    </p>
    {note && <p><bdi>{note}</bdi></p>}
    <small><Time at={createdAt} full /></small>
  </div>)}
</Section>
