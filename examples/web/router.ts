// The page, and all that a person chose on it, stand in the address after #: so Back, a reload and a link that is
// passed on show the same. Any host of static files serves it.
import { newId } from 'kuwait-property-client'

export type Place = { page: string; id: string; query: URLSearchParams }

export function here(): Place {
  const [path = '', query = ''] = location.hash.slice(1).split('?')
  const [, page = '', id = ''] = path.split('/')
  return { page, id, query: new URLSearchParams(query) }
}

export type Query = Record<string, string | number | false | null | undefined>
/** The address of a page, such as `#/search?q=…`, without what is empty. */
export function to(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value || value === 0)
  return `#/${path}${given.length ? `?${new URLSearchParams(given.map(([name, value]) => [name, `${value}`]))}` : ''}`
}

let moved = () => {}
/** Goes to an address; `instead` of this one where a step should not be one for Back. */
export function go(address: string, instead = false) {
  if (!instead) return void (location.hash = address)
  history.replaceState(history.state, '', address)
  queueMicrotask(moved) // not amid the drawing of what called this
}

// Each entry of the history has a name, by which Back finds what was shown and how far it was scrolled.
let entry = ''
let found: unknown
const scrolled = new Map<string, number>()
const kept = new Map<string, unknown>()
/** Keeps what this entry of the history shows. */
export const keep = (value: unknown) => kept.set(entry, value)
/** Gives what was kept to who came back to this entry, once. */
export const takeKept = () => [found, found = undefined][0]

/** Calls `draw` for each move, and scrolls to where one was, or to the top of another page. */
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
