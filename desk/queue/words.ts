// Words of the queue; the names of fields are by their names in the records of the service.
import { language, word, type Words, wordsOf } from '../frame/index.ts'
import fieldNames from './fields.json'
import texts from './words.json'

export const t = wordsOf(texts)
const fields: Words = fieldNames
export const fieldKeys = Object.keys(fields)
export const fieldName = (key: string) => fields[key]?.[language.value] ?? key

/** The vocabularies of fields that are not named as theirs. */
const vocabularies: Record<string, string> = {
  type: 'listingType',
  amenities: 'amenity',
  pricePeriod: 'period',
  wantedKinds: 'kind',
  rentConditions: 'rentCondition',
  precision: 'locationPrecision',
  targetType: 'reportTarget',
}
export const codeWord = (field: string, code: string) => word(vocabularies[field] ?? field, code)
