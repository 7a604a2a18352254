// The forms that a value may have after it was copied or typed on phones, in browsers or in documents.
const around = (before: string, after: string) => (value: string) => before + value + after
const between = (mark: string) => (value: string) => [...value].join(mark)
const digitsFrom = (zero: number) => (value: string) =>
  value.replace(/[0-9]/g, (digit) => String.fromCharCode(zero + Number(digit)))

export const arabic = digitsFrom(0x660)
export const persian = digitsFrom(0x6f0)
export const wide = digitsFrom(0xff10)

/** The same value in 24 forms. */
export const typedForms: Record<string, (value: string) => string> = {
  'an embedding to the right': around('\u202A', '\u202C'),
  'an embedding to the left': around('\u202B', '\u202C'),
  'an override to the right': around('\u202D', '\u202C'),
  'an override to the left': around('\u202E', '\u202C'),
  'an isolate to the right': around('\u2066', '\u2069'),
  'an isolate to the left': around('\u2067', '\u2069'),
  'an isolate': around('\u2068', '\u2069'),
  'a mark to the right': around('\u200E', ''),
  'a mark to the left': around('', '\u200F'),
  'an Arabic mark': around('\u061C', '\u061C'),
  'zero-width blanks': between('\u200B'),
  'word joiners': between('\u2060'),
  'a byte order mark': around('\uFEFF', ''),
  'soft hyphens': between('\u00AD'),
  'a text selector': between('\uFE0E'),
  'an emoji selector': around('', '\uFE0F'),
  'an ideographic selector': around('', '\u{E0100}'),
  'a Mongolian selector': around('\u180B', '\u180F'),
  'non-joiners at the ends': around('\u200C', '\u200C'),
  'joiners at the ends': around(' \u200D', '\u200D '),
  'no-break spaces around': around('\u00A0', '\u202F'),
  'Arabic digits': (value) => `\u200F${arabic(value)}\u200F`,
  'Persian digits': (value) => around('\u2067', '\u2069')(persian(value)),
  'full-width digits': wide,
}
