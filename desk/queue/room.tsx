// The queue: what waits, by kind and age, and decisions about several that are alike.
import { useSignal } from '@preact/signals'
import type { Schemas } from 'kuwait-property-client'
import { useEffect } from 'preact/hooks'
import { api, meta, session, withProof, word } from '../frame/api.ts'
import { useKeys } from '../frame/keys.ts'
import { Badge, Button, Choice, explain, Field, List, Page, Picture, say, Time, useLoad } from '../frame/parts.tsx'
import { go, pathWith, type Place } from '../frame/router.ts'
import { named } from '../frame/words.ts'
import { Ask, asked } from './ask.tsx'
import { ItemPage } from './item.tsx'
import {
  decide,
  type Decision,
  flush,
  hasMore,
  type Item,
  items,
  type Kind,
  lately,
  listing,
  load,
  more,
} from './store.ts'
import { picturesOf, reasons, selected, titleOf } from './store.ts'
import { fieldName, t } from './words.ts'

const kinds = ['listing', 'changes', 'identity', 'report', 'duplicate_suspected', 'wallet_payout'] as const
const counts = {
  listing: 'listings',
  changes: 'changes',
  identity: 'identities',
  report: 'reports',
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
  const set = (changes: Record<string, string>) => go(pathWith('/queue', { ...given, ...changes }), true)
  const state = listing.value
  const load_ = { ...state, value: items.value, reload: () => void load(query, true) } as never
  const others = ['accountId', 'targetId'].filter((name) => given[name])
  return (
    <Page title={word('moderationKind', kind) || t('all')} actions={<Selection />}>
      <nav class='tabs' aria-label={fieldName('kind')}>
        {(['', ...kinds] as const).map((one) => {
          const number = one && one in counts ? stats.value?.waiting[counts[one as keyof typeof counts]] : undefined
          return (
            <a
              key={one}
              href={`#${pathWith('/queue', { kind: one, sort: given.sort === 'newest' ? 'newest' : '' })}`}
              aria-current={one === kind ? 'page' : undefined}
            >
              {one ? word('moderationKind', one) : t('all')} {number ? <small class='number'>{number}</small> : null}
            </a>
          )
        })}
      </nav>
      <Filters key={kind} kind={kind} given={given} set={set} />
      {others.length > 0 && (
        <p class='banner row'>
          <span>{t('ofOne')}</span>
          <a href={`#${pathWith('/queue', { ...given, accountId: '', targetId: '' })}`}>{t('showAll')}</a>
        </p>
      )}
      <List
        of={{
          items: items.value,
          load: load_,
          more: hasMore() ? () => void more() : undefined,
          isLoadingMore: Boolean(state.isMore),
        }}
        label={t('all')}
        selected={selected}
        render={(item) => <Row item={item} />}
        open={(item) => pathWith(`/queue/${item.id}`, given)}
        empty={t('nothingWaits')}
        keys={{ a: pass, r: refuse }}
      />
      <Lately />
      <Ask />
    </Page>
  )
}

const first = (item: Item, ...decisions: Decision[]) => decisions.find((one) => item.decisions.includes(one))
/** Companies and offices are approved on their page, beside their papers. */
const passes = (item: Item) => item.identity ? undefined : first(item, 'approve', 'dismiss')
const refuses = (item: Item) => first(item, 'reject', 'uphold', 'suspend')
const about = (item: Item) => selected.value.size ? items.value.filter(({ id }) => selected.value.has(id)) : [item]

function pass(item: Item) {
  const given = about(item)
  const decision = passes(given[0]!)
  if (decision && given.every((one) => passes(one) === decision)) decide(given, { decision })
}
function refuse(item: Item) {
  const given = about(item)
  const decision = refuses(given[0]!)
  if (decision && given.every((one) => refuses(one) === decision)) asked.value = { items: given, decision }
}

const likeness = ({ kind, listing, report }: Item) =>
  [kind, listing?.owner.identityId, report?.target.identityId, report?.reason].join()

function Selection() {
  const given = items.value.filter(({ id }) => selected.value.has(id))
  const [one] = given
  if (!one) return null
  const alike = items.value.filter((item) => likeness(item) === likeness(one))
  const decisions = [passes(one), refuses(one)]
  return (
    <>
      <span role='status'>{t('selected', { n: given.length })}</span>
      {alike.length > given.length && (
        <Button onClick={() => (selected.value = new Set(alike.map(({ id }) => id)))}>
          {t('alike')} ({alike.length})
        </Button>
      )}
      {decisions[0] && given.every((item) => passes(item) === decisions[0]) && (
        <Button
          main
          key_='A'
          onClick={() => pass(one)}
        >
          {word('moderationDecision', decisions[0])}
        </Button>
      )}
      {decisions[1] && given.every((item) => refuses(item) === decisions[1]) && (
        <Button
          danger
          key_='R'
          onClick={() => refuse(one)}
        >
          {word('moderationDecision', decisions[1])}
        </Button>
      )}
      <Button plain onClick={() => (selected.value = new Set())}>{t('none')}</Button>
    </>
  )
}

function Row({ item }: { item: Item }) {
  const { listing, report, identity, payout, claimedBy, problem } = item
  const picture = picturesOf(item)[0]?.url ?? identity?.record.logoUrl
  const more = listing
    ? [
      word('kind', listing.kind),
      named(meta.value?.areas.get(listing.areaId ?? '')),
      listing.owner.displayName,
      listing.refNo,
    ]
    : report
    ? [word('reportTarget', report.targetType), word('reportReason', report.reason), report.target.text, report.note]
    : [identity?.record.licenceNo, identity?.fullName, payout?.phone ?? payout?.email]
  return (
    <>
      {picture ? <Picture src={picture} alt='' class='thumb' /> : <span class='thumb none' />}
      <span class='grow'>
        <strong>
          <bdi>{titleOf(item)}</bdi>
        </strong>
        <small>
          {more.filter(Boolean).map((one, at) => (
            <>
              {at > 0 && ' · '}
              <bdi key={at}>{one}</bdi>
            </>
          ))}
        </small>
      </span>
      <span class='end'>
        {listing && <span class='number'>{listing.priceLabel}</span>}
        {payout && <span class='number'>{payout.amount}</span>}
        <small class='row'>
          {problem !== undefined && <Badge tone='bad'>{t('conflict').split('.')[0]}</Badge>}
          {claimedBy && claimedBy.id !== session.value?.user.id && (
            <Badge tone='warn'>{t('looking', { name: claimedBy.fullName ?? '' })}</Badge>
          )}
          <Badge>{word('moderationKind', item.kind)}</Badge> <Time at={item.since} />
        </small>
      </span>
    </>
  )
}

type FilterProps = { kind: Kind | ''; given: Record<string, string>; set: (changes: Record<string, string>) => void }
function Filters({ kind, given, set }: FilterProps) {
  const isOpen = useSignal(Object.keys(given).some((name) => !['kind', 'q', 'sort'].includes(name)))
  const typed = {
    q: useSignal(given.q ?? ''),
    refNo: useSignal(given.refNo ?? ''),
    priceMin: useSignal(given.priceMin ?? ''),
    priceMax: useSignal(given.priceMax ?? ''),
    licenceNo: useSignal(given.licenceNo ?? ''),
    licenceExpiresBefore: useSignal(given.licenceExpiresBefore ?? ''),
    since: useSignal(given.since?.slice(0, 10) ?? ''),
    until: useSignal(given.until?.slice(0, 10) ?? ''),
  }
  const submit = () => {
    const { since, until, ...rest } = Object.fromEntries(
      Object.entries(typed).map(([name, { value }]) => [name, value.trim()]),
    )
    const day = (value?: string) => value ? `${value}T00:00:00+03:00` : ''
    set({ ...rest, since: day(since), until: day(until) })
  }
  const choice = (name: string, vocabulary: string, label: string) => (
    <Choice
      label={label}
      value={given[name] ?? ''}
      options={[
        ['', t('all')],
        ...(meta.value?.enums[vocabulary] ?? []).map(({ code }): [string, string] => [code, word(vocabulary, code)]),
      ]}
      onChoose={(value) => set({ [name]: value })}
    />
  )
  const text = (name: keyof typeof typed, label: string, type: 'text' | 'date' = 'text') => (
    <Field label={label} value={typed[name]} type={type} dir={name === 'q' ? 'auto' : 'ltr'} />
  )
  const ofListings = kind === 'listing' || kind === 'changes'
  const sorts: [string, string][] = [
    ['', t('oldest')],
    ['newest', t('newest')],
    ...(ofListings ? [['price', fieldName('price')], ['-price', `${fieldName('price')} ↓`]] as [string, string][] : []),
    ...(ofListings || kind === 'identity' ? [['name', t('name')]] as [string, string][] : []),
    ...(kind === 'identity' ? [['licenceExpiresOn', t('licenceEnd')]] as [string, string][] : []),
    ...(kind === 'report' ? [['-reports', t('reports')]] as [string, string][] : []),
  ]
  const areas = [...meta.value?.areas.values() ?? []].map((area): [string, string] => [area.id, named(area)])
  return (
    <form
      class='filters'
      role='search'
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <Field label={t('search')} value={typed.q} type='search' />
      <Choice label={t('sort')} value={given.sort ?? ''} options={sorts} onChoose={(sort) => set({ sort })} />
      {isOpen.value && (
        <>
          {ofListings && (
            <>
              {choice('listingType', 'listingType', fieldName('type'))}
              {choice('listingKind', 'kind', fieldName('kind'))}
              <Choice
                label={fieldName('areaId')}
                value={given.areaId ?? ''}
                options={[['', t('all')], ...areas]}
                onChoose={(areaId) => set({ areaId })}
              />
              {text('refNo', fieldName('refNo'))}
              {text('priceMin', t('priceMin'))}
              {text('priceMax', t('priceMax'))}
            </>
          )}
          {kind === 'identity' && (
            <>
              {text('licenceNo', fieldName('licenceNo'))}
              {text('licenceExpiresBefore', t('licenceExpiresBefore'), 'date')}
            </>
          )}
          {kind === 'report' && (
            <>
              {choice('targetType', 'reportTarget', t('targetType'))}
              {choice('reportReason', 'reportReason', t('reportReason'))}
            </>
          )}
          {text('since', t('since'), 'date')}
          {text('until', t('until'), 'date')}
        </>
      )}
      <div class='row'>
        <Button submits>{t('filters')}</Button>
        <Button plain aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          {isOpen.value ? '−' : '+'}
        </Button>
      </div>
    </form>
  )
}

const undoes: Partial<Record<Decision, Decision>> = { suspend: 'restore', approve: 'suspend', restore: 'suspend' }

/** What was decided here in this visit, with the act that the service has to undo it. */
function Lately() {
  if (!lately.value.length) return null
  const takeBack = async (one: (typeof lately.value)[number], decision: Decision, reason?: string) => {
    const path = { id: one.decided.id }
    const body = { decision, ...reason && { reason } }
    await withProof((options) => api.post('/admin/moderation/{id}/decide', { path, body, ...options }))
    lately.value = lately.value.filter((other) => other !== one)
    say(t(`did_${decision}`))
  }
  return (
    <section class='below'>
      <h2>{t('decidedLately')}</h2>
      <ul class='list'>
        {lately.value.map((one) => {
          const back = undoes[one.decision]
          return (
            <li key={one.item.id}>
              <span class='grow said'>
                <bdi>{titleOf(one.item)}</bdi> <Badge>{t(`did_${one.decision}`)}</Badge>
              </span>
              {back && one.decided.decisions.includes(back) && (
                <Button
                  onClick={() =>
                    back === 'restore' ? takeBack(one, back) : void (asked.value = {
                      items: [one.item],
                      decision: back,
                      send: (reason) => takeBack(one, back, reason).catch(explain),
                    })}
                >
                  {word('moderationDecision', back)}
                </Button>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
