import { causeOf, placesOf } from '../../_shared/refusal.ts'

/** One JSON line; never a token or what people write to one another. */
export const log = (fields: Record<string, unknown>) =>
  console.log(JSON.stringify({ time: new Date().toISOString(), ...fields }))

/** What failed where nobody is told, without what was sent, which Postgres and parsers repeat. */
export function logFailure(failed: string, thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  log({ failed, cause: causeOf(error), stack: placesOf(error) })
}
