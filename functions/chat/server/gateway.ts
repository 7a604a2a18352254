/**
 * The chat gateway (contract, section 6): sockets for clients that speak the specification's
 * events. It carries Realtime and keeps nothing that Realtime and the database do not have.
 */
import { env } from '../../_shared/env.ts'
import { Account } from './account.ts'
import { closes, subprotocol, tokenPrefix } from '../protocol.ts'
import { notUpgraded } from './refusals.ts'
import { type House, Session } from './session.ts'
import { keepStanding } from './standing.ts'
import { hangUp } from './upstream.ts'
import type { Asked, Decision } from './wire.ts'
import { prefersEnglish } from '../../_shared/error-body.ts'

type Choice = {
  /** When a socket that opens at this time must end. */
  endOf: (opened: number) => number
}

// More than this in one process would only slow the others down.
const mostSockets = 10_000
const patience = 2000

export type Gateway = {
  decide: (asked: Asked) => Decision
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

  const opening = (token: string | undefined, english: boolean): Decision => ({
    open: (wire) => {
      const session = new Session(wire, house, { token, english })
      sessions.add(session)
      return session
    },
  })

  function decide({ path, query, headers }: Asked): Decision {
    if (!/^\/(functions\/v1\/)?chat\/?$/.test(path)) {
      return { refuse: 404, code: 'route_not_found' }
    }
    if (headers.get('upgrade')?.toLowerCase() !== 'websocket') return notUpgraded
    const origin = headers.get('origin')
    if (origin !== null && !env.corsOrigins.includes(origin)) {
      return { refuse: 422, code: 'validation_failed', path: 'Origin' }
    }
    if (stopping || sessions.size >= mostSockets) {
      return { refuse: 503, code: 'service_unavailable' }
    }
    const offered = (headers.get('sec-websocket-protocol') ?? '').split(/\s*,\s*/).filter(Boolean)
    const bearer = offered.find((name) => name.startsWith(tokenPrefix))
    // A browser needs one of its own back; the token only when it offered nothing else.
    const protocol = offered.includes(subprotocol) ? subprotocol : bearer
    if (hasToken(query)) return { protocol, open: tokenInQuery }
    const token = tokenOf(headers.get('authorization')) ?? bearer?.slice(tokenPrefix.length)
    return {
      ...opening(token, prefersEnglish(headers.get('accept-language') ?? '')),
      ...(protocol !== undefined && { protocol }),
    }
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

const tokenInQuery: Extract<Decision, { open: unknown }>['open'] = (wire) => {
  wire.close(closes.tokenInQuery, 'no token in the address')
  return { text: () => Promise.resolve(), closed: () => {} }
}
