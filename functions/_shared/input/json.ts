// Checks that every layer reads a JSON text alike, and that it is not nested too deeply.
import { invalidField } from '../errors/refusal.ts'
import { numberIn } from './numbers.ts'
import { hasRunOfMarks } from './texts.ts'

const depthLimit = 32

/** A client's key with an inherited name would shadow the real member in code that uses the object. */
const reservedNames = [
  ...new Set([...Object.getOwnPropertyNames(Object.prototype), '__proto__', 'prototype']),
]
const reserved = new Set(reservedNames)
/** If a text does not match this, its numbers, strings and keys need not be checked one by one. */
const suspicious = new RegExp(
  `\\d[eE][-+\\d]|[\\d.]{16}|\\\\u|\\.\\d{4}|${reservedNames.join('|')}`,
)

export const findReservedName = (names: Iterable<string>): string | undefined => {
  for (const name of names) if (reserved.has(name)) return name
}

/**
 * Returns JSON that every layer reads alike, or throws. `unknown` is the code for a reserved key. A number
 * that is almost a whole number of fils becomes that number (numbers.ts).
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

/** Measures how deep brackets nest outside strings, before anything is parsed. */
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

/** Finds reserved keys, and values that a layer would change or refuse: long numbers, NUL, runs of marks. */
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
      // The reviver visits values from the inside out, so each enclosing object adds its key to the path.
      fault = { ...fault, path: [printable(key), ...fault.path], holder: this }
    }
    return value
  }
  return { value: JSON.parse(text, read), fault, isChanged }
}

// Passwords are compared as typed, so they are not checked here; new passwords have their own schema.
const asTyped = ['password', 'currentPassword']
// Runs of marks in an identifier are left to its schema, which at sign-in treats them like a wrong password.
const identifier = 'identifier'

const isFaithful = (key: string, value: unknown) =>
  isWellFormed(key) && !Number.isNaN(value) &&
  (asTyped.includes(key) || isWellFormed(value) &&
      (key === identifier || typeof value !== 'string' || !hasRunOfMarks(value)))

const isWellFormed = (value: unknown) =>
  typeof value !== 'string' || value.isWellFormed() && !value.includes('\0')

const printable = (key: string) => key.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
