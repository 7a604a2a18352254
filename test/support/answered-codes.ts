/**
 * Which error codes each operation answered in the suite: what is described must have been seen. That
 * nothing else is answered, answers.ts finds at once.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { variable } from '../../local/config/environment.ts'

/** What follows from token, body and rates is the same code for all: one operation shows it. */
const common = [
  'token_missing',
  'token_expired',
  'token_invalid',
  'account_suspended',
  'account_banned',
  'identity_changed',
  'body_not_json',
  'body_too_large',
  'content_type_unsupported',
  'idempotency_mismatch',
  'rate_limited',
  'service_unavailable',
]

/** Described, and not to be had in a test that holds on every machine. */
const neverSeen: Record<string, string> = {
  internal: 'nothing may fail that way',
  timeout: 'the database gives up sooner, as service_unavailable',
  upload_timeout: 'bodies that stop are sent as bytes, past the recorder',
  'verify_otp invalid_credentials': 'an account that somebody takes over in the same moment',
  'verify_otp phone_taken': 'an account that gets the number by another way in the same moment',
}

/** Operations that are one handler: what one of them answered, all may. */
const handlers: Record<string, string> = {
  register_individual: 'register',
  sign_in_with_apple: 'sign_in_with_google',
  receive_webhook: 'receive_webhook_of',
  begin_email_change: 'begin_phone_change',
  verify_email_change: 'verify_phone_change',
  remove_provider: 'remove_phone',
  quick_count_listings: 'count_listings',
}
const handlerOf = (id: string) =>
  handlers[id] ?? id.replace('offices', 'companies').replace('office', 'company')

const noted = new Set<string>()

function note(line: string) {
  const file = variable('ANSWERED_CODES')
  if (!file || noted.has(line)) return
  noted.add(line)
  // Files run side by side; a line is one write.
  appendFileSync(file, `${line}\n`)
}

export const recordAnswer = (id: string, code: string) => note(`answered ${id} ${code}`)
const recordDescribed = (id: string, code: string) => note(`described ${id} ${code}`)

/** Notes what the API says that its operations answer. */
export async function recordDescription() {
  if (!variable('ANSWERED_CODES')) return
  const { everyOperation } = await import('./openapi.ts')
  for (const { id, codes } of everyOperation) for (const code of codes) recordDescribed(id, code)
}

/** The described codes that no answer of the suite had, and the exceptions of codes that are not described. */
export function unansweredCodes(file: string): string[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) =>
    line.split(' ')
  )
  const keyOf = ([, id, code]: string[]) =>
    common.includes(code!) ? code! : `${handlerOf(id!)} ${code}`
  const keysOf = (kind: string) => lines.filter(([one]) => one === kind).map(keyOf)
  const answered = new Set(keysOf('answered'))
  const described = new Set(keysOf('described'))
  const unanswered = [...described].filter((key) =>
    !answered.has(key) && !neverSeen[key] && !neverSeen[key.split(' ')[1]!]
  )
  const codes = new Set([...described].map((key) => key.split(' ')[1]))
  const needless = Object.keys(neverSeen)
    .filter((key) => described.size > 0 && !described.has(key) && !codes.has(key))
    .map((key) => `${key} (an exception, and not described)`)
  return [...unanswered, ...needless].sort()
}
