/**
 * What an admin has to look at. An alarm is a line in the log at once and a row in the database when
 * that answers: a hosted project keeps a hundred lines in ten seconds and drops the rest. It fails
 * nobody's request and keeps nobody waiting.
 */
import { inBackground } from './background.ts'

type Alarm = { kind: string; subjectId: string; facts: Record<string, unknown> }

/** The same one again within this time says nothing new. */
const pause = 10_000
const capacity = 100

const said = new Map<string, number>()
const unwritten = new Map<string, Alarm>()
let keep: ((alarm: Alarm) => Promise<unknown>) | undefined
let writing: Promise<void> | undefined

/**
 * Raises an alarm, which stands until it is settled. The subject is one of a few, as a provider, a
 * job or a route, and never what a caller sent. Gives when its row is there, for who wants to wait.
 */
export function alarm(
  kind: string,
  subjectId: string,
  facts: Record<string, unknown> = {},
): Promise<void> {
  const key = `${kind} ${subjectId}`
  const now = Date.now()
  if (now - (said.get(key) ?? 0) > pause) {
    if (said.size >= capacity) said.clear()
    said.set(key, now)
    console.error(JSON.stringify({ alert: kind, subject: subjectId, ...facts }))
    if (unwritten.size < capacity) unwritten.set(key, { kind, subjectId, facts })
  }
  return write()
}

/** How alarms are kept, once the database can be reached: those of the start come first. */
export function keepAlarms(by: typeof keep) {
  keep = by
  void write()
}

/** One after another, so that alarms never take more than one connection. */
function write(): Promise<void> {
  if (!keep || !unwritten.size) return Promise.resolve()
  writing ??= writeAll(keep)
  inBackground(writing)
  return writing
}

async function writeAll(keep: (alarm: Alarm) => Promise<unknown>) {
  try {
    for (const [key, alarm] of unwritten) {
      await keep(alarm)
      unwritten.delete(key)
    }
  } catch {
    // The log has it; the next alarm brings this one along.
  } finally {
    writing = undefined
  }
}
