/** Work that goes on after the answer. What must happen is also in a table that a job drains. */

type Runtime = { EdgeRuntime?: { waitUntil(work: Promise<void>): void } }

/** Keeps the worker alive until the work is settled or the worker has to end. Ignores failures. */
export function inBackground(work: Promise<unknown>): void {
  const settled = work.then(() => {}, () => {})
  ;(globalThis as Runtime).EdgeRuntime?.waitUntil(settled)
}
