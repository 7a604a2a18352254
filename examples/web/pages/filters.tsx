// The filter dialog. While the user chooses, its button shows how many listings match.
import { whileTyping } from 'kuwait-property-client'
import { allAreas, client, codes, Dialog, type Faults, named, NumberInput, type Option, type Query } from '../app.ts'
import { Select, t, useEffect, useMemo, useRef, useState, valuesOf, word } from '../app.ts'

const numbers = ['priceMin', 'priceMax', 'areaM2Min', 'areaM2Max', 'bedroomsMin', 'bathroomsMin']
const any: Option = ['', t('any')]
export const optionsOf = (vocabulary: string): Option[] => codes(vocabulary).map(({ code }) => [code, word(vocabulary, code)])
export const areaOptions = () => allAreas().map((area): Option => [area.id, named(area)])
  .sort(([, one], [, other]) => one.localeCompare(other))

type Props = { q: string; filters: Record<string, string>; search: (next: Query) => void; onClose: () => void }
export function Filters({ q, filters, search, onClose }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [faults, setFaults] = useState<Faults>({})
  const [count, setCount] = useState<{ count: number | null; capped: boolean }>()
  const ask = useMemo(() => whileTyping((query, signal) =>
    client.get('/search/count', { query: { ...JSON.parse(query), ...q && { q } } as object, signal })), [])
  function chosen() {
    const { values, ...judged } = valuesOf(form.current!, numbers)
    // Filters that this dialog does not have, such as the advertiser, are kept. So is a list of several codes
    // until the user chooses another value.
    return { query: Object.fromEntries(Object.entries({ ...filters, ...values }).filter(([, value]) => value !== null)) as Query, ...judged }
  }
  const recount = () => {
    const { query, isRight } = chosen()
    if (isRight) ask(JSON.stringify(query)).then((answer) => answer && setCount(answer), () => setCount(undefined))
  }
  useEffect(recount, [])
  function submit(event: Event) {
    event.preventDefault()
    const { query, faults, isRight } = chosen()
    setFaults(faults)
    if (isRight) (search(query), onClose())
  }
  const several = (field: string): Option[] => filters[field]?.includes(',') ? [[filters[field], t('several')]] : []
  const select = (label: string, name: string, options: Option[]) =>
    <Select label={label} name={name} value={filters[name] ?? ''} options={[any, ...several(name), ...options]} />
  const numeral = (label: string, name: string) =>
    <NumberInput label={label} name={name} value={filters[name] ? Number(filters[name]) : null} error={faults[name]} />
  return <Dialog title={t('filters')} onClose={onClose}>
    <form ref={form} class='grid' onSubmit={submit} onInput={recount} onChange={recount}>
      {select(t('offer'), 'type', optionsOf('listingType').filter(([code]) => code !== 'EXCHANGE'))}
      {select(t('kind'), 'kinds', optionsOf('kind'))}
      {select(t('area'), 'areaIds', areaOptions())}
      {select(t('furnishing'), 'furnished', optionsOf('furnished'))}
      {numeral(t('priceMin'), 'priceMin')}{numeral(t('priceMax'), 'priceMax')}
      {numeral(t('areaMin'), 'areaM2Min')}{numeral(t('areaMax'), 'areaM2Max')}
      {numeral(t('bedroomsLeast'), 'bedroomsMin')}{numeral(t('bathroomsLeast'), 'bathroomsMin')}
      {select(t('amenity'), 'amenities', optionsOf('amenity'))}
      {select(t('advertiser'), 'isDirect', [['true', t('isDirect')]])}
      <div class='line'><button>{count?.count == null ? t('show') : t(count.capped ? 'showMoreThan' : 'showListings', { n: count.count })}</button>
        <button type='reset' class='second' onClick={() => (search({}), onClose())}>{t('clear')}</button></div>
    </form>
  </Dialog>
}
