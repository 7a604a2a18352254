// The chat gateway (docs/contract/chat.md), for clients that cannot use Realtime directly. It forwards events
// from Realtime and stores nothing itself.
import { isAllowedOrigin } from '../../_shared/caller/origins.ts'
import { prefersEnglish } from '../../_shared/errors/error-body.ts'
import { forThisRequest, inRequest } from '../../_shared/errors/log.ts'
import { closeCodes, subprotocol, tokenPrefix } from '../protocol.ts'
import { startAccessChecks } from './access-check.ts'
import { notUpgrade } from './http-refusal.ts'
import { closeAll } from './realtime-connection.ts'
import { SessionRegistry } from './session-registry.ts'
import { Session } from './session.ts'
import type { ClientSocket, SocketHandler, UpgradeDecision, UpgradeRequest } from './socket.ts'

type Options = {
  /** Returns when to close a socket with code 1012, given the time it was opened. Infinity means never. */
  endOf: (openedAt: number) => number
}

// With more sockets in one process, all of them would become slow.
const mostSockets = 10_000
const answerTime = 2000

export type Gateway = {
  sockets: () => number
  decide: (request: UpgradeRequest) => UpgradeDecision
  close: (code: number, reason: string) => void
  /**
   * Refuses new sockets, waits up to `answerTime` for responses to accepted frames, and closes all sockets.
   */
  stop: (code: number) => Promise<void>
}

export function openGateway({ endOf }: Options): Gateway {
  const registry = new SessionRegistry<Session>()
  const { sessions } = registry
  const accessChecks = startAccessChecks(sessions)
  let stopping = false

  const opening = (token: string | undefined, headers: Headers): UpgradeDecision => ({
    open: (socket) =>
      inRequest(headers.get('traceparent'), () => {
        const english = prefersEnglish(headers.get('accept-language') ?? '')
        const session = new Session(socket, registry, { token, english, endsAt: endOf(Date.now()) })
        registry.add(session)
        return {
          message: forThisRequest((text: string) => session.message(text)),
          closed: forThisRequest(() => session.closed()),
        }
      }),
  })

  function decide({ path, query, headers }: UpgradeRequest): UpgradeDecision {
    if (!/^\/(functions\/v1\/)?chat\/?$/.test(path)) {
      return { refuse: 404, code: 'route_not_found' }
    }
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket') return notUpgrade
    const origin = headers.get('origin')
    if (origin !== null && !isAllowedOrigin(origin)) {
      return { refuse: 422, code: 'validation_failed', path: 'Origin' }
    }
    if (stopping || sessions.size >= mostSockets) {
      return { refuse: 503, code: 'service_unavailable' }
    }
    if (hasToken(query)) return { open: refuseTokenInQuery }
    const offered = namesIn(headers.get('sec-websocket-protocol') ?? '')
    const token = tokenOf(headers.get('authorization')) ??
      bearerOf(offered)?.slice(tokenPrefix.length)
    return opening(token, headers)
  }

  const close = (code: number, reason: string) =>
    sessions.forEach((session) => session.close(code, reason))

  return {
    sockets: () => sessions.size,
    decide,
    close,
    async stop(code) {
      stopping = true
      accessChecks.stop()
      await Promise.race([
        Promise.all([...sessions].map((session) => session.settled())),
        new Promise((resolve) => setTimeout(resolve, answerTime)),
      ])
      close(code, 'the server stops')
      closeAll()
    },
  }
}

/**
 * Splits at commas and then trims. A regular expression that also matches spaces would take quadratic time.
 */
export const namesIn = (header: string) => header.split(',').map((name) => name.trim())

const bearerOf = (offered: string[]) => offered.find((name) => name.startsWith(tokenPrefix))

/**
 * Browsers require one of the offered protocols in the response. The one with the token is returned only if
 * `chat` was not offered.
 */
export const agreedSubprotocol = (offered: string[]) =>
  offered.includes(subprotocol) ? subprotocol : bearerOf(offered)

/** Returns the token in the header. A header without a bearer token counts as an invalid token. */
function tokenOf(authorization: string | null): string | undefined {
  if (authorization === null) return undefined
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/** Tokens in URLs end up in logs, so they are refused even if the client also sends a token in a header. */
const hasToken = (query: URLSearchParams) =>
  [...query].some(([name, value]) =>
    /^(access_?token|token|jwt|bearer|authorization)$/i.test(name) ||
    /^[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}$/.test(value)
  )

function refuseTokenInQuery(socket: ClientSocket): SocketHandler {
  socket.close(closeCodes.tokenInQuery, 'no token in the address')
  return { message: () => Promise.resolve(), closed: () => {} }
}
