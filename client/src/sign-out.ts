// Tells the service to end sessions that this device has already forgotten.
import { isApiError } from './errors.ts'
import { Http, type HttpOptions } from './http.ts'
import { renewalBy, SessionKeeper } from './keeper.ts'
import { givenTokens, memoryStorage, type Session } from './session.ts'

/** A sign-out waits at most this many milliseconds for the service. */
const patience = 5000
/** A sign-out gives up after this many failures, because the session's tokens are gone anyway. */
const mostTries = 20

export class SignOuts {
  private readonly options: HttpOptions
  /** The clients of sessions that the service has not ended yet, with the number of tries. */
  private readonly untold = new Map<Http, number>()

  constructor(options: HttpOptions) {
    this.options = { ...options, timeout: Math.min(options.timeout, patience) }
  }

  /** Ends a session whose tokens exist nowhere else any more. */
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

  /** Tries again, now that the service can be reached. */
  retry(): void {
    for (const [http, tries] of this.untold) void this.tell(http, tries)
  }

  private async tell(http: Http, tries = 0): Promise<void> {
    this.untold.delete(http)
    try {
      await http.send('post', { route: '/auth/logout', body: { scope: 'local' } })
    } catch (error) {
      // A refusal that is not temporary means that the session is gone.
      if (!isApiError(error)) throw error
      if (error.temporary && tries < mostTries) this.untold.set(http, tries + 1)
    }
  }
}
