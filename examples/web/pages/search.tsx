// Sends the text as typed and shows the filters that the service found in it (`understood.found`) as chips.
// If one is removed, the next search sends the other filters and the remaining words. Facets narrow it.
import { areaName, Button, CardOf, client, codes, dinars, go, governorateName, List, None, number, type Place } from '../app.ts'
import { type Query, type Schemas, Select, t, type Text, Title, to, useLoad, usePages, useState, word } from '../app.ts'
import { Filters } from './filters.tsx'
import { SearchBox } from './search-box.tsx'

const examples = ['example1', 'example2', 'example3', 'example4'] as const satisfies Text[]
const unmet: Record<string, Text> = {
  words: 'theWords', kinds: 'kind', areaIds: 'area', near: 'place', priceMin: 'price', priceMax: 'price', bedroomsMin: 'bedrooms',
}
const all = (name: (code: string) => string) => (value: string) => value.split(',').map(name).join(t('or'))
/** Returns the text for the chip of a filter. */
const labels: Record<string, (value: string) => string> = {
  type: (value) => word('listingType', value),
  kinds: all((code) => word('kind', code)),
  areaIds: all(areaName),
  governorateIds: all(governorateName),
  furnished: all((code) => word('furnished', code)),
  amenities: all((code) => word('amenity', code)),
  priceMin: (value) => t('from', { value: dinars(Number(value)) }),
  priceMax: (value) => t('upTo', { value: dinars(Number(value)) }),
  areaM2Min: (value) => t('from', { value: t('squareMetres', { n: Number(value) }) }),
  areaM2Max: (value) => t('upTo', { value: t('squareMetres', { n: Number(value) }) }),
  bedroomsMin: (value) => t('bedroomsMin', { n: Number(value) }),
  bathroomsMin: (value) => t('bathroomsMin', { n: Number(value) }),
  isDirect: () => t('isDirect'),
  ownerId: () => t('ofOwner'),
  near: (value) => t('near', { n: Number(value.split(',')[2]) }),
}
const labelOf = (field: string, value: string) => labels[field]?.(value) ?? value

export function Search({ query }: Place) {
  const { q = '', sort = '', ...filters } = Object.fromEntries(query) as Record<string, string>
  const [isFiltering, setFiltering] = useState(false)
  const asked: object = { ...filters, ...q && { q } }
  const found = usePages((page, signal) =>
    client.get('/search', { query: { ...asked, ...sort && { sort }, ...page, limit: 12 } as object, signal }), [`${query}`])
  const counted = useLoad((signal) =>
    client.get('/search/count', { query: { ...asked, by: 'kinds,areaIds,bedrooms' } as object, signal }), [JSON.stringify(asked)])
  const understood = found.pages[0]?.understood ?? null
  const search = (next: Query) => go(to('search', { sort, ...next }))

  const notes = found.pages.flatMap(({ items, similar, similarFrom }) => items.map((_, at) => ({
    isSimilar: at >= (similarFrom ?? Infinity), changed: similar.find(({ from }) => from === at)?.changed,
  })))
  const differs = (changed: string[]) =>
    t('similarBut', { what: [...new Set(changed.map((field) => t(unmet[field] ?? 'details')))].join(t('comma')) })
  const { count = null, capped } = counted.value ?? {}

  return <>
    <Title text={q || t('search')} />
    <SearchBox q={q} search={(next) => search({ sort: '', ...next })} />
    <div class='chips'>
      <Chips filters={filters} understood={understood} search={search} sort={sort} q={q} />
      {!q && !Object.keys(filters).length && examples.map((one) =>
        <a key={one} class='try' href={to('search', { q: t(one) })}>{t(one)}</a>)}
    </div>
    <div class='bar'>
      <strong role='status'>{count !== null && t(capped ? 'moreThan' : 'listings', { n: count })}</strong>
      <Button second onClick={() => setFiltering(true)}>{t('filters')}</Button>
      <Select label={t('sort')} name='sort' value={sort || understood?.sort || 'newest'} onChange={(next) => search({ ...filters, q, sort: next })}
        options={codes('searchSort').filter(({ code }) => /newest|price|area/.test(code)).map(({ code }) => [code, word('searchSort', code)])} />
    </div>
    <Facets of={counted.value?.facets} narrow={(more) => search({ ...filters, q, ...more })} />
    <List of={found} kind='cards' none={<None>{whyNone(understood)}</None>}>{(card, at) => {
      const { isSimilar, changed } = notes[at] ?? {}
      return <div key={card.id} class={isSimilar ? 'similar' : ''}><CardOf card={card} note={changed && differs(changed)} /></div>
    }}</List>
    {isFiltering && <Filters q={q} filters={filters} onClose={() => setFiltering(false)} search={(next) => search({ q, ...next })} />}
  </>
}

type ChipsProps = Record<'q' | 'sort', string> & { filters: Record<string, string>; understood: Schemas['Understood'] | null; search: (next: Query) => void }
function Chips({ filters, understood, search, q, sort }: ChipsProps) {
  const said = understood?.found ?? []
  const chip = (field: string, text: string, without: () => void) =>
    <button key={`${field} ${text}`} type='button' class='chip' data-field={field} aria-label={t('without', { what: text })} onClick={without}>
      {text} <b aria-hidden='true'>×</b></button>
  const read = (but: string) => Object.fromEntries(said.filter(({ text }) => text !== but).map(({ field, value }) => [field, value]))
  return <>
    {Object.entries(filters).map(([field, value]) => chip(field, labelOf(field, value), () => search({ ...filters, [field]: '', q })))}
    {/* One phrase may stand for two filters: «٤٠٠ متر» is both a minimum and a maximum. */}
    {[...new Map(said.map((one) => [one.text, one])).values()].map(({ field, text }) =>
      chip(field, text, () => search({ ...filters, ...read(text), q: understood!.words.join(' '), sort: sort || understood!.sort })))}
    {understood && understood.ignored.length > 0 && <small>{t('ignored', { what: understood.ignored.join(t('comma')) })}</small>}
    {understood?.guessed.map(({ from, to }) => <small key={from}>{t('didYouMean', { what: to[0]! })}</small>)}
  </>
}

function Facets({ of, narrow }: { of: Schemas['Facets'] | undefined; narrow: (more: Query) => void }) {
  type Counted = { value: string | number; count: number }
  const few = (field: string, counts: Counted[] | null | undefined) => (counts?.length ?? 0) < 2 ? [] : counts!.slice(0, 4)
    .map(({ value, count }) => <button key={`${field} ${value}`} type='button' class='try' onClick={() => narrow({ [field]: value })}>
      {labelOf(field, `${value}`)} <b>{number(count)}</b></button>)
  const bedrooms = of?.bedrooms?.filter(({ value }) => value > 0)
  return <div class='chips'>{[...few('kinds', of?.kinds), ...few('areaIds', of?.areaIds), ...few('bedroomsMin', bedrooms)]}</div>
}

function whyNone(understood: Schemas['Understood'] | null): string {
  if (understood?.strategy) return t('otherSection')
  return t(understood?.conflicts.length ? 'conflicts' : 'noneFound')
}
