import { decodeJwt } from 'jose'
import { callerOf } from '../../_shared/auth/tokens.ts'
import type { Caller } from '../../_shared/caller/context.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { Refusal } from '../../_shared/errors/refusal.ts'

export class Credentials {
  /** Set once a valid token has been received. */
  caller: Caller | undefined
  sessionId = ''
  /** The expiry of the token, in milliseconds since the epoch. */
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

  /** Replaces the token with a newer one. It must belong to the same account and session. */
  async renew(token: string): Promise<void> {
    this.renewing = true
    try {
      const caller = await callerWith(token)
      if (caller.claims !== this.caller!.claims) throw new Refusal('token_invalid')
      this.accept(caller, token)
    } finally {
      this.renewing = false
      // The old token may have expired while the renewal failed.
      if (this.expires <= Date.now()) this.onExpired()
    }
  }

  async refusal(): Promise<ErrorCode | undefined> {
    const { caller } = this
    if (!caller) return undefined
    const { ignored } = await callerOf(`Bearer ${caller.token}`)
    return caller === this.caller && ignored !== 'service_unavailable' ? ignored : undefined
  }

  release(): void {
    clearTimeout(this.timer)
  }
}

export async function callerWith(token: string): Promise<Caller> {
  const caller = await callerOf(`Bearer ${token}`)
  if (caller.role === 'anon') throw new Refusal(caller.ignored ?? 'token_invalid')
  return caller
}
