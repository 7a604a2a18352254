/** JSON that every layer reads alike, and no deeper than it may be. */
import { isExact } from './numbers.ts'
import { invalidField } from './refusal.ts'
import { hasRunOfMarks } from './texts.ts'

const depthLimit = 32

/**
 * Names that every object or its class has. A key of such a name would shadow it: code that compares
 * or prints the object would call what a client wrote.
 */
const reservedNames = [
  ...new Set([...Object.getOwnPropertyNames(Object.prototype), '__proto__', 'prototype']),
]
const reserved = new Set(reservedNames)
/** A text that this does not match needs no look at each of its values. */
const suspicious = new RegExp(
  `\\d[eE][-+\\d]|[\\d.]{16}|\\\\u|\\.\\d{4}|${reservedNames.join('|')}`,
)

/** The first of the names that is reserved. */
export const findReservedName = (names: Iterable<string>): string | undefined => {
  for (const name of names) if (reserved.has(name)) return name
}

/**
 * Throws unless this is JSON that every layer reads alike, no deeper than it may be. `unknown` is the
 * code for a reserved key.
 */
export function checkJson(text: string, unknown = 'unknown') {
  if (depthOf(text) > depthLimit) throw invalidField('', 'too_big')
  const fault = faultOf(text, unknown)
  if (fault) throw invalidField(fault.path.slice(1).join('.'), fault.code)
}

/** How deep brackets nest, strings left out, counted before anything is built. */
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

type Fault = { path: string[]; code: string; holder: unknown }

/** What JavaScript would read as something else: lost digits, lone surrogates, NUL; reserved keys. */
function faultOf(text: string, unknown: string): Fault | undefined {
  let fault: Fault | undefined
  if (!suspicious.test(text) && !hasRunOfMarks(text)) {
    JSON.parse(text)
    return
  }
  JSON.parse(text, function (key: string, value: unknown, context?: { source?: string }) {
    if (!fault) {
      const code = reserved.has(key)
        ? unknown
        : isFaithful(key, value, context?.source) || 'invalid'
      if (code !== true) fault = { path: [printable(key)], code, holder: this }
    } else if (fault.holder === value) {
      // The reviver goes from the inside out: each holder adds its name.
      fault = { ...fault, path: [printable(key), ...fault.path], holder: this }
    }
    return value
  })
  return fault
}

// Auth took a password as it was typed, so it is tried so; a new one has a rule of its own.
const asTyped = ['password', 'currentPassword']
// Its schemas say what is wrong with it; at sign-in they do not.
const identifier = 'identifier'

const isFaithful = (key: string, value: unknown, source = '0') =>
  isWellFormed(key) &&
  (typeof value === 'number' ? isExact(value, source) : asTyped.includes(key) ||
    isWellFormed(value) &&
      (key === identifier || typeof value !== 'string' || !hasRunOfMarks(value)))

const isWellFormed = (value: unknown) =>
  typeof value !== 'string' || value.isWellFormed() && !value.includes('\0')

const printable = (key: string) => key.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
