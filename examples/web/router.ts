// The URL fragment (after #) contains the page and all choices on it, so that Back, a reload and a shared
// link show the same. Any static file server can serve the app.
import { newId } from 'kuwait-property-client'

export type Place = { page: string; id: string; query: URLSearchParams }

export function here(): Place {
  const [path = '', query = ''] = location.hash.slice(1).split('?')
  const [, page = '', id = ''] = path.split('/')
  return { page, id, query: new URLSearchParams(query) }
}

export type Query = Record<string, string | number | false | null | undefined>
/** Returns the URL of a page, such as `#/search?q=…`. Empty query values are left out. */
export function to(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value || value === 0)
  return `#/${path}${given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}` : ''}`
}

let moved = () => {}
/** Goes to a URL. `instead` replaces the current history entry, so that Back skips it. */
export function go(address: string, instead = false) {
  if (!instead) return void (location.hash = address)
  history.replaceState(history.state, '', address)
  queueMicrotask(moved) // not while the calling component is still rendering
}

// Each history entry has an id. With it, Back restores what the page showed and its scroll position.
let entry = ''
let found: unknown
const scrolled = new Map<string, number>()
const kept = new Map<string, unknown>()
/** Stores what the page of the current history entry shows. */
export const keep = (value: unknown) => kept.set(entry, value)
/** After a return to an entry, returns what was stored for it, once. */
export const takeKept = () => [found, found = undefined][0]

/** Calls `draw` when the URL changes. Then restores the scroll position, or scrolls a new page to the top. */
export function followAddress(draw: () => void) {
  history.scrollRestoration = 'manual'
  moved = draw
  const enter = () => {
    const known: string | undefined = history.state?.entry
    entry = known ?? newId()
    if (!known) history.replaceState({ entry }, '')
    return known
  }
  enter()
  addEventListener('hashchange', ({ oldURL, newURL }) => {
    scrolled.set(entry, scrollY)
    const known = enter()
    found = known && kept.get(known)
    draw()
    const isSamePage = oldURL.split('?')[0] === newURL.split('?')[0]
    if (known || !isSamePage) requestAnimationFrame(() => scrollTo(0, scrolled.get(known ?? '') ?? 0))
  })
}
