// The page of an item: its possible decisions, who else is looking at it, earlier decisions, and notes.
import { useEffect } from 'preact/hooks'
import { EntryView } from '../audit/entry.tsx'
import { actOf } from '../audit/words.ts'
import { api, Badge, Button, Empty, Failed, Notes, Page, pathWith, place, type Schemas } from '../frame/index.ts'
import { Section, session, Skeleton, textOf, Time, timeOf, useKeys, useLoad, word } from '../frame/index.ts'
import { Ask, asked } from './ask.tsx'
import { claim, decide, type Decision, isConflict, type Item, items, next, openItem } from './store.ts'
import { prepare, queue, release, remove, replace, seeAnew, titleOf } from './store.ts'
import { Differences, ItemView } from './views.tsx'
import { t } from './words.ts'

const minute = 60_000
/** Decisions that publish an item or leave it unchanged. All others require a reason or a reference. */
const isMild = (decision: Decision) => ['approve', 'restore', 'dismiss'].includes(decision)
const isMain = (decision: Decision) => isMild(decision) || decision === 'paid_out'
/** The keyboard shortcut of a decision: A approves, R rejects or removes, and S suspends if R rejects. */
const keyOf = (decision: Decision, all: Decision[]) =>
  isMain(decision) ? 'A' : decision === 'suspend' && all.includes('reject') ? 'S' : 'R'

export function ItemPage({ id }: { id: string }) {
  const opened = useLoad(async () => {
    const now = await claim(id)
    const listed = items.peek().find((item) => item.id === id)
    if (!now.item) remove(id)
    else if (listed?.problem === undefined && !listed?.seen) replace(now.item)
    return now
  }, [id])
  useEffect(() => {
    // If this fails, other administrators may open the item at the same time, which does no harm.
    const again = setInterval(() => claim(id).catch(() => {}), 10 * minute)
    const leave = () => release(id)
    addEventListener('pagehide', leave)
    document.getElementById('content')?.scrollIntoView()
    return () => {
      clearInterval(again)
      removeEventListener('pagehide', leave)
      leave()
    }
  }, [id])
  useEffect(() => prepare(id), [id, queue.value.state, items.value.length])
  const known = items.value.find((item) => item.id === id) ?? opened.value?.item
  const item: Item | undefined = opened.value?.waits === false ? undefined : known ?? undefined
  const decisions = item && !isConflict(item.problem) ? item.decisions : []
  const act = (decision: Decision) => () => {
    if (isMild(decision)) decide([item!], { decision })
    else asked.value = { items: [item!], decision }
  }
  const move = (by: number) => () => {
    const to = next(id, by)
    if (to) openItem(to)
  }
  useKeys({
    j: move(1), k: move(-1), ArrowDown: move(1), ArrowUp: move(-1),
    ...Object.fromEntries(decisions.map((one) => [keyOf(one, decisions).toLowerCase(), act(one)])),
  })
  const back = <a href={`#${pathWith('/queue', Object.fromEntries(place.value.query))}`}>{t('back')}</a>
  if (!item && opened.state === 'loading') return <Page title='…' actions={back}><Skeleton rows={6} /></Page>
  if (!item) return <Page title={t(opened.value ? 'gone' : 'notFound')} actions={back}>
    {opened.value ? <Decided by={opened.value.lastDecision} /> : <Failed error={opened.error} retry={opened.reload} />}
  </Page>
  const noted = { targetType: noteTargets[item.kind], targetId: id }
  const actions = <>{back} <Badge>{word('moderationKind', item.kind)}</Badge> <Time at={item.since} /></>
  return <Page title={titleOf(item)} actions={actions}>
    <Banner item={item} claimedBy={opened.value?.claimedBy ?? item.claimedBy} />
    <ItemView key={id} item={item} />
    <div class='cards below'>
      <History item={item} /><Notes of={item.notes} label={t('addNote')} on={noted} reload={opened.reload} />
    </div>
    <div class='decide' role='group' aria-label={t('decisions')}>
      {decisions.map((one) =>
        <Button key={one} main={isMain(one)} danger={!isMain(one)} key_={keyOf(one, decisions)} onClick={act(one)}>
          {word('moderationDecision', one)}
        </Button>)}
    </div>
    <Ask />
  </Page>
}

function Banner({ item, claimedBy }: { item: Item; claimedBy: Item['claimedBy'] }) {
  const { problem, seen } = item
  const other = claimedBy && claimedBy.id !== session.value?.user.id ? claimedBy : undefined
  const since = other && timeOf(new Date(Date.parse(other.until) - 15 * minute).toISOString())
  return <>
    {other && <p class='banner' role='status'>{t('claimed', { name: other.fullName ?? '', time: since! })}</p>}
    {problem !== undefined && <div class='banner row' role='alert'>
      <span>{isConflict(problem) ? t('conflict') : textOf(problem) || t('undone')}</span>
      <Button onClick={() => seeAnew(item)}>{t('anew')}</Button>
    </div>}
    {seen && <Differences title={t('changedSince')} from={contentOf(seen)} to={contentOf(item)} />}
  </>
}

/** Returns all fields of an item that its owner can change, by name. */
function contentOf({ listing, changes, identity }: Item): Record<string, unknown> {
  const papers = identity && { papers: identity.documents.map(({ name }) => name) }
  const other = { favoritesCount: 0, viewsCount: 0, version: 0, priceLabel: '' }
  return { ...listing, ...identity?.record, ...changes, ...papers, ...other }
}
function Decided({ by }: { by: Schemas['AuditEntry'] | null }) {
  if (!by) return <Empty>{t('gone')}</Empty>
  const name = (by.actor ?? by.said)?.fullName ?? t('someone')
  return <section class='card'>
    <h2>{t('decidedBy', { action: actOf(by.action), name, time: timeOf(by.at) })}</h2><EntryView entry={by} />
  </section>
}

function History({ item }: { item: Item }) {
  const targetId = item.listing?.id ?? item.report?.targetId ?? item.id
  const audit = useLoad((signal) => api.get('/admin/audit', { query: { targetId, limit: 10 }, signal }), [targetId])
  const entries = item.identity?.earlierDecisions ?? audit.value?.items ?? []
  const trail = <a href={`#/audit?targetId=${targetId}`}>{t('audit')}</a>
  const head = audit.error ? <p class='soft'>{textOf(audit.error)}</p> : trail
  return <Section title={t('history')} of={entries} head={head}>
    {entries.map((entry) => <EntryView key={entry.id} entry={entry} isAbout={targetId} />)}
  </Section>
}

const noteTargets = { identity: 'identity', report: 'report', duplicate_suspected: 'duplicate', wallet_payout: 'payout',
  listing: 'property', changes: 'property' } as const
