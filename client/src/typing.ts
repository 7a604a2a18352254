import { wait } from './wait.ts'

/**
 * Debounces requests while the user is typing: the returned function calls `ask` 150 ms after the last
 * letter. A newer call aborts the older one, which then returns undefined.
 *
 * ```ts
 * const suggest = whileTyping((q, signal) =>
 *   client.get('/search/suggest', { query: { q }, signal })
 * )
 * const answer = await suggest(box.value)
 * if (answer) show(answer.items)
 * ```
 */
export function whileTyping<T>(
  ask: (typed: string, signal: AbortSignal) => Promise<T>,
  pause = 150,
): (typed: string) => Promise<T | undefined> {
  let last: AbortController | undefined
  return async (typed) => {
    last?.abort()
    const { signal } = last = new AbortController()
    try {
      await wait(pause, signal)
      const answer = await ask(typed, signal)
      return signal.aborted ? undefined : answer
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }
}
