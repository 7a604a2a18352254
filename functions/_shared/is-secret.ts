/** What can be a secret at all; deploy asks before it sends one. */

const leastLength = 16
/** A random text has more of them; zeros and their like do not. */
const leastLetters = 5
// What stands where a secret should, alone or joined: changeme-changeme, your_secret_key_here.
const fillers = new Set(
  ('undefined null nan none empty nil true false change changeme me replace replaceme this your my ' +
    'with secret secrets key token password passwd pass webhook api sk pk test live value here ' +
    'placeholder example sample todo tbd dummy default admin string text').split(' '),
)
const isFiller = (word: string) =>
  /^(.)\1\1+$/.test(word) || fillers.has(word.replace(/^(.+?)\1*$/, '$1'))
const runs = '01234567890123456789 abcdefghijklmnopqrstuvwxyz qwertyuiop'

/** Whether it can keep anything: not empty, not short, not what stands where a secret should. */
export function isSecret(value: string): boolean {
  const rest = value.toLowerCase()
    .replace(/[a-z]+/g, (word) => isFiller(word) ? '' : word)
    .replace(/[\s_.:-]/g, '')
  return value.length >= leastLength && new Set(rest).size >= leastLetters && !runs.includes(rest)
}
