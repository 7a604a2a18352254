// The two languages of the desk. Each room has its words in a file `words.json`; one without a language does not compile.
import { effect, signal } from '@preact/signals'
import texts from './words.json'

export type Language = 'ar' | 'en'
export type Words = Record<string, Record<Language, string>>

const kept = (key: string) => {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export const language = signal<Language>(kept('desk.language') === 'en' ? 'en' : 'ar')
export const theme = signal(kept('desk.theme') ?? 'auto')

effect(() => {
  const { documentElement: page } = document
  page.lang = language.value
  page.dir = language.value === 'ar' ? 'rtl' : 'ltr'
  page.dataset.theme = theme.value
  try {
    localStorage.setItem('desk.language', language.value)
    localStorage.setItem('desk.theme', theme.value)
  } catch {
    // Without a storage both hold until the page is closed.
  }
})

/** Isolates a text of either direction inside a sentence. */
export const isolated = (text: string) => `\u2068${text}\u2069`

/** Returns a function that gives a text of the room in the current language, with `{name}` filled in. */
export const wordsOf =
  <Texts extends Words>(texts: Texts) =>
  (key: keyof Texts & string, given: Record<string, string | number> = {}): string =>
    texts[key]![language.value].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name] ?? ''
      return typeof value === 'number' ? value.toLocaleString('en') : isolated(value)
    })

/** Of a record of the service with a text in each language. */
export const named = (record: { nameAr?: string | null; nameEn?: string | null } | undefined): string =>
  (language.value === 'ar' ? record?.nameAr : record?.nameEn) ?? record?.nameAr ?? ''

export const t = wordsOf(texts)
