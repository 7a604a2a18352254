/**
 * The chat gateway (contract, section 6): sockets for clients that do not speak Realtime. It carries
 * Realtime to them and keeps nothing that Realtime and the database do not have.
 */
import { env } from '../../_shared/env.ts'
import { prefersEnglish } from '../../_shared/error-body.ts'
import { Account } from './account.ts'
import { closes, subprotocol, tokenPrefix } from '../protocol.ts'
import { notUpgrade } from './http-refusal.ts'
import { type House, Session } from './session.ts'
import { keepStanding } from './standing.ts'
import { hangUp } from './upstream.ts'
import type { ClientSocket, SocketHandler, UpgradeDecision, UpgradeRequest } from './socket.ts'

type Choice = {
  /** When a socket that opens at this time must end. */
  endOf: (opened: number) => number
}

// More than this in one process would only slow the others down.
const mostSockets = 10_000
const patience = 2000

export type Gateway = {
  decide: (request: UpgradeRequest) => UpgradeDecision
  /** Closes the sockets that there are, at once. */
  close: (code: number, reason: string) => void
  /** Takes no more, answers what was accepted and closes. */
  stop: (code: number) => Promise<void>
}

export function openGateway({ endOf }: Choice): Gateway {
  const sessions = new Set<Session>()
  const accounts = new Map<string, Account>()
  let stopping = false

  const house: House = {
    endOf,
    entered(session, topic) {
      const id = session.caller!.sub!
      const account = accounts.get(id) ?? new Account(topic)
      accounts.set(id, account)
      account.enter(session, topic)
      // The oldest goes: a phone that comes back must not be kept out by sockets that it lost.
      const { size } = account.sessions
      const [oldest] = account.sessions
      if (size > env.gatewaySockets) oldest!.close(closes.tooMany, 'rate_limited')
      return account
    },
    deaf(session) {
      if (session.account?.leave(session)) accounts.delete(session.caller!.sub!)
    },
    left: (session) => sessions.delete(session),
  }

  const opening = (token: string | undefined, english: boolean): UpgradeDecision => ({
    open: (socket) => {
      const session = new Session(socket, house, { token, english })
      sessions.add(session)
      return session
    },
  })

  function decide({ path, query, headers }: UpgradeRequest): UpgradeDecision {
    if (!/^\/(functions\/v1\/)?chat\/?$/.test(path)) {
      return { refuse: 404, code: 'route_not_found' }
    }
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket') return notUpgrade
    const origin = headers.get('origin')
    if (origin !== null && !env.corsOrigins.includes(origin)) {
      return { refuse: 422, code: 'validation_failed', path: 'Origin' }
    }
    if (stopping || sessions.size >= mostSockets) {
      return { refuse: 503, code: 'service_unavailable' }
    }
    if (hasToken(query)) return { open: tokenInQuery }
    const offered = (headers.get('sec-websocket-protocol') ?? '').split(/\s*,\s*/)
    const token = tokenOf(headers.get('authorization')) ??
      bearerOf(offered)?.slice(tokenPrefix.length)
    return opening(token, prefersEnglish(headers.get('accept-language') ?? ''))
  }

  const standing = keepStanding(sessions)

  const close = (code: number, reason: string) =>
    sessions.forEach((session) => session.close(code, reason))

  return {
    decide,
    close,
    async stop(code) {
      stopping = true
      standing.stop()
      await Promise.race([
        Promise.all([...sessions].map((session) => session.settled())),
        new Promise((resolve) => setTimeout(resolve, patience)),
      ])
      close(code, 'the server stops')
      hangUp()
    },
  }
}

const bearerOf = (offered: string[]) => offered.find((name) => name.startsWith(tokenPrefix))

/** A browser needs one of its own back; the token only when it offered nothing else. */
export const agreedSubprotocol = (offered: string[]) =>
  offered.includes(subprotocol) ? subprotocol : bearerOf(offered)

/** The token of the header; what is there and no bearer token is a bad one. */
function tokenOf(authorization: string | null): string | undefined {
  if (authorization === null) return undefined
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/** Tokens in addresses end up in logs: whoever sends one there is told so, whatever else it has. */
const hasToken = (query: URLSearchParams) =>
  [...query].some(([name, value]) =>
    /^(access_?token|token|jwt|bearer|authorization)$/i.test(name) ||
    /^[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}$/.test(value)
  )

function tokenInQuery(socket: ClientSocket): SocketHandler {
  socket.close(closes.tokenInQuery, 'no token in the address')
  return { message: () => Promise.resolve(), closed: () => {} }
}
