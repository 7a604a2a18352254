/** The sockets of a process, and their accounts. */
import { env } from '../../_shared/env.ts'
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

  /** It showed a good token: from now on it hears what its account's channel, as named then, says. */
  follow(session: OpenSession, opened: Opened): Account {
    const id = session.credentials.caller!.sub!
    const account = this.accounts.get(id) ?? new Account(opened)
    this.accounts.set(id, account)
    account.add(session, opened.realtimeTopic)
    // The oldest goes: a phone that comes back must not be kept out by sockets that it lost.
    const { size } = account.sessions
    const [oldest] = account.sessions
    if (size > env.gatewaySockets) oldest!.close(closeCodes.tooMany, 'rate_limited')
    return account
  }

  /** It hears nothing more. */
  unfollow(session: OpenSession, account: Account): void {
    if (account.remove(session)) this.accounts.delete(session.credentials.caller!.sub!)
  }
}
