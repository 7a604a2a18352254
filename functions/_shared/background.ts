/** Work that may outlive its answer. What must happen goes through a table and a job besides. */

type Runtime = { EdgeRuntime?: { waitUntil(work: Promise<void>): void } }

/** Keeps the worker until this is settled, or until its own end. Says nothing of failures. */
export function inBackground(work: Promise<unknown>): void {
  const settled = work.then(() => {}, () => {})
  ;(globalThis as Runtime).EdgeRuntime?.waitUntil(settled)
}
