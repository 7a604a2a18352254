// Words of the queue. Names of fields have the API's field names as keys.
import { namesOf, word, wordsOf } from '../frame/index.ts'
import fieldNames from './fields.json'
import texts from './words.json'

export const [t, fieldName] = [wordsOf(texts), namesOf(fieldNames)]
export const fieldKeys = Object.keys(fieldNames)

/** The vocabularies of fields whose names differ from the vocabulary's. */
const vocabularies: Record<string, string> = {
  type: 'listingType', amenities: 'amenity', pricePeriod: 'period', wantedKinds: 'kind', targetType: 'reportTarget',
  rentConditions: 'rentCondition', precision: 'locationPrecision',
}
export const codeWord = (field: string, code: string) => word(vocabularies[field] ?? field, code)
