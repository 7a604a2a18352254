// Alarms for administrators. They are logged at once, and saved as soon as the database responds, because a
// hosted project keeps only a hundred log lines per ten seconds. An alarm never makes a request fail or wait.
import { inBackground } from './background.ts'
import { log } from './log.ts'
import { causeOf, classifyError } from './refusal.ts'

type Alarm = { kind: string; subjectId: string; details: Record<string, unknown> }
type Save = (alarm: Alarm) => Promise<unknown>
type Settle = (alarm: { kind: string; subjects: string[]; quiet: string }) => Promise<unknown>

const repeatAfter = 10_000
const capacity = 100

const lastRaised = new Map<string, number>()
const unsaved = new Map<string, Alarm>()
let save: Save | undefined
let settle: Settle | undefined
let saving: Promise<void> | undefined

/**
 * Raises an alarm. `subjectId` must not contain client input. The promise resolves once saving succeeds or
 * fails.
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
    log('error', { alert: kind, subject: subjectId, ...details })
    if (unsaved.size < capacity) unsaved.set(key, { kind, subjectId, details })
  }
  return startSaving()
}

/** Raises an alarm for a failed call, because no client sees its error. Temporary failures raise none. */
export function callFailed(name: string, error: Error): void {
  const { code } = classifyError(error, { role: 'backend' })
  if (!['service_unavailable', 'timeout'].includes(code)) {
    void alarm('call_failed', name, { why: causeOf(error) })
  }
}

/** Settles an alarm whose cause is gone, unless any worker has raised it within the interval `quiet`. */
export function settleAlarm(kind: string, subjectId: string, quiet = '0 seconds'): void {
  if (settle) inBackground(settle({ kind, subjects: [subjectId], quiet }))
}

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

/** Saves the alarms one by one, so that they never use more than one connection. */
async function saveAll(save: Save) {
  try {
    for (const [key, alarm] of unsaved) {
      await save(alarm)
      unsaved.delete(key)
    }
  } catch {
    // The alarm has been logged, and the next alarm will retry saving.
  } finally {
    saving = undefined
  }
}
