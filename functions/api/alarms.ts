/** What an admin has to look at. */
import { backend } from './db.ts'

/** Raises an alarm, once until it is settled. A database that cannot be told is no second failure. */
export async function alarm(kind: string, subjectId: string, facts: Record<string, unknown> = {}) {
  await backend('raise_alarm', { kind, subjectId, facts }).catch((error) => {
    console.error(JSON.stringify({ alert: kind, subject: subjectId, why: String(error.message) }))
  })
}
