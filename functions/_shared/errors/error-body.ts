import {
  boundTexts,
  type ErrorCode,
  errors,
  fieldTexts,
  formatTexts,
  isErrorCode,
} from './errors.ts'
import type { Detail, Field } from './refusal.ts'

/** The headers of every JSON response. Hono's c.json would omit the charset. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=UTF-8' }

const languageRange = /^\s*(ar|en|\*)(?:-[a-z\d-]*)?\s*(?:;\s*q=(0(?:\.\d*)?|1(?:\.0*)?)\s*)?$/i

/** Whether Accept-Language prefers English. `*` means Arabic; malformed entries are ignored. */
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

/** Whether the error has a retryAfter: all 429 and 503 errors, except those about a missing configuration. */
export const isTemporary = (code: ErrorCode) =>
  [429, 503].includes(errors[code][0]) && !notConfigured.includes(code)

/** Returns the body of an error response. The request's log line has the same `requestId`. */
export function errorBody(
  code: ErrorCode,
  detail: Detail,
  { english, requestId }: { english: boolean; requestId: string },
) {
  const { fields, said, ...details }: Detail = isTemporary(code)
    ? { retryAfter: 2, ...detail }
    : detail
  const [inArabic, inEnglish] = said ?? textsOf(code, details, requestId)
  return {
    code,
    message: english ? inEnglish : inArabic,
    messageEn: inEnglish,
    ...details,
    ...(fields && {
      fields: fields.map((field) => ({ ...field, message: fieldMessage(field, english) })),
    }),
    requestId,
  }
}

/** Returns the Arabic and the English text of an error, with its details filled in. */
export function textsOf(
  code: ErrorCode,
  details: Detail,
  requestId = '',
): [ar: string, en: string] {
  const [, ...general] = errors[code]
  const hasFormat = details.format !== undefined && Object.hasOwn(formatTexts, code)
  const [ar, en] = hasFormat ? formatTexts[code as keyof typeof formatTexts] : general
  const fill = (text: string, english: boolean) =>
    text.replace(/\{(\w+)\}/g, (_, name) => {
      if (name === 'requestId') return requestId
      if (name === 'seconds') return String(details.retryAfter ?? '')
      if (name === 'type') return typeName(details.required, english)
      return String(details[name] ?? '')
    })
  // The English text leaves out a reason that an administrator wrote in Arabic.
  const isForeign = arabic.test(String(details.reason ?? ''))
  return [fill(ar, false), fill(isForeign ? en.replace(': {reason}', '') : en, true)]
}

const arabic = /\p{Script=Arabic}/u

const typeNames: Record<string, [ar: string, en: string]> = {
  individual: ['فرد', 'individual'],
  company: ['شركة', 'company'],
  office: ['مكتب عقاري', 'office'],
}

const typeName = (type: unknown, english: boolean) =>
  typeNames[String(type)]?.[Number(english)] ?? ''

function fieldMessage({ code, min, max, format }: Field, english: boolean) {
  if (isErrorCode(code)) return textsOf(code, { format })[Number(english)]
  const known = Object.hasOwn(fieldTexts, code) ? code as keyof typeof fieldTexts : 'invalid'
  const language = english ? 1 : 0
  const bound = min ?? max
  if (bound === undefined) return fieldTexts[known][language]
  const end = boundTexts[min === undefined ? 'max' : 'min'][language]
  return fieldTexts[known][language] + end.replace('{bound}', characters(bound)[language])
}

const arabicCount = {
  zero: '{n} حرف',
  one: 'حرف واحد',
  two: 'حرفان',
  few: '{n} أحرف',
  many: '{n} حرفاً',
  other: '{n} حرف',
}
const arabicPlural = new Intl.PluralRules('ar')

/** A number of characters, spelled out in Arabic and English. */
const characters = (n: number): [ar: string, en: string] => [
  arabicCount[arabicPlural.select(n)].replace('{n}', String(n)),
  `${n} character${n === 1 ? '' : 's'}`,
]
