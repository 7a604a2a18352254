import { namesOf, wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const [t, nameOf] = [wordsOf(texts), namesOf(texts)]
/** What a setting does; a new setting without a translation says it in English. */
export const aboutOf = ({ name, note }: { name: string; note: string }) =>
  `about_${name}` in texts ? nameOf(`about_${name}`) : note
/** The order of parts, which the database does not keep. */
export const placeOf = (name: string) => Object.keys(texts).indexOf(name.split('.')[0]!)
