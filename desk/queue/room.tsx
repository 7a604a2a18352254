// The queue: what waits, by kind and age, and decisions about several that are alike.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { api, meta, session, word } from '../frame/api.ts'
import { Badge, Button, Choice, explain, Field, List, type Load, Money, Page, Picture } from '../frame/parts.tsx'
import { say, Time, useLoad } from '../frame/parts.tsx'
import { go, pathWith, type Place } from '../frame/router.ts'
import { named } from '../frame/words.ts'
import { Ask, asked } from './ask.tsx'
import { ItemPage } from './item.tsx'
import { decide, decideNow, type Decision, flush, hasMore, type Item, items, type Kind, type Lately } from './store.ts'
import { lately, load, more, picturesOf, queue, selected, titleOf } from './store.ts'
import { fieldName, t } from './words.ts'

/** The kinds, and the figure that says how many wait. */
const kinds = {
  listing: 'listings', changes: 'changes', identity: 'identities', report: 'reports', duplicate_suspected: undefined,
  wallet_payout: 'payouts',
} as const

export default function Queue({ id, query }: Place) {
  useEffect(() => void load(query), [query.toString()])
  useEffect(() => flush, [])
  return id ? <ItemPage key={id} id={id} /> : <Waiting query={query} />
}

function Waiting({ query }: { query: URLSearchParams }) {
  const given = Object.fromEntries(query)
  const kind = (given.kind ?? '') as Kind | ''
  const stats = useLoad((signal) => api.get('/admin/stats', { signal }), [])
  const { isLoadingMore = false, ...state } = queue.value
  const loading = { ...state, value: items.value, reload: () => void load(query, true) } as Load<unknown>
  const tab = (one: Kind | '', figure?: keyof NonNullable<typeof stats.value>['waiting']) =>
    <a key={one} href={`#${pathWith('/queue', { kind: one })}`} aria-current={one === kind ? 'page' : undefined}>
      {one ? word('moderationKind', one) : t('all')} {figure && <small>{stats.value?.waiting[figure] || ''}</small>}
    </a>
  return <Page title={word('moderationKind', kind) || t('all')} actions={<Selection />}>
    <nav class='tabs' aria-label={fieldName('kind')}>
      {tab('')}{Object.entries(kinds).map(([one, figure]) => tab(one as Kind, figure))}
    </nav>
    <Filters key={kind} kind={kind} given={given} />
    {(given.accountId || given.targetId) && <p class='banner row'>
      <span>{t('ofOne')}</span>
      <a href={`#${pathWith('/queue', { ...given, accountId: '', targetId: '' })}`}>{t('showAll')}</a>
    </p>}
    <List of={{ items: items.value, load: loading, more: hasMore() ? () => void more() : undefined, isLoadingMore }}
      label={t('all')} selected={selected} render={(item) => <Row item={item} />} empty={t('nothingWaits')}
      open={(item) => pathWith(`/queue/${item.id}`, given)} keys={{ a: pass, r: refuse }} />
    <DecidedLately />
    <Ask />
  </Page>
}

const first = (item: Item, ...decisions: Decision[]) => decisions.find((one) => item.decisions.includes(one))
/** Companies and offices are approved on their page, beside their papers. */
const passes = (item: Item) => item.identity ? undefined : first(item, 'approve', 'dismiss')
const refuses = (item: Item) => first(item, 'reject', 'uphold', 'suspend')
const chosen = () => items.value.filter(({ id }) => selected.value.has(id))
/** The decision that all of them have in common. */
const common = ([one, ...others]: Item[], of: typeof passes) =>
  one && others.every((other) => of(other) === of(one)) ? of(one) : undefined

/** Decides about what is selected, or about one. */
function pass(one: Item) {
  const given = selected.value.size ? chosen() : [one]
  const decision = common(given, passes)
  if (decision) decide(given, { decision })
}
function refuse(one: Item) {
  const given = selected.value.size ? chosen() : [one]
  const decision = common(given, refuses)
  if (decision) asked.value = { items: given, decision }
}

const likeness = ({ kind, listing, report }: Item) =>
  [kind, listing?.owner.identityId, report?.target.identityId, report?.reason].join()

function Selection() {
  const given = chosen()
  const [one] = given
  if (!one) return null
  const alike = items.value.filter((item) => likeness(item) === likeness(one)).map(({ id }) => id)
  const [good, bad] = [common(given, passes), common(given, refuses)]
  return <>
    <span role='status'>{t('selected', { n: given.length })}</span>
    {alike.length > given.length &&
      <Button onClick={() => (selected.value = new Set(alike))}>{t('alike')} ({alike.length})</Button>}
    {good && <Button main key_='A' onClick={() => pass(one)}>{word('moderationDecision', good)}</Button>}
    {bad && <Button danger key_='R' onClick={() => refuse(one)}>{word('moderationDecision', bad)}</Button>}
    <Button plain onClick={() => (selected.value = new Set())}>{t('none')}</Button>
  </>
}

function about({ listing, report, identity, payout }: Item) {
  if (listing) {
    const { kind, areaId, owner, refNo } = listing
    return [word('kind', kind), named(meta.value?.areas.get(areaId ?? '')), owner.displayName, refNo]
  }
  if (!report) return [identity?.record.licenceNo, identity?.fullName, payout?.phone ?? payout?.email]
  const { targetType, reason, target, note } = report
  return [word('reportTarget', targetType), word('reportReason', reason), target.text, note]
}

function Row({ item }: { item: Item }) {
  const { listing, identity, payout, claimedBy, problem } = item
  const picture = picturesOf(item)[0]?.url ?? identity?.record.logoUrl
  const other = claimedBy && claimedBy.id !== session.value?.user.id
  return <>
    {picture ? <Picture src={picture} alt='' class='thumb' /> : <span class='thumb none' />}
    <span class='grow'>
      <strong><bdi>{titleOf(item)}</bdi></strong>
      <small>{about(item).filter(Boolean).map((one, at) => <>{at > 0 && ' · '}<bdi>{one}</bdi></>)}</small>
    </span>
    <span class='end'>
      <span class='number'>{listing?.priceLabel}{payout && <Money of={payout.amount} />}</span>
      <small class='row'>
        {problem !== undefined && <Badge tone='bad'>{t('undecided')}</Badge>}
        {other && <Badge tone='warn'>{t('looking', { name: claimedBy.fullName ?? '' })}</Badge>}
        <Badge>{word('moderationKind', item.kind)}</Badge> <Time at={item.since} />
      </small>
    </span>
  </>
}

const typed = ['q', 'refNo', 'priceMin', 'priceMax', 'licenceNo', 'licenceExpiresBefore', 'since', 'until'] as const
const sorts: [string, string, ...(Kind | '')[]][] = [
  ['price', 'price', 'listing', 'changes'], ['-price', 'priceDown', 'listing', 'changes'],
  ['name', 'displayName', 'listing', 'changes', 'identity'], ['licenceExpiresOn', 'licenceExpiresOn', 'identity'],
  ['-reports', 'reports', 'report'],
]

function Filters({ kind, given }: { kind: Kind | ''; given: Record<string, string> }) {
  const isOpen = useSignal(Object.keys(given).some((name) => !['kind', 'q', 'sort'].includes(name)))
  const values = Object.fromEntries(typed.map((name) => [name, useSignal((given[name] ?? '').replace(/T.*/, ''))]))
  const set = (changes: Record<string, string>) => go(pathWith('/queue', { ...given, ...changes }), true)
  const submit = (event: Event) => {
    event.preventDefault()
    const day = (name: string, text: string) => text && /since|until/.test(name) ? `${text}T00:00:00+03:00` : text
    set(Object.fromEntries(typed.map((name) => [name, day(name, values[name]!.value.trim())])))
  }
  const text = (name: (typeof typed)[number], type: 'text' | 'date' = 'text') =>
    <Field label={fieldName(name)} value={values[name]!} type={type} dir='ltr' />
  const choice = (name: string, options: [string, string][], label = fieldName(name)) =>
    <Choice label={label} value={given[name] ?? ''} options={[['', t('all')], ...options]}
      onChoose={(value) => set({ [name]: value })} />
  const words = (name: string) =>
    (meta.value?.enums[name] ?? []).map(({ code }): [string, string] => [code, word(name, code)])
  const areas = [...meta.value?.areas.values() ?? []].map((area): [string, string] => [area.id, named(area)])
  const ofKind = sorts.filter(([, , ...of]) => of.includes(kind))
  const orders: [string, string][] = [
    ['', t('oldest')], ['newest', t('newest')],
    ...ofKind.map(([sort, name]): [string, string] => [sort, fieldName(name)]),
  ]
  return <form class='filters' role='search' onSubmit={submit}>
    <Field label={t('search')} value={values.q!} type='search' />
    <Choice label={t('sort')} value={given.sort ?? ''} options={orders} onChoose={(sort) => set({ sort })} />
    {isOpen.value && <>
      {(kind === 'listing' || kind === 'changes') && <>
        {choice('listingType', words('listingType'))}{choice('listingKind', words('kind'))}{choice('areaId', areas)}
        {text('refNo')}{text('priceMin')}{text('priceMax')}
      </>}
      {kind === 'identity' && <>{text('licenceNo')}{text('licenceExpiresBefore', 'date')}</>}
      {kind === 'report' && <>
        {choice('targetType', words('reportTarget'))}{choice('reportReason', words('reportReason'))}
      </>}
      {text('since', 'date')}{text('until', 'date')}
    </>}
    <div class='row'>
      <Button submits>{t('filters')}</Button>
      <Button plain aria-label={t('moreFilters')} aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}>{isOpen.value ? '−' : '+'}</Button>
    </div>
  </form>
}

const undoes: Partial<Record<Decision, Decision>> = { suspend: 'restore', approve: 'suspend', restore: 'suspend' }

/** What was decided in this visit, with the act that the service has to undo it. */
function DecidedLately() {
  if (!lately.value.length) return null
  const takeBack = async (one: Lately, decision: Decision, reason?: string) => {
    await decideNow(one.decided.id, { decision, ...reason && { reason } })
    lately.value = lately.value.filter((other) => other !== one)
    say(t(`did_${decision}`))
  }
  const press = (one: Lately, decision: Decision) => () => {
    if (decision === 'restore') return takeBack(one, decision)
    const send = (reason: string) => takeBack(one, decision, reason).catch(explain)
    asked.value = { items: [one.item], decision, send }
  }
  return <section class='below'>
    <h2>{t('decidedLately')}</h2>
    <ul class='list'>
      {lately.value.map((one) => {
        const back = undoes[one.decision]
        return <li key={one.item.id}>
          <span class='grow said'><bdi>{titleOf(one.item)}</bdi> <Badge>{t(`did_${one.decision}`)}</Badge></span>
          {back && one.decided.decisions.includes(back) &&
            <Button onClick={press(one, back)}>{word('moderationDecision', back)}</Button>}
        </li>
      })}
    </ul>
  </section>
}
