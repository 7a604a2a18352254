import { wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const t = wordsOf(texts)

const isHere = (name: string): name is keyof typeof texts => name in texts
/** What a setting, a part of one or a value is called; its name where a later one has no words here. */
export const nameOf = (name: string) => isHere(name) ? t(name) : name
/** The order of parts, which the database does not keep. */
export const placeOf = (name: string) => Object.keys(texts).indexOf(name.split('.')[0]!)
