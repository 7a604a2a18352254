// Ensures that JavaScript and Postgres read a JSON text in the same way, and that it is not nested too
// deeply.
import { invalidField } from '../errors/refusal.ts'
import { numberIn } from './numbers.ts'
import { hasRunOfMarks } from './texts.ts'

const depthLimit = 32

/** Names of members that every object inherits. A key with such a name would shadow the inherited member. */
const reservedNames = [
  ...new Set([...Object.getOwnPropertyNames(Object.prototype), '__proto__', 'prototype']),
]
const reserved = new Set(reservedNames)
/** Only a text that matches this needs its numbers, strings and keys checked one by one. */
const suspicious = new RegExp(
  `\\d[eE][-+\\d]|[\\d.]{16}|\\\\u|\\.\\d{4}|${reservedNames.join('|')}`,
)

export const findReservedName = (names: Iterable<string>): string | undefined => {
  for (const name of names) if (reserved.has(name)) return name
}

/**
 * Returns JSON that JavaScript and Postgres read in the same way, or throws. `unknown` is the error code for
 * a reserved key. A number that is almost a whole number of fils is rounded to it (numbers.ts).
 */
export function checkJson(text: string, unknown = 'unknown'): string {
  if (depthOf(text) > depthLimit) throw invalidField('', 'too_big')
  if (!suspicious.test(text) && !hasRunOfMarks(text)) {
    JSON.parse(text)
    return text
  }
  const { fault, value, isChanged } = inspect(text, unknown)
  if (fault) throw invalidField(fault.path.slice(1).join('.'), fault.code)
  return isChanged ? JSON.stringify(value) : text
}

/** Measures the nesting depth of brackets outside strings, before anything is parsed. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === 0x22) {
      while (++i < text.length && text.charCodeAt(i) !== 0x22) {
        if (text.charCodeAt(i) === 0x5c) i++
      }
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > deepest) deepest = depth
    } else if (char === 0x5d || char === 0x7d) depth--
  }
  return deepest
}

type Context = { source?: string }
type Fault = { path: string[]; code: string; holder: unknown }

/**
 * Finds reserved keys, and values that would be changed or refused later: long numbers, NUL, long runs of
 * combining marks.
 */
function inspect(text: string, unknown: string) {
  let fault: Fault | undefined
  let isChanged = false
  const read = function (this: unknown, key: string, given: unknown, context?: Context) {
    const value = typeof given === 'number' ? numberIn(given, context?.source ?? '0') : given
    if (value !== given) isChanged = true
    if (!fault) {
      const code = reserved.has(key) ? unknown : isFaithful(key, value) || 'invalid'
      if (code !== true) fault = { path: [printable(key)], code, holder: this }
    } else if (fault.holder === value) {
      // A reviver visits the innermost values first, so each enclosing object adds its key to the path.
      fault = { ...fault, path: [printable(key), ...fault.path], holder: this }
    }
    return value
  }
  return { value: JSON.parse(text, read), fault, isChanged }
}

// Passwords are compared exactly as typed, so they are not checked here. New passwords have their own schema.
const asTyped = ['password', 'currentPassword']
// The schema of an identifier checks for runs of combining marks. At sign-in, it treats them like a wrong
// password.
const identifier = 'identifier'

const isFaithful = (key: string, value: unknown) =>
  isWellFormed(key) && !Number.isNaN(value) &&
  (asTyped.includes(key) || isWellFormed(value) &&
      (key === identifier || typeof value !== 'string' || !hasRunOfMarks(value)))

const isWellFormed = (value: unknown) =>
  typeof value !== 'string' || value.isWellFormed() && !value.includes('\0')

const printable = (key: string) => key.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
