import { wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const t = wordsOf(texts)
