// What is shown of each kind of item. All words of strangers are text and nothing else.
import type { Schemas } from 'kuwait-property-client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { meta, word } from '../frame/api.ts'
import { dayOf, number } from '../frame/format.ts'
import { Badge, Copy, Dialog, Empty, Facts, Money, Picture, Time } from '../frame/parts.tsx'
import { language, named } from '../frame/words.ts'
import { Map } from './map.tsx'
import { Papers } from './papers.tsx'
import type { Item } from './store.ts'
import { codeWord, fieldName, t } from './words.ts'

type Property = Schemas['Property']
type Pictures = { id: string; url: string }[]

/** The value of a field by its name in a record, in words. */
export function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '—'
  if (typeof value === 'boolean') return value ? '✓' : '✗'
  if (typeof value === 'number') return /year|floor/i.test(field) ? String(value) : number(value)
  if (Array.isArray(value)) return value.map((one) => valueText(field, one)).join(language.value === 'ar' ? '، ' : ', ') || '—'
  if (field.endsWith('areaId') || field === 'wantedAreaIds') {
    return named(meta.value?.areas.get(String(value))) || String(value)
  }
  if (field === 'governorateId') return named(meta.value?.governorates.get(String(value))) || String(value)
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d$/.test(value) ? dayOf(value) : codeWord(field, value)
  const { text, label, code, ...rest } = value as Record<string, unknown>
  if (text) return String(text)
  return [
    label ?? code,
    ...Object.entries(rest).filter(([key]) => !/Ar$/.test(key)).map(([key, one]) => valueText(key, one)),
  ]
    .filter(Boolean).join(' ')
}

const factsOf = (record: Record<string, unknown>, keys: string[]): [string, ComponentChildren][] =>
  keys.filter((key) => !['—', '✗'].includes(valueText(key, record[key])))
    .map((key) => [fieldName(key), valueText(key, record[key])])

const placeKeys = ['governorateId', 'areaId', 'block', 'street', 'building', 'paciNo']
const factKeys = [
  'usage',
  'landAreaM2',
  'builtAreaM2',
  'bedrooms',
  'bathrooms',
  'floorNo',
  'buildingYear',
  'furnished',
  'plotPosition',
  'finishing',
  'documentType',
  'isDirect',
  'isNegotiable',
  'propertyIncome',
  'requestYear',
  'requiredYear',
  'wantedKinds',
  'wantedAreaIds',
  'rentConditions',
  'additionalExpenses',
  'amenities',
  ...placeKeys,
]

export function Gallery({ of }: { of: Pictures }) {
  const [large, setLarge] = useState<number>()
  if (!of.length) return <Empty>{t('noPictures')}</Empty>
  const name = (at: number) => t('picture', { n: at + 1, all: of.length })
  const turn = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0
    if (by) setLarge((at) => (at! + by * (document.dir === 'rtl' ? -1 : 1) + of.length) % of.length)
  }
  return (
    <div class='gallery'>
      {of.map(({ id, url }, at) => (
        <button key={id} type='button' onClick={() => setLarge(at)}>
          <Picture src={url} alt={name(at)} />
        </button>
      ))}
      {large !== undefined && (
        <Dialog title={name(large)} wide onClose={() => setLarge(undefined)}>
          <div class='whole' tabIndex={0} onKeyDown={turn}>
            <Picture src={of[large]?.url} alt={name(large)} />
          </div>
        </Dialog>
      )}
    </div>
  )
}

export const Owner = ({ of }: { of: Schemas['Owner'] }) => (
  <p class='row'>
    <span class='soft'>{t('owner')}</span>
    <a href={`#/people?q=${of.identityId}`}>
      <bdi>{of.displayName}</bdi>
    </a>
    <Badge>{word('identityType', of.type)}</Badge>
  </p>
)

export const Texts = ({ of }: { of: { title?: unknown; text?: unknown }[] }) => (
  <>
    {of.map(({ title, text }, at) => (
      <div key={at} class='text' dir='auto'>
        {title ? <h3 dir='auto'>{String(title)}</h3> : null}
        {text ? <p dir='auto'>{String(text)}</p> : null}
      </div>
    ))}
  </>
)

const ListingFacts = ({ of }: { of: Property }) => (
  <section class='card'>
    <p class='row'>
      <strong class='number'>{of.priceLabel}</strong>
      <Badge>{word('listingType', of.type)}</Badge> <Badge>{word('kind', of.kind)}</Badge>
      <Badge>{word('listingStatus', of.status)}</Badge> <Copy text={of.refNo} />
    </p>
    <Owner of={of.owner} />
    {of.statusReason && <p class='warn' dir='auto'>{of.statusReason}</p>}
    <Facts of={factsOf(of as never, factKeys)} />
    <Map point={of.location} areaId={of.areaId} />
  </section>
)

const ListingText = ({ of, pictures }: { of: Property; pictures?: Pictures }) => (
  <section class='card'>
    <Gallery of={pictures ?? of.media} />
    <Texts of={[{ title: of.titleAr, text: of.descriptionAr }, { title: of.titleEn, text: of.descriptionEn }]} />
  </section>
)

/** What differs of two texts: the part between what begins and what ends alike. */
function Changed({ from, to }: { from: string; to: string }) {
  let start = 0
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start++
  let end = 0
  while (end < Math.min(from.length, to.length) - start && from.at(-1 - end) === to.at(-1 - end)) end++
  // Letters of Arabic join: a mark begins and ends at a blank.
  while (start > 0 && !/\s/.test(to[start - 1]!)) start--
  while (end > 0 && !/\s/.test(to.at(-end)!)) end--
  return (
    <>
      {to.slice(0, start)}
      <mark>{to.slice(start, to.length - end)}</mark>
      {to.slice(to.length - end)}
    </>
  )
}

/** Fields that differ, the one beside the other. */
export function Differences(
  props: { from: Record<string, unknown>; to: Record<string, unknown>; names?: [string, string] },
) {
  const { from, to, names = [t('before'), t('after')] } = props
  const keys = Object.keys(to).filter((key) => key !== 'media' && JSON.stringify(from[key]) !== JSON.stringify(to[key]))
  if (!keys.length) return null
  return (
    <div class='scroll'>
      <table>
        <thead>
          <tr>
            <th />
            <th>{names[0]}</th>
            <th>{names[1]}</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => {
            const [was, is] = [valueText(key, from[key]), valueText(key, to[key])]
            return (
              <tr key={key}>
                <th scope='row'>{fieldName(key)}</th>
                <td class='text' dir='auto'>
                  <Changed from={is} to={was} />
                </td>
                <td class='text' dir='auto'>
                  <Changed from={was} to={is} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function ChangesView({ item }: { item: Item }) {
  const { listing, changes, before, pictures } = item
  return (
    <section class='card'>
      <h2>{t('changes')}</h2>
      <Differences from={before ?? {}} to={changes ?? {}} />
      {pictures && listing && (
        <div class='cards'>
          <div>
            <h3>{t('before')}</h3>
            <Gallery of={listing.media} />
          </div>
          <div>
            <h3>{t('after')}</h3>
            <Gallery of={pictures} />
          </div>
        </div>
      )}
    </section>
  )
}

const recordKeys = [
  'licenceNo',
  'licenceExpiresOn',
  'nameAr',
  'nameEn',
  'phone',
  'whatsapp',
  'email',
  'addressAr',
  'workingHours',
  'governorateId',
  'areaId',
]

function IdentityView({ item, of }: { item: Item; of: NonNullable<Item['identity']> }) {
  const { record } = of
  return (
    <>
      <div class='aside'>
        {item.changes && <ChangesView item={item} />}
        <section class='card'>
          <p class='row'>
            {record.logoUrl && <Picture src={record.logoUrl} alt='' class='face' />}
            <Badge>{word('identityType', record.type)}</Badge>
            <Badge tone='warn'>{word('identityStatus', record.status)}</Badge>
          </p>
          <Facts of={factsOf(record as never, recordKeys)} />
          {record.website && (
            <p>
              <span class='soft'>{fieldName('website')}</span> <Copy text={record.website} />
            </p>
          )}
          <Texts of={[{ text: record.aboutAr }]} />
          {record.coverUrl && <Gallery of={[{ id: 'cover', url: record.coverUrl }]} />}
          <h3>{t('person')}</h3>
          <p class='row'>
            <a href={`#/people/${of.accountId}`}>
              <bdi>{of.fullName ?? of.accountId}</bdi>
            </a>
            {of.phone && <Copy text={of.phone} />} {of.email && <Copy text={of.email} />}
          </p>
        </section>
        {of.claims.length > 0 && (
          <section class='card'>
            <h2 class='warn'>{t('claims')}</h2>
            {of.claims.map(({ accountId, identity }) => (
              <p key={identity.id} class='row'>
                <a href={`#/people/${accountId}`}>
                  <bdi>{identity.displayName}</bdi>
                </a>
                <Badge>{word('identityStatus', identity.status)}</Badge>
              </p>
            ))}
          </section>
        )}
      </div>
      <Papers of={of.documents} />
    </>
  )
}

const Content = ({ title, of, gone }: { title: string; of: Schemas['ReportedContent'] | null; gone: string }) => (
  <section class='card'>
    <h2>{title}</h2>
    {of
      ? (
        <>
          <p>
            <bdi>{of.displayName}</bdi>
          </p>
          <Texts
            of={[
              {
                title: of.fields.titleAr,
                text: of.fields.descriptionAr ?? of.fields.body ?? of.fields.comment ?? of.fields.aboutAr,
              },
              { title: of.fields.titleEn, text: of.fields.descriptionEn },
            ]}
          />
          <Facts of={factsOf(of.fields, ['type', 'kind', 'price', 'rating', 'nameAr', 'nameEn', ...factKeys])} />
          {of.pictures.length > 0 && <Gallery of={of.pictures} />}
        </>
      )
      : <Empty>{gone}</Empty>}
  </section>
)

function ReportView({ of, item }: { of: NonNullable<Item['report']>; item: Item }) {
  const { then, now, target, reporter } = of
  const isSame = then && now &&
    JSON.stringify([then.fields, then.pictures]) === JSON.stringify([now.fields, now.pictures])
  return (
    <>
      <section class='card'>
        <p class='row'>
          <Badge tone='bad'>{word('reportReason', of.reason)}</Badge>{' '}
          <Badge>{word('reportTarget', of.targetType)}</Badge>
          {of.part && <Badge>{word('reportPart', of.part)}</Badge>} <Time at={item.since} />
        </p>
        {of.note && <p class='text' dir='auto'>{of.note}</p>}
        <Facts
          of={[
            [
              t('about'),
              <a href={`#/people/${target.accountId}`}>
                <bdi>{target.displayName}</bdi>
              </a>,
            ],
            [
              t('reporter'),
              <a href={`#/people/${reporter.accountId}`}>
                <bdi>{reporter.displayName}</bdi>
              </a>,
            ],
            [fieldName('status'), target.status],
          ]}
        />
        <a href={`#/queue?targetId=${of.targetId}`}>{t('othersSame')}</a>
      </section>
      <div class='cards'>
        <Content title={t('then')} of={then} gone={t('emptied')} />
        {isSame ? <p class='card soft'>{t('sameNow')}</p> : <Content title={t('now')} of={now} gone={t('isGone')} />}
      </div>
      {then && now && !isSame && (
        <section class='card'>
          <Differences from={then.fields} to={now.fields} names={[t('then'), t('now')]} />
        </section>
      )}
    </>
  )
}

const Pair = ({ listing, of }: { listing: Property; of: Property | null }) => (
  <div class='cards'>
    <div class='aside'>
      <h2>
        {t('later')} <Time at={listing.publishedAt} />
      </h2>
      <ListingText of={listing} />
      <ListingFacts of={listing} />
    </div>
    {of && (
      <div class='aside'>
        <h2>
          {t('earlier')} <Time at={of.publishedAt} />
        </h2>
        <ListingText of={of} />
        <ListingFacts of={of} />
      </div>
    )}
  </div>
)

export function ItemView({ item }: { item: Item }) {
  const { kind, listing, of, identity, report, payout } = item
  if (report) return <ReportView of={report} item={item} />
  if (kind === 'duplicate_suspected' && listing) return <Pair listing={listing} of={of} />
  if (identity) {
    return (
      <div class='two'>
        <IdentityView item={item} of={identity} />
      </div>
    )
  }
  if (payout) {
    return (
      <section class='card'>
        <Facts
          of={[
            [t('amount'), <Money of={payout.amount} />],
            [fieldName('fullName'), payout.name],
            [fieldName('phone'), payout.phone && <Copy text={payout.phone} />],
            [fieldName('email'), payout.email && <Copy text={payout.email} />],
            [t('person'), <a href={`#/people/${payout.accountId}`}>{payout.accountId.slice(0, 8)}</a>],
          ]}
        />
      </section>
    )
  }
  return listing && (
    <>
      {kind === 'changes' && <ChangesView item={item} />}
      <div class='two'>
        <ListingText of={listing} />
        <ListingFacts of={listing} />
      </div>
      {of && (
        <section class='card'>
          <h2 class='warn'>{t('repeats')}</h2>
          <ListingFacts of={of} />
          <Gallery of={of.media} />
        </section>
      )}
    </>
  )
}
