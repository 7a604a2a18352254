import { namesOf, wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const [t, nameOf] = [wordsOf(texts), namesOf(texts)]
/** Returns what a setting does. For a new setting without a translation, this is the English note. */
export const aboutOf = ({ name, note }: { name: string; note: string }) =>
  `about_${name}` in texts ? nameOf(`about_${name}`) : note
/** Returns the position of a part in a form, because JSON in the database does not keep the order of keys. */
export const placeOf = (name: string) => Object.keys(texts).indexOf(name.split('.')[0]!)
