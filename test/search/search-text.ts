/**
 * Normalises texts as private.search_text does, for clients and tests. The rule is at the head of
 * sql/01_base/2_rules_search_text.sql; test/search/vectors.json checks both.
 */
const from = 'ىة٠١٢٣٤٥٦٧٨٩' + 'ٱٲٳ' + 'یۍێېے' + 'ۃہھە' + 'کڪګگ' + 'ڤڥپچژ' + '۰۱۲۳۴۵۶۷۸۹'
const to = 'يه0123456789' + 'ااا' + 'ييييي' + 'هههه' + 'كككك' + 'ففبجز' + '0123456789'
const letters = new Map([...from].map((letter, i) => [letter, to[i]]))

const silent = new RegExp(
  '[\\u0300-\\u036F\\u0610-\\u061A\\u0621\\u0640\\u064B-\\u0653\\u0655-\\u065F\\u0670\\u0674\\u06D6-\\u06DC' +
    '\\u06DF-\\u06E8\\u06EA-\\u06ED\\u08D3-\\u08FF\\u00AD\\u061C\\u180B-\\u180D\\u180F\\u200B-\\u200F' +
    '\\u202A-\\u202E\\u2060-\\u2069\\uFE00-\\uFE0F\\uFEFF\\u{E0100}-\\u{E01EF}]+',
  'gu',
)

export function searchText(value: string): string {
  // Lowercases each letter alone: Postgres, too, ignores the letters next to it (Σ at the end of a word).
  const plain = Array.from(value.normalize('NFKD'), (letter) => {
    const lower = letter.toLowerCase()
    return letters.get(lower) ?? lower
  }).join('')
  return plain
    .replace(silent, '')
    .replaceAll('\u064A\u0654\u0648', 'وو')
    .replaceAll('\u0654', '')
    .replace(/[^\p{Alphabetic}0-9]+/gu, ' ')
    .replace(/(^| )(ال)+(?=[^ ]{2})/g, '$1')
    .trim()
}

export const searchWords = (value: string): string[] => [
  ...new Set(
    searchText(value).split(' ').filter(Boolean).map((word) => [...word].slice(0, 60).join('')),
  ),
]
