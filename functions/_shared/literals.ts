/**
 * Values as SQL. What callers send enters the text of a message only as ids and as codes of
 * characters: nothing of it can be read as SQL, nor by whoever reads a log of statements. Postgres
 * takes such literals only while standard_conforming_strings is on, so they cannot be misread either.
 */
import { invalidFields } from './refusal.ts'

const codeOf = (unit: number) => `\\${unit.toString(16).padStart(4, '0')}`
// Latin and Arabic, which nearly all of it is.
const codes = Array.from({ length: 0x700 }, (_, unit) => codeOf(unit))
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** A text as a literal; characters beyond 0xffff as their two surrogates. */
function quote(text: string): string {
  if (uuid.test(text)) return `'${text}'`
  // The one character that Postgres cannot hold.
  if (text.includes('\0')) throw invalidFields()
  const whole = text.toWellFormed()
  let coded = ''
  for (let i = 0; i < whole.length; i++) {
    const unit = whole.charCodeAt(i)
    coded += codes[unit] ?? codeOf(unit)
  }
  return `U&'${coded}'`
}

/** A value as a literal of its type in Postgres. */
export function literal(value: unknown, type: string): string {
  if (type === 'jsonb' || type === 'json') return `${quote(JSON.stringify(value))}::${type}`
  if (value === null) return `null::${type}`
  if (Array.isArray(value)) {
    return `array[${value.map((each) => literal(each, 'text')).join()}]::${type}`
  }
  return `${quote(String(value))}::${type}`
}
