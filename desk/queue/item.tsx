// An item with what can be decided about it, who looks at it, what was decided before, and notes.
import { useSignal } from '@preact/signals'
import { isApiError, type Schemas } from 'kuwait-property-client'
import { useEffect } from 'preact/hooks'
import { api, session, textOf, word } from '../frame/api.ts'
import { timeOf } from '../frame/format.ts'
import { useKeys } from '../frame/keys.ts'
import { Badge, Button, Empty, Facts, Failed, Field, Page, say, Skeleton, Time, useLoad } from '../frame/parts.tsx'
import { pathWith, place } from '../frame/router.ts'
import { Ask, asked } from './ask.tsx'
import {
  type Decision,
  isConflict,
  type Item,
  items,
  next,
  openItem,
  prepare,
  release,
  replace,
  seeAnew,
  titleOf,
} from './store.ts'
import { claim, decide, listing as queue } from './store.ts'
import { Differences, ItemView, valueText } from './views.tsx'
import { t } from './words.ts'

const claimAgain = 10 * 60_000

/** What leaves the thing as it is or lets it be seen; all else is asked for a reason. */
const isKind = (decision: Decision) => ['approve', 'restore', 'dismiss'].includes(decision)
/** The key of each decision: A lets pass, R takes away, S suspends what could be rejected too. */
const keyOf = (decision: Decision, all: Decision[]) =>
  isKind(decision) || decision === 'paid_out' ? 'A' : decision === 'suspend' && all.includes('reject') ? 'S' : 'R'

export function ItemPage({ id }: { id: string }) {
  const known = items.value.find((item) => item.id === id)
  const opened = useLoad(async () => {
    const now = await claim(id)
    const listed = items.peek().find((item) => item.id === id)
    if (now.item && listed && !listed.problem && !listed.seen) replace(now.item)
    return now
  }, [id])
  useEffect(() => {
    const again = setInterval(() => void claim(id).catch(() => {}), claimAgain) // a claim that fails is no decision lost
    const leave = () => release(id)
    addEventListener('pagehide', leave)
    return () => {
      clearInterval(again)
      removeEventListener('pagehide', leave)
      leave()
    }
  }, [id])
  useEffect(() => prepare(id), [id, queue.value.state, items.value.length])
  useEffect(() => document.getElementById('content')?.scrollIntoView(), [id])

  const waits = opened.value?.waits ?? true
  const item: Item | undefined = waits ? known ?? opened.value?.item ?? undefined : undefined
  const decisions = item && item.problem === undefined ? item.decisions : []
  const act = (decision: Decision) => {
    if (!item) return
    if (isKind(decision)) decide([item], { decision })
    else asked.value = { items: [item], decision }
  }
  const move = (by: number) => () => {
    const to = next(id, by)
    if (to) openItem(to)
  }
  useKeys({
    j: move(1),
    k: move(-1),
    ArrowDown: move(1),
    ArrowUp: move(-1),
    ...Object.fromEntries(decisions.map((one) => [keyOf(one, decisions).toLowerCase(), () => act(one)])),
  })
  const back = <a href={`#${pathWith('/queue', Object.fromEntries(place.value.query))}`}>{t('back')}</a>
  if (!item) {
    if (opened.state === 'loading') {
      return (
        <Page title='…' actions={back}>
          <Skeleton rows={6} />
        </Page>
      )
    }
    const { value, error, reload } = opened
    return (
      <Page title={t(value ? 'gone' : 'notFound')} actions={back}>
        {value ? <Decided entry={value.lastDecision} /> : <Failed error={error} retry={reload} />}
      </Page>
    )
  }
  const title = titleOf(item)
  return (
    <Page
      title={title}
      actions={
        <>
          {back}
          <Badge>{word('moderationKind', item.kind)}</Badge>
          <Time at={item.since} />
        </>
      }
    >
      <Banner item={item} claimedBy={opened.value?.claimedBy ?? item.claimedBy} />
      <ItemView key={id} item={item} />
      <div class='cards below'>
        <History item={item} />
        <Notes item={item} />
      </div>
      <div class='decide' role='group' aria-label={t('approve')}>
        {decisions.map((one) => (
          <Button
            key={one}
            main={isKind(one) || one === 'paid_out'}
            danger={!isKind(one) && one !== 'paid_out'}
            key_={keyOf(one, decisions)}
            onClick={() => act(one)}
          >
            {word('moderationDecision', one)}
          </Button>
        ))}
      </div>
      <Ask />
    </Page>
  )
}

function Banner({ item, claimedBy }: { item: Item; claimedBy: Item['claimedBy'] }) {
  const { problem, seen } = item
  const since = claimedBy && timeOf(new Date(Date.parse(claimedBy.until) - 15 * 60_000).toISOString())
  return (
    <>
      {claimedBy && claimedBy.id !== session.value?.user.id && (
        <p class='banner' role='status'>{t('claimed', { name: claimedBy.fullName ?? '', time: since! })}</p>
      )}
      {problem !== undefined && (
        <div class='banner row' role='alert'>
          <span>{isConflict(problem) ? t('conflict') : textOf(problem) || t('undone')}</span>
          <Button onClick={() => seeAnew(item)}>{t('anew')}</Button>
        </div>
      )}
      {seen && (
        <section class='card'>
          <h2>{t('changedSince')}</h2>
          <Differences from={contentOf(seen)} to={contentOf(item)} />
        </section>
      )}
    </>
  )
}

/** All of an item that its owner can change, by one name each. */
const contentOf = ({ listing, changes, identity }: Item): Record<string, unknown> => {
  const papers = identity?.documents.map(({ name }) => name)
  const { favoritesCount: _, viewsCount: __, version: ___, ...fields } = listing ?? {} as Schemas['Property']
  return { ...fields, ...identity?.record, ...changes, ...papers && { papers } }
}

function Decided({ entry }: { entry: Schemas['AuditEntry'] | null }) {
  if (!entry) return <Empty>{t('gone')}</Empty>
  const name = (entry.actor ?? entry.said)?.fullName ?? t('someone')
  return (
    <section class='card'>
      <p>{t('decidedBy', { action: entry.action, name, time: timeOf(entry.at) })}</p>
      <Facts of={[[t('reason'), entry.reason], [t('after'), entry.after && valueText('', entry.after)]]} />
    </section>
  )
}

const noteTargets = {
  listing: 'property',
  changes: 'property',
  identity: 'identity',
  report: 'report',
  duplicate_suspected: 'duplicate',
  wallet_payout: 'payout',
} as const

function History({ item }: { item: Item }) {
  const targetId = item.listing?.id ?? item.report?.targetId ?? item.id
  const audit = useLoad((signal) => api.get('/admin/audit', { query: { targetId, limit: 10 }, signal }), [targetId])
  const entries = item.identity?.earlierDecisions ?? audit.value?.items ?? []
  return (
    <section class='card'>
      <h2>{t('history')}</h2>
      {entries.length === 0 && <p class='soft'>{audit.error ? textOf(audit.error) : '—'}</p>}
      <ul class='notes'>
        {entries.map(({ id, at, actor, said, action, reason }) => (
          <li key={id}>
            <bdi>{action}</bdi>{' '}
            <small>
              <bdi>{(actor ?? said)?.fullName ?? t('someone')}</bdi> <Time at={at} />
            </small>
            {reason && <p dir='auto'>{reason}</p>}
          </li>
        ))}
      </ul>
      <a href={`#/audit?targetId=${targetId}`}>{t('audit')}</a>
    </section>
  )
}

function Notes({ item }: { item: Item }) {
  const text = useSignal('')
  const added = useSignal<Schemas['Note'][]>([])
  const fault = useSignal('')
  const add = async () => {
    const body = { targetType: noteTargets[item.kind], targetId: item.id, text: text.value }
    try {
      added.value = [await api.post('/admin/notes', { body }), ...added.value]
      text.value = fault.value = ''
      say(t('notes'))
    } catch (error) {
      fault.value = isApiError(error) ? textOf(error) : String(error)
    }
  }
  const ids = new Set(item.notes.map(({ id }) => id))
  return (
    <section class='card'>
      <h2>{t('notes')}</h2>
      <Field label={t('addNote')} value={text} rows={2} maxLength={1000} error={fault.value} />
      <div>
        <Button onClick={add} disabled={!text.value.trim()}>{t('add')}</Button>
      </div>
      <ul class='notes'>
        {[...added.value.filter(({ id }) => !ids.has(id)), ...item.notes].map(({ id, text, by, createdAt }) => (
          <li key={id}>
            <p class='text' dir='auto'>{text}</p>
            <small>
              <bdi>{by.fullName}</bdi> <Time at={createdAt} />
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}
