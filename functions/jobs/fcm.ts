// Firebase Cloud Messaging, HTTP v1 API: one request per device.
import { importPKCS8, SignJWT } from 'jose'
import { alarm } from '../_shared/errors/alarms.ts'
import { fetchOnce, formType, textOf } from '../_shared/outside/http-client.ts'
import { isSecret } from '../_shared/settings/is-secret.ts'
import { refuseSecret, setting, variable } from '../_shared/settings/read-setting.ts'
import { missingInAccount } from '../_shared/settings/setting-kinds.ts'

export type Push = {
  id: number
  lease: string
  attempts: number
  token: string
  collapseKey: string
  category: string
  title: string
  body: string
  data: Record<string, string>
  badge: number
  /** A silent push has no text. It tells the app to update its badge. */
  silent: boolean
  expiresAt: number
}

/**
 * `dead`: the token no longer belongs to any device. `unknown`: FCM does not know the token; after three such
 * responses in a row the device is removed. `dropped`: the push can never be sent. `retry`: the push is
 * retried after at least `wait` seconds; `all` means that every other push would fail for the same reason.
 */
export type Outcome = {
  outcome: 'sent' | 'dead' | 'unknown' | 'dropped' | 'retry'
  wait?: number
  all?: boolean
  why?: string
  /** Whether to raise an alarm for the administrators. */
  alert?: boolean
}

type Account = { projectId: string; email: string; key: string; tokenUrl: string; url: string }

/**
 * Reads the service account (JSON from Google) in FCM_SERVICE_ACCOUNT. FCM_URL points to a stub instead of
 * Google.
 */
function readAccount(): Account | undefined {
  const text = variable('FCM_SERVICE_ACCOUNT')
  if (!text) return undefined
  const missing = missingInAccount(text)
  if (missing.length) {
    alarm('provider_not_configured', 'fcm', { missing })
    return undefined
  }
  const given = JSON.parse(text)
  if (!isSecret(given.private_key)) {
    refuseSecret('FCM_SERVICE_ACCOUNT')
    return undefined
  }
  const stub = setting('FCM_URL')?.replace(/\/$/, '')
  return {
    projectId: given.project_id,
    email: given.client_email,
    key: given.private_key,
    tokenUrl: stub ? `${stub}/token` : 'https://oauth2.googleapis.com/token',
    url: stub ?? 'https://fcm.googleapis.com',
  }
}

const account = readAccount()

/** While this is false, pushes wait in the outbox. */
export const configured = account !== undefined

type Answer = {
  status: number
  /** An empty object unless the response is JSON. */
  body: Record<string, unknown>
  retryAfter?: number
}

async function post(url: string, headers: Record<string, string>, body: BodyInit): Promise<Answer> {
  const response = await fetchOnce(url, { method: 'POST', headers, body })
  const text = await textOf(response)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The body is not JSON; the status code is enough.
  }
  return {
    status: response.status,
    body: Object(parsed),
    retryAfter: secondsOf(response.headers.get('retry-after')),
  }
}

/** Converts Retry-After, which is a number of seconds or a date, to seconds. At most an hour. */
function secondsOf(header: string | null): number | undefined {
  if (!header) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(3600, Math.max(0, Math.ceil(seconds))) : undefined
}

let token: { value: string; until: number } | undefined
let pendingToken: Promise<string> | undefined

class NoToken extends Error {}

async function requestToken({ email, key, tokenUrl }: Account): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  try {
    const assertion = await new SignJWT({
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(email)
      .setAudience('https://oauth2.googleapis.com/token')
      .setIssuedAt(now)
      .setExpirationTime(now + 3600)
      .sign(await importPKCS8(key, 'RS256'))
    const { status, body } = await post(
      tokenUrl,
      formType,
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion,
      }),
    )
    const life = Number(body.expires_in)
    if (status !== 200 || typeof body.access_token !== 'string' || !(life > 0)) {
      throw new NoToken(`HTTP ${status}`)
    }
    // Renew a token five minutes before it expires, or after half its lifetime if that is later.
    token = { value: body.access_token, until: Date.now() + Math.max(life - 300, life / 2) * 1000 }
    return token.value
  } catch (error) {
    // The error message could contain a part of the private key, which must not be logged.
    throw error instanceof NoToken ? error : new NoToken((error as Error).name)
  }
}

function accessToken(from: Account): Promise<string> {
  if (token && Date.now() < token.until) return Promise.resolve(token.value)
  return pendingToken ??= requestToken(from).finally(() => (pendingToken = undefined))
}

const lifeOf = ({ expiresAt }: Push) => Math.max(0, expiresAt - Math.floor(Date.now() / 1000))

/**
 * Apple requires a low priority and allows only content-available in `aps`; FCM refuses a high priority for
 * data-only messages. So the badge is sent as data.
 */
function silentMessage(push: Push) {
  const { token, data, collapseKey, badge, expiresAt } = push
  return {
    message: {
      token,
      data: { ...data, badge: String(badge) },
      android: { priority: 'NORMAL', ttl: `${lifeOf(push)}s`, collapse_key: collapseKey },
      apns: {
        headers: {
          'apns-push-type': 'background',
          'apns-priority': '5',
          'apns-expiration': String(expiresAt),
          'apns-collapse-id': collapseKey,
        },
        payload: { aps: { 'content-available': 1 } },
      },
    },
  }
}

function message(push: Push) {
  const { token, title, body, data, collapseKey, category, badge, expiresAt } = push
  const life = lifeOf(push)
  // The device replaces a notification that has the same key, so a push sent twice is shown once.
  return {
    message: {
      token,
      notification: { title, body },
      data,
      android: {
        priority: 'HIGH',
        ttl: `${life}s`,
        notification: { tag: collapseKey, channel_id: category },
      },
      apns: {
        headers: {
          'apns-priority': '10',
          'apns-expiration': String(expiresAt),
          'apns-collapse-id': collapseKey,
        },
        payload: { aps: { sound: 'default', badge, 'thread-id': collapseKey } },
      },
      webpush: {
        headers: { TTL: String(life), Urgency: 'high' },
        notification: { tag: collapseKey },
      },
    },
  }
}

/** Sends one push and returns its outcome. Never throws. */
export async function send(push: Push): Promise<Outcome> {
  try {
    let answer = await attempt(push, account!)
    if (answer.status === 401 && codeOf(answer) !== 'THIRD_PARTY_AUTH_ERROR') {
      token = undefined // the token may have been revoked: retry once with a new one
      answer = await attempt(push, account!)
    }
    return judge(answer)
  } catch (error) {
    if (error instanceof NoToken) {
      return {
        outcome: 'retry',
        wait: 60,
        all: true,
        why: `no_token ${error.message}`,
        alert: true,
      }
    }
    // The request timed out or was interrupted, so the push may have been sent.
    return { outcome: 'retry', why: (error as Error).name }
  }
}

async function attempt(push: Push, from: Account) {
  return await post(
    `${from.url}/v1/projects/${from.projectId}/messages:send`,
    {
      authorization: `Bearer ${await accessToken(from)}`,
      'content-type': 'application/json; charset=UTF-8',
    },
    JSON.stringify(push.silent ? silentMessage(push) : message(push)),
  )
}

type Detail = { errorCode?: unknown; fieldViolations?: { field?: unknown }[] }

const detailsOf = ({ body }: Answer) => {
  const { details } = Object(body.error) as { details?: unknown }
  return (Array.isArray(details) ? details : []).map((detail) => Object(detail) as Detail)
}

/** FCM's own error code; without one, INVALID_ARGUMENT if that is the status. */
function codeOf(answer: Answer): unknown {
  const { status } = Object(answer.body.error) as { status?: unknown }
  return detailsOf(answer).map(({ errorCode }) => errorCode).find(Boolean) ??
    (status === 'INVALID_ARGUMENT' ? status : undefined)
}

function judge(answer: Answer): Outcome {
  const { status, body, retryAfter } = answer
  const code = codeOf(answer)
  const why = `${status} ${code ?? ''}`.trim()
  if (status === 200 && typeof body.name === 'string') return { outcome: 'sent' }
  switch (code) {
    case 'UNREGISTERED':
      return { outcome: 'dead', why }
    case 'SENDER_ID_MISMATCH':
      return { outcome: 'dead', why, alert: true }
    case 'INVALID_ARGUMENT':
      // The token is dead only if the error is about the token.
      return { outcome: aboutToken(answer) ? 'dead' : 'dropped', why, alert: !aboutToken(answer) }
    case 'THIRD_PARTY_AUTH_ERROR':
      return { outcome: 'retry', wait: 600, why, alert: true }
    case 'QUOTA_EXCEEDED':
      return { outcome: 'retry', wait: Math.max(60, retryAfter ?? 0), all: true, why }
    case 'UNAVAILABLE':
      return { outcome: 'retry', wait: retryAfter, all: retryAfter !== undefined, why }
  }
  if (status === 429) {
    return { outcome: 'retry', wait: Math.max(60, retryAfter ?? 0), all: true, why }
  }
  if (status === 503) {
    return { outcome: 'retry', wait: retryAfter, all: retryAfter !== undefined, why }
  }
  // Without UNREGISTERED, a 404 does not prove that the token is dead: the project may have been deleted, or
  // the response may be an HTML page.
  if (status === 404) return { outcome: body.error ? 'unknown' : 'retry', why, alert: true }
  // The project or its permissions are misconfigured; the token may be fine.
  if ([401, 403].includes(status)) {
    return { outcome: 'retry', wait: 60, all: true, why, alert: true }
  }
  return { outcome: 'retry', why }
}

function aboutToken(answer: Answer): boolean {
  const { message } = Object(answer.body.error) as { message?: unknown }
  return /registration token is not a valid/i.test(String(message)) ||
    detailsOf(answer).some(({ fieldViolations }) =>
      Array.isArray(fieldViolations) &&
      fieldViolations.some(({ field }) => field === 'message.token')
    )
}
