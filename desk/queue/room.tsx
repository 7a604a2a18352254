// The moderation queue: waiting items by kind and age, and bulk decisions about similar items.
import { useEffect } from 'preact/hooks'
import { Csv } from '../audit/csv.tsx'
import { api, Badge, Button, explain, go, List, type Load, meta, Money, named, type Option } from '../frame/index.ts'
import { Page, pathWith, Picture, type Place, say, session, Time, useLoad, word } from '../frame/index.ts'
import { Ask, asked } from './ask.tsx'
import { ItemPage } from './item.tsx'
import { decide, decideNow, type Decision, flush, type Item, items, type Kind, type Lately } from './store.ts'
import { lately, load, more, picturesOf, queue, selected, titleOf } from './store.ts'
import { fieldName, t } from './words.ts'

/** The kinds of items, each with the name of its count in the statistics. */
const kinds = {
  listing: 'listings', changes: 'changes', identity: 'identities', report: 'reports', duplicate_suspected: undefined,
  wallet_payout: 'payouts',
} as const
export default function Queue({ id, query }: Place) {
  useEffect(() => load(query.toString()), [query.toString()])
  useEffect(() => () => void flush(), [])
  return id ? <ItemPage key={id} id={id} /> : <Waiting query={query} />
}

function Waiting({ query }: { query: URLSearchParams }) {
  const given = Object.fromEntries(query)
  const kind = (given.kind ?? '') as Kind | ''
  const stats = useLoad((signal) => api.get('/admin/stats', { signal }), [])
  const { isLoadingMore = false, of, cursor, error, ...now } = queue.value
  // Until the effect has run, the store still contains items for the previous filters.
  const state = of === query.toString() ? now.state : 'loading'
  const loading = { state, error, reload: () => load(query.toString(), true) } as Load<unknown>
  const tab = (one: Kind | '', figure?: keyof NonNullable<typeof stats.value>['waiting']) =>
    <a key={one} href={`#${pathWith('/queue', { kind: one })}`} aria-current={one === kind ? 'page' : undefined}>
      {one ? word('moderationKind', one) : t('all')} {figure && <small>{stats.value?.waiting[figure] || ''}</small>}
    </a>
  const actions = <><Selection /><Csv name='moderation' query={given} /></>
  return <Page title={word('moderationKind', kind) || t('all')} actions={actions}>
    <nav class='tabs' aria-label={fieldName('kind')}>
      {tab('')}{Object.entries(kinds).map(([one, figure]) => tab(one as Kind, figure))}
    </nav>
    <Filters key={kind} kind={kind} given={given} />
    {(given.accountId || given.targetId) && <p class='banner row'>
      <span>{t('ofOne')}</span>
      <a href={`#${pathWith('/queue', { ...given, accountId: '', targetId: '' })}`}>{t('showAll')}</a>
    </p>}
    <List of={{ items: items.value, load: loading, more: cursor ? more : undefined, isLoadingMore }}
      label={t('all')} selected={selected} render={(item) => <Row item={item} />} empty={t('nothingWaits')}
      open={(item) => pathWith(`/queue/${item.id}`, given)} keys={{ a: pass, r: refuse }} />
    <DecidedLately /><Ask />
  </Page>
}

const first = (item: Item, ...decisions: Decision[]) => decisions.find((one) => item.decisions.includes(one))
/**
 * The positive decision. Companies and offices are only approved on their own page, next to their documents.
 */
const passes = (item: Item) => item.identity ? undefined : first(item, 'approve', 'dismiss')
const refuses = (item: Item) => first(item, 'reject', 'uphold', 'suspend')
const chosen = () => items.value.filter(({ id }) => selected.value.has(id))
/** Returns the decision that is possible for all items, if there is one. */
const common = ([one, ...others]: Item[], of: typeof passes) =>
  one && others.every((other) => of(other) === of(one)) ? of(one) : undefined

/** Decides about all selected items or, if none is selected, about `one`. */
const act = (of: typeof passes, then: (items: Item[], decision: Decision) => void) => (one: Item) => {
  const given = selected.value.size ? chosen() : [one]
  const decision = common(given, of)
  if (decision) then(given, decision)
}
const pass = act(passes, (items, decision) => decide(items, { decision }))
const refuse = act(refuses, (items, decision) => (asked.value = { items, decision }))
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

/** The filters for each kind of item: the name, and the vocabulary or format of the value. */
const ofListings = [
  ['listingType', 'listingType'], ['listingKind', 'kind'], ['areaId', 'areas'], ['refNo', 'text'], ['priceMin', 'text'],
  ['priceMax', 'text'],
]
const times = [['since', 'date'], ['until', 'date']]
const filters: Partial<Record<Kind, string[][]>> = {
  listing: ofListings, changes: ofListings, identity: [['licenceNo', 'text'], ['licenceExpiresBefore', 'date']],
  report: [['targetType', 'reportTarget'], ['reportReason', 'reportReason']],
}
const listing = ['price', '-price', 'name']
const sorts: Partial<Record<Kind, string[]>> =
  { listing, changes: listing, identity: ['name', 'licenceExpiresOn'], report: ['-reports'] }

function Filters({ kind, given }: { kind: Kind | ''; given: Record<string, string> }) {
  const shown = [...filters[kind as Kind] ?? [], ...times]
  const submit = (event: Event) => {
    event.preventDefault()
    const typed = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Record<string, string>
    for (const [name] of times) if (typed[name!]) typed[name!] += 'T00:00:00+03:00'
    go(pathWith('/queue', { ...given, ...typed }), true)
  }
  const options = (of: string): Option[] => of === 'areas'
    ? [...meta.value?.areas.values() ?? []].map((area) => [area.id, named(area)])
    : (meta.value?.enums[of] ?? []).map(({ code }) => [code, word(of, code)])
  const value = (name: string) => given[name]?.replace(/T.*/, '') ?? ''
  const field = (name: string, of: string | Option[], label = fieldName(name)) =>
    <div key={name} class='field'>
      <label for={name}>{label}</label>
      {typeof of === 'string'
        ? <input id={name} name={name} type={of as 'text'} dir='auto' defaultValue={value(name)} />
        : <select id={name} name={name} onChange={(event) => event.currentTarget.form?.requestSubmit()}>
          {of.map(([one, text]) => <option key={one} value={one} selected={one === value(name)}>{text}</option>)}
        </select>}
    </div>
  const orders = ['newest', ...sorts[kind as Kind] ?? []].map((one): Option => [one, fieldName(one)])
  return <form class='filters' role='search' onSubmit={submit}>
    {field('q', 'search', t('search'))}{field('sort', [['', fieldName('oldest')], ...orders], t('sort'))}
    <details open={shown.some(([name]) => given[name!])}>
      <summary>{t('moreFilters')}</summary>
      <div class='filters'>
        {shown.map(([name, of]) =>
          field(name!, of === 'text' || of === 'date' ? of : [['', t('all')], ...options(of!)]))}
      </div>
    </details>
    <Button submits>{t('filters')}</Button>
  </form>
}

const undoes: Partial<Record<Decision, Decision>> = { suspend: 'restore', approve: 'suspend', restore: 'suspend' }
async function takeBack(one: Lately, decision: Decision, reason?: string) {
  await decideNow(one.decided.id, { decision, ...reason && { reason } })
  lately.value = lately.value.filter((other) => other !== one)
  say(t(`did_${decision}`))
}

/** The decisions since the page was loaded, each with a button to undo it if that is possible. */
const DecidedLately = () => lately.value.length > 0 && <section class='below'>
  <h2>{t('decidedLately')}</h2>
  <ul class='list'>
    {lately.value.map((one) => {
      const back = undoes[one.decision]
      const send = (reason?: string) => takeBack(one, back!, reason)
      const press = () => back === 'restore' ? send()
        : void (asked.value = { items: [one.item], decision: back!, send: (reason) => send(reason).catch(explain) })
      return <li key={one.item.id}>
        <span class='grow said'><bdi>{titleOf(one.item)}</bdi> <Badge>{t(`did_${one.decision}`)}</Badge></span>
        {back && one.decided.decisions.includes(back) &&
          <Button onClick={press}>{word('moderationDecision', back)}</Button>}
      </li>
    })}
  </ul>
</section>
