// The page is named by what follows # in the address, so that any host of static files serves the desk.
import { signal } from '@preact/signals'

export type Place = { room: string; id: string; query: URLSearchParams }
function read(): Place {
  const [path = '', query = ''] = location.hash.slice(1).split('?')
  const [, room = '', ...rest] = path.split('/')
  return { room, id: rest.join('/'), query: new URLSearchParams(query) }
}
export const place = signal(read())
addEventListener('hashchange', () => (place.value = read()))
/** Goes to a page such as `/queue/<id>?kind=listing`; `instead` replaces this one. */
export function go(path: string, instead = false) {
  if (!instead) return void (location.hash = path)
  history.replaceState(null, '', `#${path}`)
  place.value = read()
}
/** The path of a page with the query values that are set. */
export function pathWith(path: string, query: Record<string, string | undefined>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path
}
