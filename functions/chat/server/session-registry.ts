import { env } from '../../_shared/settings/env.ts'
import { closeCodes } from '../protocol.ts'
import { Account } from './account.ts'
import type { Opened, OpenSession } from './interfaces.ts'

export class SessionRegistry<Session extends OpenSession> {
  readonly sessions = new Set<Session>()
  private readonly accounts = new Map<string, Account>()

  add(session: Session): void {
    this.sessions.add(session)
  }

  remove(session: Session): void {
    this.sessions.delete(session)
  }

  follow(session: OpenSession, opened: Opened): Account {
    const id = session.credentials.caller!.sub!
    const account = this.accounts.get(id) ?? new Account(opened)
    this.accounts.set(id, account)
    account.add(session, opened.realtimeTopic)
    // Close the oldest socket rather than refuse the new one: a phone that reconnects must not be locked out
    // by its own dead sockets.
    const { size } = account.sessions
    const [oldest] = account.sessions
    if (size > env.gatewaySockets) oldest!.close(closeCodes.tooMany, 'rate_limited')
    return account
  }

  unfollow(session: OpenSession, account: Account): void {
    if (account.remove(session)) this.accounts.delete(session.credentials.caller!.sub!)
  }
}
