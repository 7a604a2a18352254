import { causeOf, placesOf } from '../../_shared/refusal.ts'

const lineOf = (fields: Record<string, unknown>) =>
  JSON.stringify({ time: new Date().toISOString(), ...fields })

/** One JSON line; never a token or what people write to one another. */
export const log = (fields: Record<string, unknown>) => console.log(lineOf(fields))

/** What failed where nobody is told, without what was sent, which Postgres and parsers repeat. */
export function logFailure(failed: string, thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  console.error(lineOf({ failed, cause: causeOf(error), stack: placesOf(error) }))
}
