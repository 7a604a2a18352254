import { namesOf, wordsOf } from '../frame/index.ts'
import texts from './words.json'

export const [t, actOf] = [wordsOf(texts), namesOf(texts)]
export const actCodes = Object.keys(texts).filter((code) => code.includes('.'))
