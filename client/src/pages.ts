// Paged lists as async iterators. They do not use async generators, because Hermes has none.
import type { Page } from './operations.ts'

export type List<P extends Page> = AsyncIterableIterator<P['items'][number]> & {
  /** Iterates over whole pages, for infinite scrolling: `await pages.next()` loads one. */
  pages(): AsyncIterableIterator<P>
}

// Old versions of Hermes lack the symbol. Babel compiles `for await` to this name then.
const asyncIterator: symbol | string = Symbol.asyncIterator ?? '@@asyncIterator'

/** Makes an iterator whose steps run one after another, even if `next` is called several times at once. */
function iterator<Value>(step: () => Promise<IteratorResult<Value>>) {
  const end = { value: undefined, done: true } as const
  let last: Promise<unknown> = Promise.resolve()
  let ended = false
  const steps = {
    next(): Promise<IteratorResult<Value>> {
      const take = async () => ended ? end : await step()
      const result = last.then(take, take)
      last = result
      return result
    },
    return(): Promise<IteratorResult<Value>> {
      ended = true
      return Promise.resolve(end)
    },
  }
  const iterable: unknown = Object.assign(steps, { [asyncIterator]: () => steps })
  return iterable as AsyncIterableIterator<Value>
}

/**
 * Turns calls that return pages into a list:
 *
 * ```ts
 * const deals = listOf((cursor) =>
 *   client.post('/search/advanced', { body: { strategy: 'deal', cursor } })
 * )
 * ```
 */
export function listOf<P extends Page>(
  pageAfter: (cursor: string | undefined) => Promise<P>,
): List<P> {
  function pages() {
    let cursor: string | null | undefined
    return iterator<P>(async () => {
      if (cursor === null) return { value: undefined, done: true }
      const page = await pageAfter(cursor)
      cursor = page.nextCursor
      return { value: page, done: false }
    })
  }
  const all = pages()
  let items: P['items'] = []
  const each = iterator<P['items'][number]>(async () => {
    while (!items.length) {
      const page = await all.next()
      if (page.done) return page
      items = [...page.value.items]
    }
    return { value: items.shift(), done: false }
  })
  return Object.assign(each, { pages })
}
