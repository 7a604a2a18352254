// The two languages of the desk. Each room has its texts in both languages in a file `words.json`.
import { effect, signal } from '@preact/signals'
import { memoryStorage } from 'kuwait-property-client'
import texts from './words.json'

export type Language = 'ar' | 'en'
export type Words = Record<string, Record<Language, string>>

/** Returns a storage of the browser, or one in memory if access to it is blocked. */
export function storage(name: 'localStorage' | 'sessionStorage'): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  try {
    return globalThis[name]
  } catch {
    return memoryStorage() as Storage
  }
}
const choices = storage('localStorage')
function kept<Value extends string>(key: string, values: readonly [Value, ...Value[]]) {
  const choice = signal(values.find((value) => value === choices.getItem(key)) ?? values[0])
  effect(() => choices.setItem(key, choice.value))
  return choice
}
export const language = kept('desk.language', ['ar', 'en'])
export const themes = ['auto', 'light', 'dark'] as const
export const theme = kept('desk.theme', themes)
effect(() => {
  const dir = language.value === 'ar' ? 'rtl' : 'ltr'
  Object.assign(document.documentElement, { lang: language.value, dir })
  document.documentElement.dataset.theme = theme.value
})
/** Isolates a text, which may be right-to-left or left-to-right, from the sentence around it. */
export const isolated = (text: string) => `\u2068${text}\u2069`

/**
 * Returns a function that looks up a text in the current language and fills in placeholders like `{name}`.
 */
export const wordsOf = <Texts extends Words>(texts: Texts) =>
  (key: keyof Texts & string, given: Record<string, string | number> = {}): string =>
    texts[key]![language.value].replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = given[name] ?? ''
      return typeof value === 'number' ? value.toLocaleString('en') : isolated(value)
    })
export const t = wordsOf(texts)
/**
 * Returns a function that looks up the text of a code. For a new code without a text, it returns the code.
 */
export const namesOf = (texts: Words) => (code: string) => texts[code]?.[language.value] ?? code
/** The name of a record in the current language. */
export const named = (record: { nameAr?: string | null; nameEn?: string | null } | undefined): string =>
  (language.value === 'ar' ? record?.nameAr : record?.nameEn) ?? record?.nameAr ?? ''
