// The view of each kind of item. Everything that users wrote is shown as plain text.
import { useState } from 'preact/hooks'
import { Badge, type ComponentChildren, Copy, dayOf, Dialog, Empty, Facts, language, meta } from '../frame/index.ts'
import { Money, named, number, Picture, type Schemas, Table, Time, word } from '../frame/index.ts'
import { Map } from './map.tsx'
import { Papers } from './papers.tsx'
import type { Item } from './store.ts'
import { codeWord, fieldKeys, fieldName, t } from './words.ts'

type Property = Schemas['Property']
type Fields = Record<string, unknown>
type Pictures = { id: string; url: string }[]

/** Returns the value of a record's field as text. */
export function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '—'
  if (typeof value === 'boolean') return value ? '✓' : '✗'
  if (typeof value === 'number') return /year|floor/i.test(field) ? String(value) : number(value)
  const comma = language.value === 'ar' ? '، ' : ', '
  if (Array.isArray(value)) return value.map((one) => valueText(field, one)).join(comma) || '—'
  if (typeof value === 'string') {
    if (/areaIds?$/i.test(field)) return named(meta.value?.areas.get(value)) || value
    if (field === 'governorateId') return named(meta.value?.governorates.get(value)) || value
    return /^\d{4}-\d\d-\d\d$/.test(value) ? dayOf(value) : codeWord(field, value)
  }
  const { text, label, code, ...rest } = value as Fields
  const more = Object.entries(rest).filter(([key]) => !key.endsWith('Ar')).map(([key, one]) => valueText(key, one))
  return text ? String(text) : [label ?? code, ...more].filter(Boolean).join(' ')
}

/** Fields that are not among the facts: they are shown elsewhere or irrelevant to a decision. */
const elsewhere = `refNo type kind status statusReason price pricePeriod priceLabel titleAr titleEn descriptionAr
  descriptionEn createdAt publishedAt displayName location media website aboutAr body comment slug allowCall
  allowWhatsapp allowChat reason note part`.split(/\s+/)
/** The fields of a record that `fields.json` names, in the order of that file. */
const RecordFacts = ({ of, also = [] }: { of: object; also?: string[] }) => <Facts of={
  fieldKeys.filter((key) => key in of && (also.includes(key) || !elsewhere.includes(key)))
    .map((key): [string, string] => [fieldName(key), valueText(key, (of as Fields)[key])])
    .filter(([, value]) => value !== '—' && value !== '✗')} />

export function Gallery({ of }: { of: Pictures }) {
  const [large, setLarge] = useState<number>()
  if (!of.length) return <Empty>{t('noPictures')}</Empty>
  const name = (at: number) => t('picture', { n: at + 1, all: of.length })
  const turn = (event: KeyboardEvent) => {
    const by = ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0) * (document.dir === 'rtl' ? -1 : 1)
    if (by) setLarge((at) => (at! + by + of.length) % of.length)
  }
  return <div class='gallery'>
    {of.map(({ id, url }, at) =>
      <button key={id} type='button' onClick={() => setLarge(at)}><Picture src={url} alt={name(at)} /></button>)}
    {large !== undefined && <Dialog title={name(large)} wide onClose={() => setLarge(undefined)}>
      <div class='whole' tabIndex={0} role='group' aria-label={t('pictures')} onKeyDown={turn}>
        <Picture src={of[large]?.url} alt={name(large)} />
      </div>
    </Dialog>}
  </div>
}

const Person = ({ id, name }: { id: string; name: string | null }) =>
  <a href={`#/people/${id}`}><bdi>{name ?? id.slice(0, 8)}</bdi></a>
const Text = ({ title, text }: { title?: unknown; text?: unknown }) => <div class='text'>
  {title ? <h2 class='soft' dir='auto'>{String(title)}</h2> : null}{text ? <p dir='auto'>{String(text)}</p> : null}
</div>

const ListingFacts = ({ of: { owner, ...of } }: { of: Property }) => <section class='card'>
  <p class='row'>
    <strong class='number'>{of.priceLabel}</strong>
    <Badge>{word('listingType', of.type)}</Badge> <Badge>{word('kind', of.kind)}</Badge>
    <Badge>{word('listingStatus', of.status)}</Badge> <Copy text={of.refNo} />
  </p>
  <p class='row'>
    <span class='soft'>{t('owner')}</span> <a href={`#/people?q=${owner.identityId}`}><bdi>{owner.displayName}</bdi></a>
    <Badge>{word('identityType', owner.type)}</Badge>
  </p>
  {of.statusReason && <p class='warn' dir='auto'>{of.statusReason}</p>}
  <RecordFacts of={of} /><Map point={of.location} areaId={of.areaId} />
</section>

const ListingText = ({ of }: { of: Property }) => <section class='card'>
  <Gallery of={of.media} />
  <Text title={of.titleAr} text={of.descriptionAr} /><Text title={of.titleEn} text={of.descriptionEn} />
</section>
const isWordsEnd = (text: string, at: number) => /^$|\s/.test(text.charAt(at)) || /^$|\s/.test(text.charAt(at - 1))

/** Marks the part of `to` that differs from `from`, always whole words, because Arabic letters are joined. */
function Changed({ from, to }: { from: string; to: string }) {
  const most = Math.min(from.length, to.length)
  let start = 0
  while (start < most && from[start] === to[start]) start++
  while (!isWordsEnd(from, start) || !isWordsEnd(to, start)) start--
  let end = 0
  while (end < most - start && from.at(-1 - end) === to.at(-1 - end)) end++
  while (!isWordsEnd(from, from.length - end) || !isWordsEnd(to, to.length - end)) end--
  const last = to.length - end
  return <p class='text' dir='auto'>{to.slice(0, start)}<mark>{to.slice(start, last)}</mark>{to.slice(last)}</p>
}

type DifferencesProps = {
  title: string; from: Fields; to: Fields; names?: [string, string]; children?: ComponentChildren
}
/** The fields that differ, side by side. Renders nothing if there is no difference. */
export function Differences({ title, from, to, names = [t('before'), t('after')], children }: DifferencesProps) {
  const keys = Object.keys(to).filter((key) => key !== 'media' && JSON.stringify(from[key]) !== JSON.stringify(to[key]))
  if (!keys.length && !children) return null
  return <section class='card'>
    <h2>{title}</h2>
    {keys.length > 0 && <Table label={title} heads={[t('field'), ...names]} rows={keys.map((key) => {
      const [was, is] = [valueText(key, from[key]), valueText(key, to[key])]
      return [key, fieldName(key), <Changed from={is} to={was} />, <Changed from={was} to={is} />]
    })} />}
    {children}
  </section>
}

const Changes = ({ item: { listing, changes, before, pictures } }: { item: Item }) =>
  <Differences title={t('changes')} from={before ?? {}} to={changes ?? {}}>
    {pictures && listing && <div class='cards'>
      <div><h3>{t('before')}</h3><Gallery of={listing.media} /></div>
      <div><h3>{t('after')}</h3><Gallery of={pictures} /></div>
    </div>}
  </Differences>

function IdentityView({ item, of }: { item: Item; of: NonNullable<Item['identity']> }) {
  const { record, claims, documents, accountId, fullName, phone, email } = of
  return <div class='two'>
    <div class='aside beside'>
      {item.changes && <Changes item={item} />}
      <section class='card'>
        <p class='row'>
          {record.logoUrl && <Picture src={record.logoUrl} alt='' class='face' />}
          <Badge>{word('identityType', record.type)}</Badge>
          <Badge tone='warn'>{word('identityStatus', record.status)}</Badge>
        </p>
        <RecordFacts of={record} />
        {record.website && <p><span class='soft'>{fieldName('website')}</span> <Copy text={record.website} /></p>}
        <Text text={record.aboutAr} />
        {record.coverUrl && <Gallery of={[{ id: 'cover', url: record.coverUrl }]} />}
        <h2 class='soft'>{t('person')}</h2>
        <p class='row'>
          <Person id={accountId} name={fullName} />{phone && <Copy text={phone} />}{email && <Copy text={email} />}
        </p>
      </section>
      {claims.length > 0 && <section class='card'>
        <h2 class='warn'>{t('claims')}</h2>
        {claims.map(({ accountId, identity }) => <p key={identity.id} class='row'>
          <Person id={accountId} name={identity.displayName} />
          <Badge>{word('identityStatus', identity.status)}</Badge>
        </p>)}
      </section>}
    </div>
    <Papers of={documents} />
  </div>
}

type ContentProps = { title: string; of: Schemas['ReportedContent'] | null; none: string }
const Content = ({ title, of, none }: ContentProps) => <section class='card'>
  <h2>{title}</h2>
  {of ? <>
    <p><bdi>{of.displayName}</bdi></p>
    <Text title={of.fields.titleAr} text={of.fields.descriptionAr ?? of.fields.body ?? of.fields.comment} />
    <Text title={of.fields.titleEn} text={of.fields.descriptionEn ?? of.fields.aboutAr} />
    <RecordFacts of={of.fields} also={['type', 'kind', 'price', 'website']} />
    {of.pictures.length > 0 && <Gallery of={of.pictures} />}
  </> : <Empty>{none}</Empty>}
</section>

function ReportView({ of, since }: { of: NonNullable<Item['report']>; since: string }) {
  const { then, now, target, reporter } = of
  const said = (one: typeof then) => JSON.stringify([one?.displayName, one?.fields, one?.pictures])
  return <>
    <section class='card'>
      <p class='row'>
        <Badge tone='bad'>{word('reportReason', of.reason)}</Badge> <Badge>{word('reportTarget', of.targetType)}</Badge>
        {of.part && <Badge>{word('reportPart', of.part)}</Badge>} <Time at={since} />
      </p>
      {of.note && <p class='text' dir='auto'>{of.note}</p>}
      <Facts of={[
        [t('about'), <Person id={target.accountId} name={target.displayName} />],
        [t('reporter'), <Person id={reporter.accountId} name={reporter.displayName} />],
        [fieldName('status'), word(of.targetType === 'property' ? 'listingStatus' : 'identityStatus', target.status)],
      ]} />
      <a href={`#/queue?targetId=${of.targetId}`}>{t('othersSame')}</a>
    </section>
    <div class='cards'>
      <Content title={t('then')} of={then} none={t('emptied')} />
      {then && said(then) === said(now) ? <p class='card soft'>{t('sameNow')}</p>
        : <Content title={t('now')} of={now} none={t('isGone')} />}
    </div>
    {then && now &&
      <Differences title={t('changedSince')} from={then.fields} to={now.fields} names={[t('then'), t('now')]} />}
  </>
}
const Half = ({ title, of }: { title: string; of: Property }) => <div class='aside'>
  <h2>{title} <Time at={of.publishedAt} /></h2><ListingText of={of} /><ListingFacts of={of} />
</div>

export function ItemView({ item }: { item: Item }) {
  const { kind, listing, of, identity, report, payout } = item
  if (report) return <ReportView of={report} since={item.since} />
  if (identity) return <IdentityView item={item} of={identity} />
  if (payout) return <section class='card'>
    <Facts of={[
      [t('amount'), <Money of={payout.amount} />], [t('person'), <Person id={payout.accountId} name={payout.name} />],
    ]} />
    <p class='row'>{[payout.phone, payout.email].map((to) => to && <Copy key={to} text={to} />)}</p>
  </section>
  if (!listing) return null
  if (kind === 'duplicate_suspected') return <div class='cards'>
    <Half title={t('later')} of={listing} />{of && <Half title={t('earlier')} of={of} />}
  </div>
  return <>
    {kind === 'changes' && <Changes item={item} />}
    <div class='two'><ListingText of={listing} /><ListingFacts of={listing} /></div>
    {of && <section class='below'><h2 class='warn'>{t('repeats')}</h2><Half title='' of={of} /></section>}
  </>
}
