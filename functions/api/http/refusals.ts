// Derives the error codes of an operation from its route definition: from its token, body, input and declared
// codes. Tests check every response against these.
import { z } from '@hono/zod-openapi'
import { type ErrorCode, isErrorCode } from '../../_shared/errors/errors.ts'
import { needs, type RouteDefinition } from './route-definition.ts'

const account = ['account_suspended', 'account_banned'] as const
/** Even a public route can return these codes, if the caller sends X-Expect-Identity. */
const expectedIdentity = ['token_invalid', ...account, 'identity_changed'] as const
const token = ['token_missing', 'token_expired', ...expectedIdentity] as const
const sentBody = [
  'body_not_json',
  'upload_timeout',
  'body_too_large',
  'content_type_unsupported',
] as const

export function codesOf(route: RouteDefinition): ErrorCode[] {
  const { method, security, tags, request = {}, errors = [], unlimited, always, unknownKey } = route
  const ofService = tags[0] === 'service'
  const { params, query, headers, body } = request
  const json = body?.content['application/json']
  const inputs = [params, query, headers, json && 'schema' in json && json.schema]
  return [
    ...new Set<ErrorCode>([
      ...(method === 'get' ? [] : sentBody),
      ...(security === undefined ? expectedIdentity : security.length ? token : []),
      ...(route.needs ? needs[route.needs] : []),
      ...(route.proof ? ['proof_required', 'passkey_required'] as const : []),
      ...errors,
      'validation_failed',
      ...(unknownKey ? [unknownKey] : []),
      ...inputs.flatMap((schema) => schema instanceof z.ZodType ? codesIn(schema) : []),
      ...(route.idempotent ? ['idempotency_mismatch'] as const : []),
      ...(unlimited || ofService ? [] : ['rate_limited'] as const),
      'internal',
      ...(ofService ? [] : ['service_unavailable', 'timeout'] as const),
      ...(ofService || always ? [] : ['maintenance'] as const),
    ]),
  ]
}

function codesIn(schema: z.core.$ZodType): ErrorCode[] {
  const def = schema._zod.def as z.core.$ZodTypeDef & Record<string, unknown>
  const checks = (def.checks ?? []).map((check) => check._zod.def)
  const said = [def, ...checks].map(({ error }) =>
    error?.({ code: 'unrecognized_keys', keys: [], input: {} } as never)
  )
  const inside = [...Object.values(def), ...Object.values(Object(def.shape))].flat()
    .filter((part) => part instanceof z.core.$ZodType)
  return [
    ...said.filter((code) => typeof code === 'string').filter(isErrorCode),
    ...inside.flatMap(codesIn),
  ]
}
