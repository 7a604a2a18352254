// Formats numbers, money and times for the desk, with Western digits and in Kuwait time.
import { language, t } from './words.ts'

const locale = () => language.value === 'ar' ? 'ar-KW-u-nu-latn' : 'en-GB'
export const number = (value: number) => value.toLocaleString('en')
export const money = (value: number | string) =>
  `${Number(value).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ${t('dinars')}`
/** The price of a listing, with decimals only if it is not a whole number. */
export const price = (value: number) => `${number(value)} ${t('dinars')}`
const inKuwait = (iso: string, options: Intl.DateTimeFormatOptions) =>
  new Date(iso).toLocaleString(locale(), { timeZone: 'Asia/Kuwait', ...options })
export const timeOf = (iso: string) => inKuwait(iso, { dateStyle: 'medium', timeStyle: 'short' })
/** Formats a date, or the date that a timestamp has in Kuwait. */
export const dayOf = (iso: string) =>
  inKuwait(iso.length === 10 ? `${iso}T12:00:00+03:00` : iso, { dateStyle: 'medium' })
const steps = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const

/** Formats how long ago a time was, or how far in the future it is. */
export function ago(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['minute', 60]
  const format = new Intl.RelativeTimeFormat(locale(), { style: 'short', numeric: 'auto' })
  return format.format(Math.round(seconds / length), unit)
}
export const size = (bytes: number) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
