import { wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const t = wordsOf(texts)

const isHere = (code: string): code is keyof typeof texts => code in texts
/** What an act is called; its code where a later one has no words here. */
export const actOf = (code: string) => isHere(code) ? t(code) : code
export const actCodes = Object.keys(texts).filter((code) => code.includes('.'))
