/**
 * Values as SQL. What callers send enters the text of a message only like this: letters and digits
 * as they are and every other character by its code, so nothing of it can be read as SQL. Postgres
 * takes such literals only while standard_conforming_strings is on, so they cannot be misread either.
 */
import { Refusal } from './problem.ts'

const code = (char: string) => `\\${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A text as a literal. Characters beyond 0xffff go as their two halves. */
export function quoted(text: string): string {
  // The one character that no text of Postgres can hold.
  if (text.includes('\0')) throw new Refusal('validation_failed', { fields: [] })
  return `U&'${text.toWellFormed().replace(/[^0-9A-Za-z]/g, code)}'`
}

/** A value as a literal of its type in Postgres. */
export function literal(value: unknown, type: string): string {
  if (type === 'jsonb' || type === 'json') return `${quoted(JSON.stringify(value))}::${type}`
  if (value === null) return `null::${type}`
  if (Array.isArray(value)) {
    return `array[${value.map((each) => literal(each, 'text')).join()}]::${type}`
  }
  return `${quoted(String(value))}::${type}`
}
