// Records the error codes that each operation returns during the suite, because every code in the OpenAPI
// description must occur. answers.ts reports codes that are missing from the description.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { variable } from '../../local/config/environment.ts'

/** Codes about tokens, bodies and rate limits come from shared code, so one operation per code is enough. */
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
  'maintenance',
]

/** Codes in the OpenAPI description that cannot be reproduced on every machine, with the reason. */
const neverSeen: Record<string, string> = {
  internal: 'nothing may fail that way',
  timeout: 'the database gives up sooner, as service_unavailable',
  upload_timeout: 'bodies that stop are sent as bytes, past the recorder',
  'verify_otp invalid_credentials': 'an account that somebody takes over in the same moment',
  'verify_otp phone_taken': 'an account that gets the number by another way in the same moment',
}

/** Operations that share a handler also share the codes recorded for any of them. */
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
  // Test files write in parallel, but a line is a single write, so lines do not mix.
  appendFileSync(file, `${line}\n`)
}

export const recordAnswer = (id: string, code: string) => note(`answered ${id} ${code}`)
const recordDescribed = (id: string, code: string) => note(`described ${id} ${code}`)

export async function recordDescription() {
  if (!variable('ANSWERED_CODES')) return
  const { everyOperation } = await import('./openapi.ts')
  for (const { id, codes } of everyOperation) for (const code of codes) recordDescribed(id, code)
}

/** Returns described codes that never occurred, and entries of neverSeen that are not described. */
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
