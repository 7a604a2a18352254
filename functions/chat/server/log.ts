import { causeOf, placesOf } from '../../_shared/errors/refusal.ts'

const lineOf = (fields: Record<string, unknown>) =>
  JSON.stringify({ time: new Date().toISOString(), ...fields })

/** Logs one line of JSON. No field may contain a token or the text of a message. */
export const log = (fields: Record<string, unknown>) => console.log(lineOf(fields))

/** Logs a failure that no client learns of, without the values that errors of Postgres and parsers repeat. */
export function logFailure(failed: string, thrown: unknown) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  console.error(lineOf({ failed, cause: causeOf(error), stack: placesOf(error) }))
}
