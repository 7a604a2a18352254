// The map shows clusters at low zooms and listings from zoom 15 on. A tap on a cluster zooms to its box. The
// map here has only the names of areas; an app puts the same answers on its own map.
import type { Page } from '../main.ts'
import { allAreas, client } from '../service.ts'
import { dinars, escape, explain, html, number, onlyLatest, press } from '../ui.ts'

type Box = [west: number, south: number, east: number, north: number]
const kuwait: Box = [47.6, 28.95, 48.3, 29.5]

export const mapPage: Page = async (into, page) => {
  const nextSignal = onlyLatest(page)
  const areas = [...(await allAreas()).values()]
  const way: Box[] = [kuwait]
  const field = html`<div class="field"></div>`
  const note = html`<small></small>`
  const back = html`<button class="second" @click=${press(async () => {
      way.pop()
      await draw()
    })}>رجوع</button>`
  const type = html`<select @change=${() => draw().catch(explain)}><option value="">الكل</option>
    <option value="SALE">للبيع</option><option value="RENT">للإيجار</option></select>` as HTMLSelectElement
  into.append(html`<div class="bar">${back}${type}${note}</div>`, field)

  async function draw() {
    const signal = nextSignal()
    const { clientWidth: wide, clientHeight: tall } = field
    const [west, south, east, north] = fitted(way.at(-1)!, wide / tall)
    const zoom = Math.min(20, Math.round(Math.log2((360 * wide) / 256 / (east - west))))
    const bbox = [west, south, east, north].map((side) => side.toFixed(5)).join()
    const query = { bbox, zoom, ...type.value && { type: type.value as 'SALE' | 'RENT' } }
    const answer = await client.get('/map/listings', { query, signal })
    const place = (lat: number, lng: number) =>
      `transform="translate(${((lng - west) / (east - west)) * wide} ${((north - lat) / (north - south)) * tall})"`
    const [clusters, points] = 'clusters' in answer ? [answer.clusters, []] : [[], answer.points]
    field.innerHTML = `<svg viewBox="0 0 ${wide} ${tall}">${[
      ...areas.map(({ nameAr, lat, lng }) =>
        lat && lng && `<text ${place(lat, lng)} class="area ${zoom < 11 ? 'far' : ''}">${escape(nameAr)}</text>`),
      ...clusters.map(({ lat, lng, count, minPrice }, i) => `<g ${place(lat, lng)} data-cluster="${i}">
        <circle r="${12 + 3.5 * Math.log2(count)}"/><text y="5">${number(count)}</text>
        <text class="from" y="${28 + 3.5 * Math.log2(count)}">${minPrice ? `من ${dinars(minPrice)}` : ''}</text></g>`),
      ...points.map(({ id, lat, lng, priceLabel }) => `<g ${place(lat, lng)} data-listing="${id}">
        <circle r="8"/><text y="-14">${escape(priceLabel)}</text></g>`),
    ].join('')}</svg>`
    note.textContent = points.length ? `الإعلانات هنا: ${number(points.length)}` : 'اضغط على دائرة للاقتراب'
    back.hidden = way.length === 1
    field.onclick = ({ target }) => {
      const { cluster, listing } = (target as Element).closest('g')?.dataset ?? {}
      if (listing) location.hash = `#/listing/${listing}`
      if (!cluster) return
      way.push(clusters[Number(cluster)]!.bbox as Box)
      draw().catch(explain)
    }
  }
  await draw()
}

/** Returns the box with a margin, in the field's aspect ratio. 1° of longitude is 0.87° of latitude here. */
function fitted([west, south, east, north]: Box, ratio: number): Box {
  const tall = Math.max(north - south, (east - west) * 0.87 / ratio, 0.004) * 1.15
  const [x, y, half] = [(west + east) / 2, (south + north) / 2, tall * ratio / 0.87 / 2]
  return [x - half, y - tall / 2, x + half, y + tall / 2]
}
