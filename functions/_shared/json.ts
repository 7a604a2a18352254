/** JSON that every layer reads alike, and no deeper than it may be. */
import { isErrorCode } from './errors.ts'
import { exact } from './numbers.ts'
import { Refusal } from './problem.ts'

const depthLimit = 32

/**
 * What every object has of its own accord, or its class. A key of that name would stand before it:
 * code that compares or prints the object would call what a client wrote.
 */
const shadowed = [
  ...new Set([...Object.getOwnPropertyNames(Object.prototype), '__proto__', 'prototype']),
]
const shadows = new Set(shadowed)
/** What no text without it needs to be looked at for, value by value. */
const suspicious = new RegExp(`\\d[eE][-+\\d]|[\\d.]{16}|\\\\u|\\.\\d{4}|${shadowed.join('|')}`)

/** The first of these names that nothing may have that a client sends. */
export const shadowing = (names: Iterable<string>): string | undefined => {
  for (const name of names) if (shadows.has(name)) return name
}

/** A refusal in the words of a field; a code of the table wins over the general one. */
export const wrongAt = (path: string, code: string) =>
  new Refusal(isErrorCode(code) ? code : 'validation_failed', { fields: [{ path, code }] })

/**
 * Throws unless this is JSON that every layer reads alike, no deeper than it may be. `unknown` is
 * what a key is called that nothing may have.
 */
export function checkJson(text: string, unknown = 'unknown') {
  if (depthOf(text) > depthLimit) throw wrongAt('', 'too_big')
  const fault = faultOf(text, unknown)
  if (fault) throw wrongAt(fault.path.slice(1).join('.'), fault.code)
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

/** What JavaScript would take for something else: lost digits, lone surrogates, NUL; and such keys. */
function faultOf(text: string, unknown: string): Fault | undefined {
  let fault: Fault | undefined
  if (!suspicious.test(text)) {
    JSON.parse(text)
    return
  }
  JSON.parse(text, function (key: string, value: unknown, context?: { source?: string }) {
    if (!fault) {
      const code = shadows.has(key) ? unknown : isExact(key, value, context?.source) || 'invalid'
      if (code !== true) fault = { path: [shown(key)], code, holder: this }
    } else if (fault.holder === value) {
      // From the inside out, by the names of what holds it.
      fault = { ...fault, path: [shown(key), ...fault.path], holder: this }
    }
    return value
  })
  return fault
}

// Auth took a password as it was, so it is tried as it is; one that is to be set has a rule of its own.
const asTyped = ['password', 'currentPassword']

const isExact = (key: string, value: unknown, source = '0') =>
  isWhole(key) &&
  (typeof value === 'number' ? exact(value, source) : isWhole(value) || asTyped.includes(key))

const isWhole = (value: unknown) =>
  typeof value !== 'string' || value.isWellFormed() && !value.includes('\0')

const shown = (key: string) => key.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
