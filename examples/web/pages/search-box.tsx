// The search box with a list of suggestions (ARIA combobox): arrow keys choose, Enter accepts, Esc closes.
import { whileTyping } from 'kuwait-property-client'
import { client, explain, number, type Query, type Schemas, t, useEffect, useMemo, useState } from '../app.ts'

type Suggestion = Schemas['Suggestion']

export function SearchBox({ q, search }: { q: string; search: (next: Query) => void }) {
  const [typed, setTyped] = useState(q)
  const [found, setFound] = useState<Suggestion[]>([])
  const [at, setAt] = useState(-1)
  useEffect(() => setTyped(q), [q]) // Back also changes q
  // Sends a request 150 ms after the last letter. A newer request aborts the older one.
  const suggest = useMemo(() => whileTyping((q, signal) => client.get('/search/suggest', { query: { q }, signal })), [])
  const isOpen = found.length > 0
  const close = () => (setFound([]), setAt(-1))

  function type(text: string) {
    setTyped(text)
    setAt(-1)
    if (!text.trim()) return close()
    suggest(text).then((answer) => answer && document.activeElement?.id === 'q' && setFound(answer.items), explain)
  }
  function choose({ text, filters: { q, strategy, near, ...filters } }: Suggestion) {
    close()
    // This app only has the strategy standard. A suggestion for another strategy is searched for by its text.
    if (q || strategy) return search({ q: q ?? text })
    const lists = Object.entries(filters).map(([field, value]) => [field, String(value)])
    search({ ...Object.fromEntries(lists), near: near && [near.lat, near.lng, near.km].join() })
  }
  function press(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') close()
    if (!by || !isOpen) return
    event.preventDefault()
    setAt((at + by + found.length + 1 + 1) % (found.length + 1) - 1)
  }
  function submit(event: Event) {
    event.preventDefault()
    suggest('').catch(() => {}) // aborts a pending request, which would reopen the list
    if (found[at]) return choose(found[at])
    close()
    search({ q: typed.trim() })
  }
  const id = (nth: number) => `suggestion-${nth}`
  return <form class='search' role='search' onSubmit={submit}><div>
    <input id='q' type='search' enterkeyhint='search' autocomplete='off' placeholder={t('searchHint')} aria-label={t('search')} value={typed}
      {...{ role: 'combobox' } as object} aria-autocomplete='list' aria-controls='suggestions' aria-expanded={isOpen}
      aria-activedescendant={at >= 0 ? id(at) : undefined}
      onInput={({ currentTarget }) => type(currentTarget.value)} onKeyDown={press} onBlur={close} />
    <ul id='suggestions' role='listbox' aria-label={t('suggestions')} hidden={!isOpen} onPointerDown={(event) => event.preventDefault()}>
      {found.map((one, nth) => <li key={one.text} id={id(nth)} role='option' aria-selected={nth === at} onClick={() => choose(one)}>
        {one.text} {one.count !== null && <small>{number(one.count)}</small>}</li>)}
    </ul>
  </div><button>{t('search')}</button></form>
}
