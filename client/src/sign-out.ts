/** Telling the service of a session that this device has forgotten already. */
import { isApiError } from './errors.ts'
import { Http, type HttpOptions } from './http.ts'
import { renewalBy, SessionKeeper } from './keeper.ts'
import { givenTokens, memoryStorage, type Session } from './session.ts'

/** Milliseconds that a sign-out waits for the service at most. */
const patience = 5000
/** What fails this often is let be: the session is of no use to anybody. */
const mostTries = 20

export class SignOuts {
  private readonly options: HttpOptions
  /** Those that the service does not know of, with how often it was told in vain. */
  private readonly untold = new Map<Http, number>()

  constructor(options: HttpOptions) {
    this.options = { ...options, timeout: Math.min(options.timeout, patience) }
  }

  /** Ends a session: its tokens are nowhere else any more. */
  async end(session: Session): Promise<void> {
    const keeper = new SessionKeeper(memoryStorage(), (token) => renewalBy(http)(token))
    const http: Http = new Http(this.options, keeper)
    await keeper.set(session)
    await this.tell(http)
  }

  /** Ends the session of a token that something else keeps. */
  async endByToken(token: string): Promise<void> {
    await this.tell(new Http(this.options, givenTokens(() => token, () => {})))
  }

  /** Tells again what could not be told, now that the service can be reached. */
  retry(): void {
    for (const [http, tries] of this.untold) void this.tell(http, tries)
  }

  private async tell(http: Http, tries = 0): Promise<void> {
    this.untold.delete(http)
    try {
      await http.send('post', { route: '/auth/logout', body: { scope: 'local' } })
    } catch (error) {
      // Any other refusal says that there is no such session.
      if (!isApiError(error)) throw error
      if (error.temporary && tries < mostTries) this.untold.set(http, tries + 1)
    }
  }
}
