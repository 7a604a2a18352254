/** What an error looks like on the wire: code, texts in both languages, details, request id. */
import { type ErrorCode, errors, fieldTexts, isErrorCode } from './errors.ts'
import type { Detail, Field } from './refusal.ts'

/** Of every answer in JSON; c.json alone leaves the character set unsaid. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=UTF-8' }

export const prefersEnglish = (acceptLanguage = '') => /^\s*en\b/i.test(acceptLanguage)

/**
 * The body of an error; `requestId` is the number under which the log has it. Every 429 and 503 says
 * when to try again.
 */
export function errorBody(
  code: ErrorCode,
  detail: Detail,
  { english, requestId }: { english: boolean; requestId: string },
) {
  const [status, ar, en] = errors[code]
  const waits = status === 429 || status === 503
  const { fields, ...details }: Detail = waits ? { retryAfter: 2, ...detail } : detail
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_, name) => {
      if (name === 'requestId') return requestId
      if (name === 'seconds') return String(details.retryAfter ?? '')
      if (name === 'type') return typeName(details.required, text === en)
      return String(details[name] ?? '')
    })
  return {
    code,
    message: fill(english ? en : ar),
    messageEn: fill(en),
    ...details,
    ...(fields && {
      fields: fields.map((field) => ({ ...field, message: fieldMessage(field, english) })),
    }),
    requestId,
  }
}

const typeNames: Record<string, [ar: string, en: string]> = {
  individual: ['فرد', 'individual'],
  company: ['شركة', 'company'],
  office: ['مكتب عقاري', 'office'],
}

const typeName = (type: unknown, english: boolean) =>
  typeNames[String(type)]?.[Number(english)] ?? ''

function fieldMessage({ code }: Field, english: boolean) {
  if (isErrorCode(code)) return errors[code][english ? 2 : 1]
  const known = Object.hasOwn(fieldTexts, code) ? code as keyof typeof fieldTexts : 'invalid'
  return fieldTexts[known][english ? 1 : 0]
}
