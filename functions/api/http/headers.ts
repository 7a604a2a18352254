// Request and response headers, as components of the OpenAPI description.

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }

export const requestHeaders = {
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description:
      'The language of texts in answers (errors, `priceLabel`, `text` of conditions, `preview`): English ' +
      'where `en` is preferred, else Arabic.',
    schema: { type: 'string' },
    example: 'en',
  },
  ExpectIdentity: {
    name: 'X-Expect-Identity',
    in: 'header',
    description:
      'The identity that the client takes for the acting one. If it is another by now, the answer is ' +
      '409 `identity_changed` and nothing is done. It never selects an identity. On a public route ' +
      'it counts beside a token only.',
    schema: { type: 'string', format: 'uuid' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to send the request again: for 24 hours the same key with the same body gives ' +
      'the first answer again, with another body 422 `idempotency_mismatch`. Up to 64 printable ' +
      'ASCII characters, best a random uuid.',
    schema: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[\\x20-\\x7e]{1,64}$' },
  },
  Proof: {
    name: 'X-Proof',
    in: 'header',
    description:
      'The `proof` of `POST /auth/sudo`, of this session: an administrator proves by it who sends this. ' +
      'Without one that counts, what needs it is 403 `proof_required`.',
    schema: { type: 'string', maxLength: 100 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The ETag of an earlier answer that may be kept: 304 if it is still the same.',
    schema: text,
  },
} as const

export const answerHeaders = {
  RequestId: {
    description: 'The number of this request in the logs; errors repeat it as `requestId`.',
    schema: { type: 'string', format: 'uuid' },
  },
  ApiVersion: {
    description: 'The version of the API, by its day. Within it changes only add.',
    schema: { ...text, example: '2026-11-01' },
  },
  Deprecation: {
    description: 'Since when it is announced that the route will go (RFC 9745).',
    schema: { ...text, example: '@1801440000' },
  },
  Sunset: {
    description: 'From when on the route may be gone (RFC 8594).',
    schema: { ...text, example: 'Tue, 01 Feb 2028 00:00:00 GMT' },
  },
  AuthIgnored: {
    description: '`1` where a token was sent that is not valid: the answer is that of a guest.',
    schema: { ...text, enum: ['1'] },
  },
  RateLimitLimit: { description: 'How many such requests the window allows.', schema: count },
  RateLimitRemaining: { description: 'How many of them are left.', schema: count },
  RateLimitReset: { description: 'Seconds until the window starts anew.', schema: count },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: count },
  CacheControl: {
    description:
      'To a guest `public`, with how long caches may keep it; else `private`, of meta with ' +
      '`max-age`, of everything else with `no-store`.',
    schema: text,
  },
  ETag: { description: 'Of an answer that may be kept, for If-None-Match.', schema: text },
} as const

type AnswerHeader = keyof typeof answerHeaders

const names: Record<AnswerHeader, string> = {
  RequestId: 'X-Request-Id',
  ApiVersion: 'X-Api-Version',
  Deprecation: 'Deprecation',
  Sunset: 'Sunset',
  AuthIgnored: 'X-Auth-Ignored',
  RateLimitLimit: 'RateLimit-Limit',
  RateLimitRemaining: 'RateLimit-Remaining',
  RateLimitReset: 'RateLimit-Reset',
  RetryAfter: 'Retry-After',
  CacheControl: 'Cache-Control',
  ETag: 'ETag',
}

const everyAnswer: AnswerHeader[] = ['RequestId', 'ApiVersion']
export const rateHeaders: AnswerHeader[] = [
  'RateLimitLimit',
  'RateLimitRemaining',
  'RateLimitReset',
]

export const withHeaders = (...more: AnswerHeader[]) =>
  Object.fromEntries(
    [...everyAnswer, ...more].map((
      header,
    ) => [names[header], { $ref: `#/components/headers/${header}` }]),
  )

export const requestHeader = (header: keyof typeof requestHeaders) => ({
  $ref: `#/components/parameters/${header}`,
})
