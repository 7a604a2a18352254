import { generateKeyPairSync, verify } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Received = {
  token: string
  title: string
  body: string
  data: Record<string, string>
  // The whole message as received.
  // deno-lint-ignore no-explicit-any
  message: any
  bearer: string
}

type Answer = (response: ServerResponse) => unknown

export type FcmStub = {
  settings: { FCM_URL: string; FCM_SERVICE_ACCOUNT: string }
  received: Received[]
  /** Responses for particular push tokens; pushes to all others succeed. */
  answers: Map<string, Answer>
  /** The response of the token service; if undefined, the service issues a token. */
  tokenAnswer?: Answer
  /** Lifetime of an access token in seconds. */
  tokenLife: number
  /** Issued access tokens; only those still in this list are accepted. */
  tokens: string[]
  tokensGiven: number
  mostOpen: number
  sentTo: (token: string) => Received[]
  stop: () => Promise<void>
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const email = 'push@kuwait-property.iam.gserviceaccount.com'

export const answer = (status: number, body: unknown, headers = {}): Answer => (response) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body))

export const failure = (status: number, errorCode?: string, more: object = {}, headers = {}) =>
  answer(status, {
    error: {
      code: status,
      message: 'no',
      details: errorCode
        ? [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }]
        : [],
      ...more,
    },
  }, headers)

const parsed = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())

function fault(assertion: string): string | undefined {
  const [head, claims, signature] = assertion.split('.')
  const { alg } = parsed(head!)
  const { iss, aud, scope, iat, exp } = parsed(claims!)
  if (alg !== 'RS256') return 'alg'
  const signed = Buffer.from(`${head}.${claims}`)
  if (!verify('sha256', signed, publicKey, Buffer.from(signature!, 'base64url'))) return 'signature'
  if (iss !== email || aud !== 'https://oauth2.googleapis.com/token') return 'iss or aud'
  if (scope !== 'https://www.googleapis.com/auth/firebase.messaging') return 'scope'
  return exp - iat > 3600 || exp * 1000 < Date.now() ? 'time' : undefined
}

export async function startFcmStub(): Promise<FcmStub> {
  let open = 0
  const giveToken = (text: string, response: ServerResponse) => {
    if (stub.tokenAnswer) return stub.tokenAnswer(response)
    const problem = fault(new URLSearchParams(text).get('assertion') ?? '..')
    if (problem) {
      return answer(400, { error: 'invalid_grant', error_description: problem })(response)
    }
    const token = `ya29.${++stub.tokensGiven}`
    stub.tokens.push(token)
    return answer(200, { access_token: token, expires_in: stub.tokenLife })(response)
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    if (request.url === '/token') return giveToken(text, response)
    if (request.url !== '/v1/projects/kuwait-property/messages:send') {
      return answer(404, '<html>')(response)
    }
    const bearer = request.headers.authorization?.replace('Bearer ', '') ?? ''
    if (!stub.tokens.includes(bearer)) {
      return failure(401, undefined, { status: 'UNAUTHENTICATED' })(response)
    }
    const { message } = JSON.parse(text)
    const { token, notification, data } = message
    stub.mostOpen = Math.max(stub.mostOpen, ++open)
    response.on('close', () => open--)
    stub.received.push({ token, ...notification, data, message, bearer })
    const given = stub.answers.get(token)
    if (given) return given(response)
    return answer(200, { name: 'projects/kuwait-property/messages/1' })(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: FcmStub = {
    settings: {
      FCM_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      FCM_SERVICE_ACCOUNT: JSON.stringify({
        type: 'service_account',
        project_id: 'kuwait-property',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        client_email: email,
        token_uri: 'https://oauth2.googleapis.com/token',
      }),
    },
    received: [],
    answers: new Map(),
    tokenLife: 3600,
    tokens: [],
    tokensGiven: 0,
    mostOpen: 0,
    sentTo: (token) => stub.received.filter((one) => one.token === token),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}
