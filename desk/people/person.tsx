// A person on one page, from one request.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { EntryView } from '../audit/entry.tsx'
import { api, session, word } from '../frame/api.ts'
import { dayOf } from '../frame/format.ts'
import { Badge, Button, Copy, explain, Facts, Field, Loaded, Money, Page, say, Time, useLoad } from '../frame/parts.tsx'
import { Invoices } from '../money/invoices.tsx'
import { type Act, useActs } from './act.tsx'
import { actsOn } from './acts.tsx'
import { State, Table, Two } from './parts.tsx'
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
  const acts = isFree &&
    actsOn(user, reload).map((act) => (
      <Button key={act.title} danger={act.isFinal ?? false} onClick={() => ask(act)}>{act.title}</Button>
    ))
  return (
    <Page title={user ? user.fullName ?? t('noName') : t('title')} actions={acts}>
      {told && <p class='banner'>{t(told)}</p>}
      <Loaded of={load} rows={10}>
        {(of) => (
          <div class='person'>
            <div>
              <Account of={of} />
              <Identities {...{ of, isFree, ask, reload }} />
              <Listings {...{ of, isFree: !isSelf, ask, reload }} />
              <Section title={t('invoices')} of={of.invoices}>
                <Invoices of={of.invoices} reload={reload} />
              </Section>
              <Reports title={t('reportsAbout')} of={of.reports.about} />
              <Reports title={t('reportsMade')} of={of.reports.made} />
            </div>
            <div>
              <Notes id={id} of={of.notes} reload={reload} />
              <Section title={t('acts')} of={of.audit}>
                {of.audit.map((entry) => <EntryView key={entry.id} entry={entry} isAbout={id} />)}
              </Section>
            </div>
          </div>
        )}
      </Loaded>
      {dialog}
    </Page>
  )
}

function Section({ title, of, children }: { title: string; of: unknown[]; children: ComponentChildren }) {
  return (
    <section class='card' aria-label={title}>
      <h2>
        {title} <small>{of.length >= 50 ? t('newest50') : of.length}</small>
      </h2>
      {of.length ? children : <p class='soft'>{t('none')}</p>}
    </section>
  )
}

function Account({ of: { user, sessions } }: { of: History }) {
  const isLocked = user.status === 'suspended' || user.status === 'banned'
  const email = user.email && <Copy text={user.email} />
  return (
    <section class='card' aria-label={t('title')}>
      <Facts
        of={[
          [t('status'), <State of={user.status} in='accountStatus' />],
          [t('statusReason'), user.statusReason],
          [t('until'), isLocked && (user.suspendedUntil ? <Time at={user.suspendedUntil} full /> : t('forGood'))],
          [t('deleteAt'), user.deleteAt && <Badge tone='warn'>{dayOf(user.deleteAt)}</Badge>],
          [t('phone'), user.phone && <Copy text={user.phone} />],
          [t('email'), email && <>{email} {!user.emailProven && <Badge tone='warn'>{t('unproven')}</Badge>}</>],
          [t('created'), <Time at={user.createdAt} full />],
          [t('lastSignIn'), user.lastSignInAt ? <Time at={user.lastSignInAt} full /> : t('never')],
          [t('sessions'), String(sessions)],
          [t('language'), word('language', user.language)],
          [t('id'), <Copy text={user.id} />],
        ]}
      />
    </section>
  )
}

/** Suspends something of a person, or brings it back; each undoes the other. */
function switching(
  title: string,
  about: string,
  to: (reason: string) => Promise<unknown>,
  back: () => Promise<unknown>,
): Act {
  const send = async (reason: string) => {
    await to(reason)
    say(t('done', { what: title }), { undo: () => void back().catch(explain) })
  }
  return { title, about, send }
}

const stateKey = { active: 'suspend', suspended: 'restore' } as const
const isSwitched = (status: string): status is keyof typeof stateKey => status in stateKey

function Identities({ of: { identities }, isFree, ask, reload }: PartProps) {
  const act = ({ id: identityId, displayName, status, statusReason }: History['identities'][number]): Act => {
    const put = (status: 'active' | 'suspended', reason: string) =>
      api.patch('/admin/identities/{identityId}/status', { path: { identityId }, body: { status, reason } }).then(
        reload,
      )
    const [to, back] = status === 'active' ? ['suspended', 'active'] as const : ['active', 'suspended'] as const
    const title = `${t(stateKey[back])} ${displayName}`
    return switching(
      title,
      t('identityAbout'),
      (reason) => put(to, reason),
      () => put(back, statusReason ?? t('undone')),
    )
  }
  return (
    <Section title={t('identities')} of={identities}>
      {identities.map((one) => (
        <div key={one.id} class='entry'>
          <p class='row'>
            <b dir='auto'>{one.displayName}</b> <small>{word('identityType', one.type)}</small>
            <State of={one.status} in='identityStatus' />
            {isFree && isSwitched(one.status) && (
              <Button plain onClick={() => ask(act(one))}>{t(stateKey[one.status])}</Button>
            )}
          </p>
          <Facts
            of={[
              [t('statusReason'), one.statusReason],
              [t('name'), one.type !== 'individual' && one.nameEn],
              [t('licence'), one.licenceNo],
              [t('licenceEnds'), one.licenceExpiresOn && dayOf(one.licenceExpiresOn)],
              [t('phone'), one.phone],
              [t('email'), one.email],
              [t('id'), <Copy text={one.id} />],
            ]}
          />
        </div>
      ))}
    </Section>
  )
}

function Listings({ of: { newestListings, listings, identities }, isFree, ask, reload }: PartProps) {
  const act = ({ id, refNo, status, statusReason }: History['newestListings'][number]): Act => {
    const decide = (decision: 'suspend' | 'restore', reason?: string) =>
      api.post('/admin/moderation/{id}/decide', { path: { id }, body: { decision, ...reason && { reason } } }).then(
        reload,
      )
    const suspend = (reason: string) => decide('suspend', reason)
    const restore = () => decide('restore')
    const title = `${t(status === 'active' ? 'suspend' : 'restore')} ${refNo}`
    return status === 'active'
      ? switching(title, t('listingAbout'), suspend, restore)
      : { ...switching(title, '', restore, () => suspend(statusReason ?? t('undone'))), reason: null }
  }
  const name = (identityId: string) => identities.find(({ id }) => id === identityId)?.displayName
  const counts = Object.entries(listings).map(([code, count]) => `${word('listingStatus', code)} ${count}`).join(' · ')
  return (
    <Section title={t('listings')} of={newestListings}>
      <small>{counts}</small>
      <Table
        label={t('listings')}
        heads={[t('listing'), t('price'), t('status'), t('created'), t('act')]}
        ends={[1]}
        rows={newestListings.map((one) => [
          one.id,
          <Two
            top={one.titleAr ?? '—'}
            under={
              <>
                <bdi>{one.refNo}</bdi> · {word('kind', one.kind)} {word('listingType', one.type)}
                {identities.length > 1 && (
                  <>
                    · <bdi>{name(one.identityId)}</bdi>
                  </>
                )}
              </>
            }
          />,
          <Money of={one.price} />,
          <Two top={<State of={one.status} in='listingStatus' />} under={one.statusReason} />,
          <Time at={one.createdAt} />,
          isFree && isSwitched(one.status) && (
            <Button plain onClick={() => ask(act(one))}>{t(stateKey[one.status])}</Button>
          ),
        ])}
      />
    </Section>
  )
}

const Reports = ({ title, of }: { title: string; of: Schemas['Report'][] }) => (
  <Section title={title} of={of}>
    {of.map(({ id, targetType, targetId, reason, note, status, createdAt }) => (
      <div key={id} class='entry'>
        <p class='row'>
          <b>{word('reportReason', reason)}</b>
          <small>
            {word('reportTarget', targetType)} <Copy text={targetId} />
          </small>
          {status === 'open' ? <a href={`#/queue/${id}`}>{t('toQueue')}</a> : <State of={status} in='reportStatus' />}
        </p>
        {note && <p dir='auto'>{note}</p>}
        <small>
          <Time at={createdAt} full />
        </small>
      </div>
    ))}
  </Section>
)

function Notes({ id, of, reload }: { id: string; of: Schemas['Note'][]; reload: () => void }) {
  const text = useSignal('')
  const add = async () => {
    await api.post('/admin/notes', { body: { targetType: 'account', targetId: id, text: text.value } })
    text.value = ''
    say(t('noted'))
    reload()
  }
  return (
    <section class='card' aria-label={t('notes')}>
      <h2>
        {t('notes')} <small>{of.length >= 50 ? t('newest50') : of.length}</small>
      </h2>
      <Field label={t('note')} value={text} rows={2} maxLength={1000} />
      <div>
        <Button onClick={add} disabled={!text.value.trim()}>{t('addNote')}</Button>
      </div>
      {of.map((note) => (
        <div key={note.id} class='entry'>
          <p dir='auto'>{note.text}</p>
          <small>
            <bdi>{note.by.fullName}</bdi> · {word('noteTarget', note.targetType)} · <Time at={note.createdAt} full />
          </small>
        </div>
      ))}
    </section>
  )
}
