/** What an error looks like on the wire: code, texts in both languages, details, request id. */
import { boundTexts, type ErrorCode, errors, fieldTexts, isErrorCode } from './errors.ts'
import type { Detail, Field } from './refusal.ts'

/** Of every answer in JSON; c.json alone leaves the character set unsaid. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=UTF-8' }

const languageRange = /^\s*(ar|en|\*)(?:-[a-z\d-]*)?\s*(?:;\s*q=(0(?:\.\d*)?|1(?:\.0*)?)\s*)?$/i

/**
 * Whether an Accept-Language puts English ahead of Arabic: by quality values, of equal ones the first.
 * Any language (`*`) is Arabic; other languages, and what cannot be read, are passed over.
 */
export function prefersEnglish(acceptLanguage = '') {
  const [first] = acceptLanguage.split(',')
    .flatMap((range) => {
      const [, language, weight = 1] = languageRange.exec(range) ?? []
      return language && Number(weight) > 0 ? [{ language, weight: Number(weight) }] : []
    })
    .toSorted((one, other) => other.weight - one.weight)
  return first?.language.toLowerCase() === 'en'
}

const notConfigured: ErrorCode[] = [
  'provider_disabled',
  'sms_not_configured',
  'mail_not_configured',
  'payment_not_configured',
]

/** Whether an error says when to try again: every 429, and every 503 but of what is not configured. */
export const isTemporary = (code: ErrorCode) =>
  [429, 503].includes(errors[code][0]) && !notConfigured.includes(code)

/** The body of an error; `requestId` is the number under which the log has it. */
export function errorBody(
  code: ErrorCode,
  detail: Detail,
  { english, requestId }: { english: boolean; requestId: string },
) {
  const [, ar, en] = errors[code]
  const { fields, ...details }: Detail = isTemporary(code) ? { retryAfter: 2, ...detail } : detail
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

function fieldMessage({ code, max }: Field, english: boolean) {
  if (isErrorCode(code)) return errors[code][english ? 2 : 1]
  const known = Object.hasOwn(fieldTexts, code) ? code as keyof typeof fieldTexts : 'invalid'
  const language = english ? 1 : 0
  return fieldTexts[known][language] +
    (max === undefined ? '' : boundTexts[language].replace('{max}', String(max)))
}
