// Normalizes emails and Kuwaiti phone numbers. Constraints of the accounts table enforce the same rules.
import { z } from '@hono/zod-openapi'
import {
  atLeast,
  isUnfit,
  plainLine,
  typed,
  typedPlainly,
  unjudged,
  upTo,
  visible,
} from './texts.ts'

/** The prefixes of Kuwaiti mobile numbers. Must match private.mobile_prefixes (docs/deploy.md). */
export const mobilePrefixes = '5|6|9'
const phone = new RegExp(`^(?:\\+?965)?((?=${mobilePrefixes})[0-9]{8})$`)

/** Removes the separators of a phone number and replaces a leading 00 with +. Same as private.bare_phone. */
export const barePhone = (text: string) =>
  text.replace(/[[\] ().\u2010-\u2015\u2212-]/g, '').replace(/^00(?=965)/, '+')

/** Normalizes the phone number of a company or office. Same as private.office_phone. */
export function officePhone(text: string): string {
  const bare = barePhone(text)
  const national = /^(?:\+?965)?([0-9]{7,8})$/.exec(bare)?.[1] ?? ''
  if (/^([0-9]{8}|18[0-9]{5})$/.test(national)) return `+965${national}`
  return /^[234][0-9]{6}$/.test(national) ? `+9652${national}` : bare
}

function normalizePhone(text: string): string | undefined {
  const national = phone.exec(barePhone(text))?.[1]
  return national && `+965${national}`
}

// Auth accepts only ASCII before the @, and only ASCII domains with at least two labels.
const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/

function normalizeEmail(text: string): string | undefined {
  const [name, host, ...more] = text.toLowerCase().split('@')
  if (!host || more.length || name.length > 64 || !local.test(name)) return undefined
  const ascii = asciiDomain(host)
  const email = `${name}@${ascii}`
  return ascii && domain.test(ascii) && email.length <= 254 ? email : undefined
}

function asciiDomain(host: string): string | undefined {
  if (/^[a-z0-9.-]+$/.test(host)) return host
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(host)) return undefined
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return undefined
  }
}

export type Identifier = { kind: 'phone' | 'email'; value: string }

const longest = 320
const described = {
  type: 'string',
  maxLength: longest,
  description: 'An email or a Kuwaiti phone.',
  example: '51234567',
} as const

function identifierOf(text: string, context: z.RefinementCtx): Identifier {
  const plain = plainLine(text, longest)
  const asPhone = plain && normalizePhone(plain)
  if (asPhone) return { kind: 'phone', value: asPhone }
  const asEmail = plain && normalizeEmail(plain)
  if (asEmail) return { kind: 'email', value: asEmail }
  context.addIssue({ code: 'custom', message: 'identifier_invalid' })
  return z.NEVER
}

export const Identifier = typed(longest, { error: 'identifier_invalid' }).transform(identifierOf)
  .openapi(described)

/**
 * A text that is far too long or has a run of combining marks (isUnfit) becomes undefined and is then refused
 * like a wrong password.
 */
export const SignInIdentifier = unjudged(longest, 'identifier_invalid')
  .transform((text, context) => isUnfit(text, longest) ? undefined : identifierOf(text, context))
  .openapi(described)

/** At least 8 code points, at most the 72 bytes that bcrypt reads, no NUL, no lone surrogates. */
export const NewPassword = z
  .string({ error: 'password_too_short' })
  .max(72, { error: 'password_too_long', abort: true })
  .refine((text) => text.isWellFormed() && !text.includes('\0'), { error: 'invalid' })
  .refine((text) => [...text].length >= 8, { error: 'password_too_short' })
  .refine((text) => new TextEncoder().encode(text).length <= 72, { error: 'password_too_long' })
  .openapi({ type: 'string', minLength: 8, maxLength: 72, description: 'At most 72 bytes.' })

// Four times the number of bytes that bcrypt reads.
const longestPassword = 288

/** Accepts any password that might be correct, because Auth may have had other rules when it was set. */
export const Password = z.string().min(1).max(longestPassword)
  .describe('The password of the account.')

export const SignInPassword = unjudged(longestPassword).min(1)
  .transform((text) => text.length > longestPassword ? undefined : text)
  .openapi({
    type: 'string',
    minLength: 1,
    maxLength: longestPassword,
    description: 'The password of the account.',
  })

export const Code = typedPlainly(6, { error: 'otp_invalid' })
  .overwrite((text) => text.replace(/[ \u2010-\u2015\u2212-]/g, ''))
  .refine((text) => /^[0-9]{6}$/.test(text), { error: 'otp_invalid' })
  .openapi({
    type: 'string',
    maxLength: 24,
    description: 'Six digits, with or without blanks and dashes.',
    example: '042913',
  })

// Matches control, format and separator characters, except a joiner before a letter (see private.is_name).
const invisible =
  /(?![\u200C\u200D]\p{L})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

export const PersonName = visible(120)
  .check(upTo(120), atLeast(2))
  .refine((text) => !invisible.test(text))
  .openapi({ type: 'string', minLength: 2, maxLength: 120 })
