/**
 * What an admin has to look at. An alarm is a line in the log at once, and a row in the database when
 * that answers: a hosted project keeps a hundred lines in ten seconds and drops the rest. It fails
 * nobody's request and delays none.
 */
import { inBackground } from './background.ts'
import { causeOf, classifyError } from './refusal.ts'

type Alarm = { kind: string; subjectId: string; details: Record<string, unknown> }
type Save = (alarm: Alarm) => Promise<unknown>
type Settle = (alarm: { kind: string; subjects: string[]; quiet: string }) => Promise<unknown>

/** The same alarm again within this time says nothing new. */
const repeatAfter = 10_000
const capacity = 100

const lastRaised = new Map<string, number>()
const unsaved = new Map<string, Alarm>()
let save: Save | undefined
let settle: Settle | undefined
let saving: Promise<void> | undefined

/**
 * Raises an alarm, which stands until it is settled. The subject is one of a few, as a provider, a
 * job or a route, and never what a caller sent. Resolves when its row is saved, for who wants to wait.
 */
export function alarm(
  kind: string,
  subjectId: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  const key = `${kind} ${subjectId}`
  const now = Date.now()
  if (now - (lastRaised.get(key) ?? 0) > repeatAfter) {
    if (lastRaised.size >= capacity) lastRaised.clear()
    lastRaised.set(key, now)
    console.error(JSON.stringify({ alert: kind, subject: subjectId, ...details }))
    if (unsaved.size < capacity) unsaved.set(key, { kind, subjectId, details })
  }
  return startSaving()
}

/** A call that failed and whose failure is told to nobody; what may succeed in a moment is no alarm. */
export function callFailed(name: string, error: Error): void {
  const { code } = classifyError(error, { role: 'backend' })
  if (!['service_unavailable', 'timeout'].includes(code)) {
    void alarm('call_failed', name, { why: causeOf(error) })
  }
}

/**
 * Settles an alarm whose cause is gone, where no worker has raised it for so long; what fails here leaves it
 * open.
 */
export function settleAlarm(kind: string, subjectId: string, quiet = '0 seconds'): void {
  if (settle) inBackground(settle({ kind, subjects: [subjectId], quiet }))
}

/** Says how alarms are saved and settled, once the database can be reached; those raised before come first. */
export function keepAlarmsWith(by: { save: Save; settle: Settle }) {
  ;({ save, settle } = by)
  void startSaving()
}

function startSaving(): Promise<void> {
  if (!save || !unsaved.size) return Promise.resolve()
  saving ??= saveAll(save)
  inBackground(saving)
  return saving
}

/** One after another, so that alarms never take more than one connection. */
async function saveAll(save: Save) {
  try {
    for (const [key, alarm] of unsaved) {
      await save(alarm)
      unsaved.delete(key)
    }
  } catch {
    // The log has it; the next alarm brings this one along.
  } finally {
    saving = undefined
  }
}
