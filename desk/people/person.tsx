// A person on one page, from one request.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { EntryView } from '../audit/entry.tsx'
import { api, session, withProof, word } from '../frame/api.ts'
import { dayOf } from '../frame/format.ts'
import { Badge, Button, Copy, explain, Facts, Failed, Field, Money, Page, say, Skeleton, Time, useLoad } from '../frame/parts.tsx'
import { named } from '../frame/words.ts'
import { Invoices } from '../money/invoices.tsx'
import { type Act, ActDialog } from './act.tsx'
import { actsOn } from './acts.tsx'
import { State } from './find.tsx'
import { t } from './words.ts'

export type History = Schemas['UserHistory']
type Doing = { ask: (act: Act) => void; reload: () => void }

export function Person({ id }: { id: string }) {
  const open = useSignal<Act | undefined>(undefined)
  const load = useLoad((signal) => api.get('/admin/users/{userId}/history', { path: { userId: id }, signal }), [id])
  const { value, reload } = load
  const doing = { ask: (act: Act) => (open.value = act), reload }
  const isSelf = session.value?.user.id === id
  const isFree = value && !isSelf && !value.user.isAdmin && value.user.status !== 'deleted'
  const acts = isFree && actsOn(value.user, reload).map((act) => (
    <Button key={act.title} danger={act.isFinal ?? false} onClick={() => doing.ask(act)}>{act.title}</Button>
  ))
  return (
    <Page title={value?.user.fullName ?? t('title')} actions={acts}>
      {load.state === 'failed' && <Failed error={load.error} retry={reload} />}
      {load.state === 'loading' && <Skeleton rows={10} />}
      {value && (
        <>
          {isSelf ? <p class='banner'>{t('isSelf')}</p> : value.user.isAdmin && <p class='banner'>{t('isAdmin')}</p>}
          {value.user.status === 'deleted' && <p class='banner'>{t('isDeleted')}</p>}
          <div class='person'>
            <div>
              <Account of={value} />
              <Identities of={value} {...doing} isFree={Boolean(isFree)} />
              <Listings of={value} {...doing} isFree={!isSelf} />
              <Section title={t('invoices')} count={value.invoices.length}><Invoices of={value.invoices} reload={reload} /></Section>
              <Reports title={t('reportsAbout')} of={value.reports.about} />
              <Reports title={t('reportsMade')} of={value.reports.made} />
            </div>
            <div>
              <Notes id={id} of={value.notes} reload={reload} />
              <Section title={t('acts')} count={value.audit.length}>
                {value.audit.map((entry) => <EntryView key={entry.id} entry={entry} isAbout={id} />)}
              </Section>
            </div>
          </div>
        </>
      )}
      {open.value && <ActDialog act={open.value} onClose={() => (open.value = undefined)} />}
    </Page>
  )
}

function Section({ title, count, children }: { title: string; count: number; children: ComponentChildren }) {
  return (
    <section class='card' aria-label={title}>
      <h2>{title} <small>{count >= 50 ? t('newest50') : count}</small></h2>
      {count ? children : <p class='soft'>{t('none')}</p>}
    </section>
  )
}

function Account({ of: { user, sessions } }: { of: History }) {
  const isLocked = user.status === 'suspended' || user.status === 'banned'
  return (
    <section class='card' aria-label={t('title')}>
      <Facts
        of={[
          [t('status'), <State of={user.status} in='accountStatus' />],
          [t('statusReason'), user.statusReason],
          [t('until'), isLocked && (user.suspendedUntil ? <Time at={user.suspendedUntil} full /> : t('forGood'))],
          [t('deleteAt'), user.deleteAt && <Badge tone='warn'>{dayOf(user.deleteAt)}</Badge>],
          [t('phone'), user.phone && <bdi dir='ltr'><Copy text={user.phone} /></bdi>],
          [
            t('email'),
            user.email && <><bdi dir='ltr'><Copy text={user.email} /></bdi> {!user.emailProven && <Badge tone='warn'>{t('unproven')}</Badge>}</>,
          ],
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

function Identities({ of: { identities }, ask, reload, isFree }: { of: History; isFree: boolean } & Doing) {
  const put = (identityId: string, status: 'active' | 'suspended', reason: string) =>
    api.patch('/admin/identities/{identityId}/status', { path: { identityId }, body: { status, reason } }).then(reload)
  const act = (one: History['identities'][number], to: 'active' | 'suspended'): Act => {
    const title = t(to === 'active' ? 'identityRestore' : 'identitySuspend', { name: one.displayName })
    const back = one.status === 'active' ? 'active' : 'suspended'
    return {
      title,
      about: t('identityAbout'),
      send: async (reason) => {
        await put(one.id, to, reason)
        say(t('done', { what: title }), { undo: () => void put(one.id, back, one.statusReason ?? t('undone')).catch(explain) })
      },
    }
  }
  return (
    <Section title={t('identities')} count={identities.length}>
      {identities.map((one) => (
        <div key={one.id} class='entry'>
          <p class='row'>
            <b><bdi>{one.displayName}</bdi></b> <small>{word('identityType', one.type)}</small> <State of={one.status} in='identityStatus' />
            {isFree && one.status === 'active' && <Button plain onClick={() => ask(act(one, 'suspended'))}>{t('suspend')}</Button>}
            {isFree && one.status === 'suspended' && <Button plain onClick={() => ask(act(one, 'active'))}>{t('restore')}</Button>}
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

function Listings({ of: { newestListings, listings, identities }, ask, reload, isFree }: { of: History; isFree: boolean } & Doing) {
  const decide = (id: string, decision: 'suspend' | 'restore', reason?: string) =>
    api.post('/admin/moderation/{id}/decide', { path: { id }, body: { decision, ...reason && { reason } } }).then(reload)
  const suspend = (id: string, ref: string): Act => ({
    title: t('listingSuspend', { ref }),
    about: t('listingAbout'),
    send: async (reason) => {
      await decide(id, 'suspend', reason)
      say(t('done', { what: t('listingSuspend', { ref }) }), { undo: () => void decide(id, 'restore').catch(explain) })
    },
  })
  const restore = async (id: string, ref: string, reason: string | null) => {
    await decide(id, 'restore')
    say(t('done', { what: `${t('restore')} ${ref}` }), {
      undo: () => void decide(id, 'suspend', reason ?? t('undone')).catch(explain),
    })
  }
  const counts = Object.entries(listings).map(([code, count]) => `${word('listingStatus', code)} ${count}`).join(' · ')
  return (
    <Section title={t('listings')} count={newestListings.length}>
      <small>{counts}</small>
      <div class='scroll'>
        <table>
          <thead>
            <tr>
              <th>{t('listing')}</th><th class='end'>{t('price')}</th><th>{t('status')}</th><th>{t('date')}</th><th>{t('act')}</th>
            </tr>
          </thead>
          <tbody>
            {newestListings.map(({ id, refNo, titleAr, type, kind, price, status, statusReason, createdAt, identityId }) => (
              <tr key={id}>
                <td>
                  <bdi>{titleAr ?? '—'}</bdi>
                  <br />
                  <small>
                    <bdi dir='ltr'>{refNo}</bdi> · {word('kind', kind)} {word('listingType', type)}
                    {identities.length > 1 && <> · <bdi>{identities.find((one) => one.id === identityId)?.displayName}</bdi></>}
                  </small>
                </td>
                <td class='end'><Money of={price} /></td>
                <td>
                  <State of={status} in='listingStatus' />
                  {statusReason && <><br /><small><bdi>{statusReason}</bdi></small></>}
                </td>
                <td><Time at={createdAt} /></td>
                <td>
                  {isFree && status === 'active' && <Button plain onClick={() => ask(suspend(id, refNo))}>{t('suspend')}</Button>}
                  {isFree && status === 'suspended' && <Button plain onClick={() => restore(id, refNo, statusReason)}>{t('restore')}</Button>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  )
}

const Reports = ({ title, of }: { title: string; of: Schemas['Report'][] }) => (
  <Section title={title} count={of.length}>
    {of.map(({ id, targetType, reason, note, status, createdAt, targetId }) => (
      <div key={id} class='entry'>
        <p class='row'>
          <b>{word('reportReason', reason)}</b> <small>{word('reportTarget', targetType)} <Copy text={targetId} /></small>
          {status === 'open' ? <a href={`#/queue/${id}`}>{word('reportStatus', status)}</a> : <State of={status} in='reportStatus' />}
        </p>
        {note && <p><bdi>{note}</bdi></p>}
        <small><Time at={createdAt} full /></small>
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
      <h2>{t('notes')} <small>{of.length >= 50 ? t('newest50') : of.length}</small></h2>
      <Field label={t('note')} value={text} rows={2} maxLength={1000} />
      <div><Button onClick={add} disabled={!text.value.trim()}>{t('addNote')}</Button></div>
      {of.map((note) => (
        <div key={note.id} class='entry'>
          <p><bdi>{note.text}</bdi></p>
          <small>
            <bdi>{note.by.fullName}</bdi> · {word('noteTarget', note.targetType)} · <Time at={note.createdAt} full />
          </small>
        </div>
      ))}
    </section>
  )
}
