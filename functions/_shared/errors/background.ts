// Work that continues after the answer. If it must not be lost, a job drains it from a table too.

type Runtime = { EdgeRuntime?: { waitUntil(work: Promise<void>): void } }

/** Keeps the worker alive until the work settles or the worker has to end. Failures are ignored. */
export function inBackground(work: Promise<unknown>): void {
  const settled = work.then(() => {}, () => {})
  ;(globalThis as Runtime).EdgeRuntime?.waitUntil(settled)
}
