// A map that needs no tile server: Kuwait's coast from Natural Earth (public domain), rendered by MapLibre.
// To use tiles, set their style here. Only the map page loads this file, because MapLibre is large.
import { type GeoJSONSourceSpecification, type LngLatBoundsLike, Map, Marker, NavigationControl, setWorkerUrl } from 'maplibre-gl'
import 'maplibre-gl/dist/maplibre-gl.css'
import worker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import coast from './coast.json'

setWorkerUrl(worker)
export type View = { lng: number; lat: number; zoom: number }

export type Name = { lng: number; lat: number; kind: string; text: string }
export type Pin = Name & { label: string; press: () => void }

export function openMap(container: HTMLElement, name: string, { lng, lat, zoom }: View, names: Name[]) {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches
  const [sea, abroad, land, line] = isDark ? ['#10222c', '#23292a', '#2f3a38', '#5d6f6b'] : ['#cfe3ea', '#e9e6dd', '#f7f2e6', '#a99f86']
  const map = new Map({
    container, center: [lng, lat], zoom, maxZoom: 18, maxBounds: [[45.6, 27.7], [50.1, 30.9]],
    attributionControl: false, dragRotate: false, pitchWithRotate: false, touchPitch: false,
    locale: { 'Map.Title': name },
    style: {
      version: 8,
      sources: { coast: { type: 'geojson', data: coast as GeoJSONSourceSpecification['data'] } },
      layers: [
        { id: 'sea', type: 'background', paint: { 'background-color': sea! } },
        { id: 'land', type: 'fill', source: 'coast', paint: { 'fill-color': ['case', ['==', ['get', 'country'], 'Kuwait'], land!, abroad!] } },
        { id: 'line', type: 'line', source: 'coast', paint: { 'line-color': line!, 'line-width': 1 } },
      ],
    },
  })
  map.touchZoomRotate.disableRotation()
  map.addControl(new NavigationControl({ showCompass: false }))
  const mark = <Kind extends 'span' | 'button'>(tag: Kind, { lng, lat, kind, text }: Name, more: object) => {
    const element = Object.assign(document.createElement(tag), { className: kind, textContent: text, ...more })
    return new Marker({ element }).setLngLat([lng, lat]).addTo(map)
  }
  for (const one of names) mark('span', one, { ariaHidden: 'true' })
  let pins: Marker[] = []
  return {
    view: (): View & { bbox: string } => ({
      ...map.getCenter(), zoom: map.getZoom(), bbox: map.getBounds().toArray().flat().map((side) => side.toFixed(5)).join(),
    }),
    onMove: (listen: () => void) => void map.on('moveend', listen),
    // MapLibre skips the animation if the user prefers reduced motion.
    fit: (box: number[]) => map.fitBounds(box as LngLatBoundsLike, { padding: 70, maxZoom: 18 }),
    /** Pins are HTML buttons, for keyboard users. If an old pin had the focus, the first new one gets it. */
    show(given: Pin[]) {
      const hadFocus = pins.some((pin) => pin.getElement() === document.activeElement)
      pins.forEach((pin) => pin.remove())
      pins = given.map((pin) => mark('button', { ...pin, kind: `pin ${pin.kind}` }, { type: 'button', ariaLabel: pin.label, onclick: pin.press }))
      if (hadFocus) pins[0]?.getElement().focus()
    },
    close: () => map.remove(),
  }
}
