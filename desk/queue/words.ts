// Words of the queue; the names of fields are by their names in the records of the service.
import { namesOf, word, wordsOf } from '../frame/index.ts'
import fieldNames from './fields.json'
import texts from './words.json'

export const [t, fieldName] = [wordsOf(texts), namesOf(fieldNames)]
export const fieldKeys = Object.keys(fieldNames)

/** The vocabularies of fields that are not named as theirs. */
const vocabularies: Record<string, string> = {
  type: 'listingType', amenities: 'amenity', pricePeriod: 'period', wantedKinds: 'kind', targetType: 'reportTarget',
  rentConditions: 'rentCondition', precision: 'locationPrecision',
}
export const codeWord = (field: string, code: string) => word(vocabularies[field] ?? field, code)
