const minLength = 16
/** A random string has at least this many different characters; a run of zeros does not. */
const minCharacters = 5
// Words in placeholders such as changeme-changeme or your_secret_key_here.
const fillers = new Set(
  ('undefined null nan none empty nil true false change changeme me replace replaceme this your my ' +
    'with secret secrets key token password passwd pass webhook api sk pk test live value here ' +
    'placeholder example sample todo tbd dummy default admin string text').split(' '),
)
const isFiller = (word: string) =>
  /^(.)\1\1+$/.test(word) || fillers.has(word.replace(/^(.+?)\1*$/, '$1'))
const keyboardRuns = '01234567890123456789 abcdefghijklmnopqrstuvwxyz qwertyuiop'

/** Returns false for short values, placeholders, and runs of adjacent keys on the keyboard. */
export function isSecret(value: string): boolean {
  const rest = value.toLowerCase()
    .replace(/[a-z]+/g, (word) => isFiller(word) ? '' : word)
    .replace(/[\s_.:-]/g, '')
  return value.length >= minLength && new Set(rest).size >= minCharacters &&
    !keyboardRuns.includes(rest)
}
