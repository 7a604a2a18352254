/** Waiting: for a time, for the next try, until somebody loses patience. */

/** What a signal was aborted with; older engines keep no reason. */
export function abortError(signal: AbortSignal): unknown {
  if (signal.reason !== undefined) return signal.reason
  return Object.assign(new Error('This operation was aborted'), { name: 'AbortError' })
}

export const wait = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal))
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    const stop = () => {
      end()
      reject(abortError(signal!))
    }
    const timer = setTimeout(() => {
      end()
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop)
  })

const pauses = [300, 1000, 2000, 4000]
const longest = 7000

/** Milliseconds until the next try: longer each time, and not the same for everybody. */
export const retryPause = (failures: number) =>
  (pauses[failures] ?? longest) * (0.75 + Math.random() / 2)
