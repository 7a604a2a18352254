// Work that continues after the answer. Work that must not be lost is also in a table that a job drains.

type Runtime = { EdgeRuntime?: { waitUntil(work: Promise<void>): void } }

/** Keeps the worker alive until the work settles or the worker has to end. Failures are ignored. */
export function inBackground(work: Promise<unknown>): void {
  const settled = work.then(() => {}, () => {})
  ;(globalThis as Runtime).EdgeRuntime?.waitUntil(settled)
}
