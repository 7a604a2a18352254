// Numbers, money and times as the desk shows them: Western digits, Kuwait time.
import { language, t } from './words.ts'

const locale = () => language.value === 'ar' ? 'ar-KW-u-nu-latn' : 'en-GB'
export const number = (value: number) => value.toLocaleString('en')
export const money = (value: number | string) =>
  `${Number(value).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })} ${t('dinars')}`
/** A listing's price, with decimals only where it has some. */
export const price = (value: number) => `${number(value)} ${t('dinars')}`
const inKuwait = (iso: string, options: Intl.DateTimeFormatOptions) =>
  new Date(iso).toLocaleString(locale(), { timeZone: 'Asia/Kuwait', ...options })
export const timeOf = (iso: string) => inKuwait(iso, { dateStyle: 'medium', timeStyle: 'short' })
/** Formats a date, or the date in Kuwait of a timestamp. */
export const dayOf = (iso: string) =>
  inKuwait(iso.length === 10 ? `${iso}T12:00:00+03:00` : iso, { dateStyle: 'medium' })
const steps = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const

/** How long ago a time was, or how far in the future it is. */
export function ago(iso: string): string {
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['minute', 60]
  const format = new Intl.RelativeTimeFormat(locale(), { style: 'short', numeric: 'auto' })
  return format.format(Math.round(seconds / length), unit)
}
export const size = (bytes: number) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
