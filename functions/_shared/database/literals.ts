// Formats values as SQL literals. A client's values appear in a statement only as ids and character codes, so
// they can never be parsed as SQL or read in a statement log. Postgres accepts such literals only while
// standard_conforming_strings is on.
import { invalidFields } from '../errors/refusal.ts'
import { isUuid } from '../input/uuid.ts'

const codeOf = (unit: number) => `\\${unit.toString(16).padStart(4, '0')}`
// A cache of the codes for Latin and Arabic, which make up nearly all text.
const codes = Array.from({ length: 0x700 }, (_, unit) => codeOf(unit))

/** Formats a string as a literal. A character above U+FFFF is written as two surrogates. */
function quote(text: string): string {
  if (isUuid(text)) return `'${text}'`
  if (text.includes('\0')) throw invalidFields()
  const whole = text.toWellFormed()
  let coded = ''
  for (let i = 0; i < whole.length; i++) {
    const unit = whole.charCodeAt(i)
    coded += codes[unit] ?? codeOf(unit)
  }
  return `U&'${coded}'`
}

export function claimsLiteral(accountId: string, sessionId: string): string {
  // Auth writes ids in lower case.
  const ids = [accountId, sessionId]
  if (!ids.every((id) => isUuid(id) && id === id.toLowerCase())) {
    throw new Error('claims that are no ids')
  }
  return `'{"sub":"${accountId}","session_id":"${sessionId}","role":"authenticated"}'`
}

export function literal(value: unknown, type: string): string {
  if (type === 'jsonb' || type === 'json') return `${quote(JSON.stringify(value))}::${type}`
  if (value === null) return `null::${type}`
  if (Array.isArray(value)) {
    return `array[${value.map((each) => literal(each, 'text')).join()}]::${type}`
  }
  return `${quote(String(value))}::${type}`
}
