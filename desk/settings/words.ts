import { namesOf, wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const [t, nameOf] = [wordsOf(texts), namesOf(texts)]
/** The order of parts, which the database does not keep. */
export const placeOf = (name: string) => Object.keys(texts).indexOf(name.split('.')[0]!)
