/** Returns the reason of an aborted signal, or a new AbortError in older engines, which store no reason. */
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

/** Returns the pause before a retry in milliseconds. It grows with each failure and has random jitter. */
export const retryPause = (failures: number) =>
  (pauses[failures] ?? longest) * (0.75 + Math.random() / 2)
