// Paged lists as async iterators, without async generators, which Hermes lacks.
import type { Page } from './operations.ts'

export type List<P extends Page> = AsyncIterableIterator<P['items'][number]> & {
  /** Iterates by pages, for a screen that scrolls: `await pages.next()` for each. */
  pages(): AsyncIterableIterator<P>
}

// Old Hermes lacks the symbol; Babel's `for await` then uses this name.
const asyncIterator: symbol | string = Symbol.asyncIterator ?? '@@asyncIterator'

/** Makes an iterator whose steps run one by one, however often `next` is called at once. */
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
 * Makes a list from a route that returns pages:
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
