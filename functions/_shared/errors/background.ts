// For work that continues after the response. Work that must not be lost is also stored in a table, which a
// job processes.

type Runtime = { EdgeRuntime?: { waitUntil(work: Promise<void>): void } }

/** Keeps the worker alive until the work settles or the worker has to shut down. Errors are ignored. */
export function inBackground(work: Promise<unknown>): void {
  const settled = work.then(() => {}, () => {})
  ;(globalThis as Runtime).EdgeRuntime?.waitUntil(settled)
}
