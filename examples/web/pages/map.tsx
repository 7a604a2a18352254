// Listings as circles that a click opens, or single listings when zoomed in; or the prices of areas. The
// position of the map and the choice of what it shows are in the URL.
import { ApiError } from 'kuwait-property-client'
import { allAreas, allGovernorates, areaName, client, codes, Dialog, dinars, Failed, go, here, Loaded, named, number } from '../app.ts'
import { type Place, type Query, type Schemas, Select, t, Title, to, useEffect, useLoad, useRef, useState, word } from '../app.ts'
import { Table } from '../charts.tsx'
import type { openMap, Pin } from '../map-canvas.ts'
import { optionsOf } from './filters.tsx'
import { AreaHistory } from './listing.tsx'

type Open = typeof openMap
type Type = 'SALE' | 'RENT'
const kuwait = '29.3,47.95,8.6'

export function MapPage({ query }: Place) {
  const module = useLoad(() => import('../map-canvas.ts').catch(() => {
    throw new ApiError({ code: 'connection' })
  }))
  return <><Title text={t('map')} /><Loaded of={module}>{({ openMap }) => <Field open={openMap} query={query} />}</Loaded></>
}

function Field({ open, query }: { open: Open; query: URLSearchParams }) {
  const field = useRef<HTMLDivElement>(null)
  const map = useRef<ReturnType<Open>>(undefined)
  const [isBroken, setBroken] = useState(false)
  const [view, setView] = useState<{ bbox: string; zoom: number }>()
  const [tower, setTower] = useState<Schemas['MapPoint'][]>()
  const shows = query.get('show') === 'prices' ? 'prices' : 'listings'
  const type = (query.get('type') ?? (shows === 'prices' ? 'SALE' : '')) as Type | ''
  const change = (next: Query, instead = true) => go(to('map', { ...Object.fromEntries(here().query), ...next }), instead)

  useEffect(() => {
    const [lat, lng, zoom] = (query.get('at') ?? kuwait).split(',').map(Number) as [number, number, number]
    try {
      map.current = open(field.current!, t('map'), { lat, lng, zoom }, names())
    } catch {
      return setBroken(true) // no WebGL
    }
    const look = () => {
      if (here().page !== 'map') return // a link has just been followed
      const { lat, lng, zoom, bbox } = map.current!.view()
      setView({ bbox, zoom: Math.min(20, Math.round(zoom) + 1) }) // service zooms: 256 px tiles
      change({ at: [lat.toFixed(4), lng.toFixed(4), zoom.toFixed(2)].join() })
    }
    map.current.onMove(look)
    look()
    return () => map.current?.close()
  }, [])

  const found = useLoad(async (signal): Promise<{ pins: Pin[]; areas?: Schemas['AreaPrices'][] } | undefined> => {
    if (!view) return
    if (shows === 'prices') {
      const { items } = await client.get('/map/areas', { query: { type: type || 'SALE' }, signal })
      return { pins: pinsOfAreas(items, (area) => change({ area }, false)), areas: items }
    }
    const answer = await client.get('/map/listings', { query: { ...view, ...type && { type } }, signal })
    return { pins: 'clusters' in answer ? pinsOfClusters(answer.clusters, (box) => map.current?.fit(box)) : pinsOfPoints(answer.points, setTower) }
  }, [shows, type, ...shows === 'prices' ? [Boolean(view)] : [view?.bbox, view?.zoom]])
  useEffect(() => void (found.value && map.current?.show(found.value.pins)), [found.value])

  const area = query.get('area')
  const note = isBroken || !found.value ? '' : found.value.pins.length ? t(shows === 'prices' ? 'pressArea' : 'pressCircle') : t('noneHere')
  return <>
    <div class='bar'>
      <Select label={t('shown')} name='show' value={shows} options={[['listings', t('listingsShown')], ['prices', t('pricesOfAreas')]]}
        onChange={(show) => change({ show, type: type || (show === 'prices' && 'SALE') })} />
      <Select label={t('offer')} name='type' value={type} onChange={(type) => change({ type })}
        options={[...shows === 'prices' ? [] : [['', t('any')] as [string, string]], ...optionsOf('listingType').filter(([code]) => code !== 'EXCHANGE')]} />
      <small role='status'>{note}</small>
    </div>
    {found.error ? <Failed error={found.error} retry={found.reload} /> : null}
    {isBroken ? <p class='none'>{t('noWebGl')} <a class='button' href={to('search')}>{t('toSearch')}</a></p>
      : <div ref={field} class={`canvas ${(view?.zoom ?? 0) < 11 ? 'far' : ''}`} aria-busy={!found.value} />}
    <p class='hint'>Natural Earth</p>
    {found.value?.areas && <Table summary={t('asTable')} label={t('pricesOfAreas')} rows={rowsOf(found.value.areas)}
      heads={[t('area'), t('count'), t('median'), t('perSquareMetre')]} />}
    {area && <AreaPrices id={area} type={type || 'SALE'} onClose={() => change({ area: '' })} />}
    {tower && <Dialog title={t('listings', { n: tower.length })} onClose={() => setTower(undefined)}>
      <ul class='list'>{tower.map(({ id, kind, priceLabel }) =>
        <li key={id}><a class='row' href={to(`listing/${id}`)}>{word('kind', kind)} <strong>{priceLabel}</strong></a></li>)}</ul></Dialog>}
  </>
}

const pinsOfClusters = (clusters: Schemas['MapCluster'][], open: (box: number[]) => void): Pin[] =>
  clusters.map(({ lat, lng, count, minPrice, bbox }) => {
    const from = minPrice ? t('from', { value: dinars(minPrice) }) : ''
    return { lat, lng, kind: `cluster size-${Math.min(4, Math.floor(Math.log10(count) * 2))}`, text: number(count), press: () => open(bbox),
      label: [t('listings', { n: count }), from].filter(Boolean).join(t('comma')) }
  })

const pinsOfPoints = (points: Schemas['MapPoint'][], openTower: (all: Schemas['MapPoint'][]) => void): Pin[] =>
  [...Map.groupBy(points, ({ lat, lng }) => `${lat} ${lng}`).values()].map((all): Pin => {
    const { id, lat, lng, kind, priceLabel } = all[0]!
    return all.length > 1
      ? { lat, lng, kind: 'cluster', text: number(all.length), label: t('listings', { n: all.length }), press: () => openTower(all) }
      : { lat, lng, kind: 'point', text: priceLabel, label: `${word('kind', kind)}${t('comma')}${priceLabel}`, press: () => go(to(`listing/${id}`)) }
  })

const names = () => [...allAreas().map((area) => ({ ...area, kind: 'name' })), ...allGovernorates().map((one) => ({ ...one, kind: 'name city' }))]
  .flatMap(({ lat, lng, kind, ...one }) => lat && lng ? [{ lat, lng, kind, text: named(one) }] : [])

/** Pins for areas with a median price, in five steps from the cheapest to the most expensive per m². */
function pinsOfAreas(areas: Schemas['AreaPrices'][], open: (id: string) => void): Pin[] {
  const priced = areas.filter(({ medianPricePerM2, lat }) => medianPricePerM2 !== null && lat !== null)
    .sort((one, other) => one.medianPricePerM2! - other.medianPricePerM2!)
  return priced.map((area, nth) => {
    const price = dinars(Math.round(area.medianPrice!))
    return { lat: area.lat!, lng: area.lng!, kind: `priced step-${Math.floor(nth / priced.length * 5)}`, text: price,
      label: `${named(area)}: ${price}${t('comma')}${t('listings', { n: area.count })}`, press: () => open(area.areaId) }
  })
}

const rowsOf = (areas: Schemas['AreaPrices'][]) => areas.filter(({ medianPrice }) => medianPrice !== null)
  .map((area) => [named(area), number(area.count), dinars(area.medianPrice!), area.medianPricePerM2 ? dinars(area.medianPricePerM2) : '—'])

function AreaPrices({ id, type, onClose }: { id: string; type: Type; onClose: () => void }) {
  const [kind, setKind] = useState(type === 'SALE' ? 'villa' : 'apartment')
  return <Dialog title={areaName(id)} onClose={onClose}>
    <Select label={t('kind')} name='kind' value={kind} onChange={setKind} options={codes('kind').map(({ code }) => [code, word('kind', code)])} />
    <AreaHistory areaId={id} type={type} kind={kind} />
    <a class='button' href={to('search', { areaIds: id, type, kinds: kind })}>{t('show')}</a>
  </Dialog>
}
