// The page is in the URL fragment (after #), so that any static file server can serve the desk.
import { signal } from '@preact/signals'

export type Place = { room: string; id: string; query: URLSearchParams }
function read(): Place {
  const [path = '', query = ''] = location.hash.slice(1).split('?')
  const [, room = '', ...rest] = path.split('/')
  return { room, id: rest.join('/'), query: new URLSearchParams(query) }
}
export const place = signal(read())
addEventListener('hashchange', () => (place.value = read()))
/** Goes to a page such as `/queue/<id>?kind=listing`. `instead` replaces the current history entry. */
export function go(path: string, instead = false) {
  if (!instead) return void (location.hash = path)
  history.replaceState(null, '', `#${path}`)
  place.value = read()
}
/** Adds the query values that are set to the path of a page. */
export function pathWith(path: string, query: Record<string, string | undefined>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return pairs.length ? `${path}?${new URLSearchParams(pairs)}` : path
}
