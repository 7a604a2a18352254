// The texts of the queue. For field labels, the keys are the field names of the API.
import { namesOf, word, wordsOf } from '../frame/index.ts'
import fieldNames from './fields.json'
import texts from './words.json'

export const [t, fieldName] = [wordsOf(texts), namesOf(fieldNames)]
export const fieldKeys = Object.keys(fieldNames)

/** The vocabularies of fields whose name differs from the name of their vocabulary. */
const vocabularies: Record<string, string> = {
  type: 'listingType', amenities: 'amenity', pricePeriod: 'period', wantedKinds: 'kind', targetType: 'reportTarget',
  rentConditions: 'rentCondition', precision: 'locationPrecision',
}
export const codeWord = (field: string, code: string) => word(vocabularies[field] ?? field, code)
