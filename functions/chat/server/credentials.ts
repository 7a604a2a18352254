/** Whose a socket is, for as long as its token is good. */
import { decodeJwt } from 'jose'
import type { ErrorCode } from '../../_shared/errors.ts'
import { Refusal } from '../../_shared/refusal.ts'
import { type Caller, callerOf } from '../../_shared/tokens.ts'

export class Credentials {
  /** Set once a token was good. */
  caller: Caller | undefined
  sessionId = ''
  /** When the token ends, in milliseconds. */
  expires = 0
  private renewing = false
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly onExpired: () => void

  constructor(onExpired: () => void) {
    this.onExpired = onExpired
  }

  get expiresAt(): string {
    return new Date(this.expires).toISOString()
  }

  accept(caller: Caller, token: string): void {
    const { exp, session_id } = decodeJwt(token)
    this.caller = caller
    this.sessionId = String(session_id)
    this.expires = exp! * 1000
    clearTimeout(this.timer)
    this.timer = setTimeout(
      () => !this.renewing && this.onExpired(),
      Math.max(0, this.expires - Date.now()),
    )
  }

  /** Another token of the same account and session takes the place of the first. */
  async renew(token: string): Promise<void> {
    this.renewing = true
    try {
      const caller = await callerWith(token)
      if (caller.claims !== this.caller!.claims) throw new Refusal('token_invalid')
      this.accept(caller, token)
    } finally {
      this.renewing = false
      // The first one ended meanwhile.
      if (this.expires <= Date.now()) this.onExpired()
    }
  }

  /** Why the token counts no more, if so: its key may have been revoked. */
  async refusal(): Promise<ErrorCode | undefined> {
    const { caller } = this
    if (!caller) return undefined
    const { ignored } = await callerOf(`Bearer ${caller.token}`)
    return caller === this.caller && ignored !== 'service_unavailable' ? ignored : undefined
  }

  /** Expiry is not waited for any more. */
  release(): void {
    clearTimeout(this.timer)
  }
}

/** Who a token speaks for; refused unless it is good. */
export async function callerWith(token: string): Promise<Caller> {
  const caller = await callerOf(`Bearer ${token}`)
  if (caller.role === 'anon') throw new Refusal(caller.ignored ?? 'token_invalid')
  return caller
}
