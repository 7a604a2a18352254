// The location of a listing: its point, and the centres of its own and neighbouring areas. Needs no map
// tiles.
import { meta, named, type Schemas } from '../frame/index.ts'
import { t } from './words.ts'

type Point = { lat: number; lng: number }
type Offset = { x: number; y: number }
const kmPerDegree = 111.2
const [width, height] = [420, 280]
/** Returns how many kilometres a point is east and south of `origin`. Accurate enough within one country. */
const from = (origin: Point, { lat, lng }: Point): Offset => ({
  x: (lng - origin.lng) * kmPerDegree * Math.cos(origin.lat * Math.PI / 180), y: (origin.lat - lat) * kmPerDegree,
})
const far = ({ x, y }: Offset) => Math.hypot(x, y)

export function Map({ point, areaId }: { point: Schemas['Property']['location']; areaId: string | null }) {
  if (!point) return <p class='soft'>{t('noPoint')}</p>
  const places = [...meta.value?.areas.values() ?? []]
    .flatMap((area) => area.lat === null || area.lng === null ? [] : [{ area, at: from(point, area as Point) }])
    .sort((one, other) => far(one.at) - far(other.at))
  const own = places.find(({ area }) => area.id === areaId)
  const near = places.filter((one, at) => at < 6 || one === own)
  const reach = Math.max(1, far(near[3]?.at ?? { x: 1, y: 0 }), own ? far(own.at) : 0) * 1.25
  const scale = height / 2 / reach
  const step = [0.5, 1, 2, 5, 10, 20, 50].findLast((km) => km * scale < width / 3) ?? 0.25
  const label = own ? t('map', { km: far(own.at).toFixed(1), area: named(own.area) }) : t('noArea')
  const [left, bottom] = [-width / 2 + 12, height / 2 - 18]
  const { lat, lng } = point
  return <figure class='map'>
    <svg viewBox={`${-width / 2} ${-height / 2} ${width} ${height}`} role='img' aria-label={label}>
      {near.map(({ area, at }) => {
        const moved = `translate(${at.x * scale} ${at.y * scale})`
        return <g key={area.id} class={area === own?.area ? 'own' : ''} transform={moved}>
          <circle r='4' /><text y='-8'>{named(area)}</text>
        </g>
      })}
      {own && <line x2={own.at.x * scale} y2={own.at.y * scale} />}
      {point.precision !== 'exact' && <circle class='about' r={(point.precision === 'area' ? 1 : 0.3) * scale} />}
      <circle class='point' r='6' />
      <path d={`M${left} ${bottom}v6h${step * scale}v-6`} />
      <text x={left + step * scale / 2} y={bottom - 4}>{step} km</text>
    </svg>
    <figcaption class='row'>
      <span>{label}</span>
      <a href={`https://www.openstreetmap.org/?mlat=${lat}&mlon=${lng}#map=16/${lat}/${lng}`} target='_blank'
        rel='noopener noreferrer' referrerpolicy='no-referrer'>{t('openMap')}</a>
    </figcaption>
  </figure>
}
