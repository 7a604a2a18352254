/**
 * Values as SQL. What callers send enters the text of a message only as ids and as codes of
 * characters: nothing of it can be read as SQL, nor by whoever reads a log of statements. Postgres
 * takes such literals only while standard_conforming_strings is on, so they cannot be misread either.
 */
import { invalidFields } from './refusal.ts'
import { isUuid } from './uuid.ts'

const codeOf = (unit: number) => `\\${unit.toString(16).padStart(4, '0')}`
// Latin and Arabic, which nearly all of it is.
const codes = Array.from({ length: 0x700 }, (_, unit) => codeOf(unit))

/** A text as a literal; characters beyond 0xffff as their two surrogates. */
function quote(text: string): string {
  if (isUuid(text)) return `'${text}'`
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

/** The claims of a caller as a literal of their JSON: ids and a fixed word, short as they are. */
export function claimsLiteral(accountId: string, sessionId: string): string {
  if (!isUuid(accountId) || !isUuid(sessionId)) throw new Error('claims that are no ids')
  return `'{"sub":"${accountId}","session_id":"${sessionId}","role":"authenticated"}'`
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
