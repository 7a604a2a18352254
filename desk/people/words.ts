import { wordsOf } from '../frame/words.ts'
import texts from './words.json'

export const t = wordsOf(texts)
