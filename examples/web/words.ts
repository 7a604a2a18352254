// The two languages. `words.json` has each text in both. Switching the language reloads the page.
import texts from './words.json'

export const language = localStorage.getItem('language') === 'en' ? 'en' : 'ar'
export const isArabic = language === 'ar'
Object.assign(document.documentElement, { lang: language, dir: isArabic ? 'rtl' : 'ltr' })

export function changeLanguage() {
  localStorage.setItem('language', isArabic ? 'en' : 'ar')
  location.reload()
}

export type Text = keyof typeof texts
/** Returns a text with its placeholders, such as `{name}`, filled in. */
export const t = (text: Text, given: Record<string, string | number> = {}): string =>
  texts[text][isArabic ? 0 : 1]!.replace(/\{(\w+)\}/g, (_, name: string) =>
    typeof given[name] === 'number' ? number(given[name]) : given[name] ?? '')

const [locale, timeZone] = [isArabic ? 'ar-KW-u-nu-latn' : 'en-GB', 'Asia/Kuwait']
export const number = (value: number) => value.toLocaleString('en')
export const dinars = (value: number) => t('dinars', { n: value })
/** Formats the day of a timestamp in Kuwait, or a date such as 2026-01-31. */
export const dayOf = (time: string) =>
  new Date(time.length === 10 ? `${time}T12:00:00+03:00` : time)
    .toLocaleDateString(locale, { day: 'numeric', month: 'long', timeZone })
export const monthOf = (month: string) =>
  new Date(`${month}-15`).toLocaleDateString(locale, { month: 'short', year: 'numeric', timeZone })
export const clockOf = (time: string) => new Date(time).toLocaleTimeString(locale, { timeStyle: 'short', timeZone })
