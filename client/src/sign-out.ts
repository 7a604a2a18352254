// Ends sessions at the service after this device has already deleted them.
import { isApiError } from './errors.ts'
import { Http, type HttpOptions } from './http.ts'
import { renewalBy, SessionKeeper } from './keeper.ts'
import { givenTokens, memoryStorage, type Session } from './session.ts'

/** How many milliseconds a sign-out waits for the service. */
const patience = 5000
/** The maximum number of failures. After that the sign-out is given up, as the tokens are deleted anyway. */
const mostTries = 20

export class SignOuts {
  private readonly options: HttpOptions
  /** For each session that the service has not ended yet: its HTTP client and the number of attempts. */
  private readonly untold = new Map<Http, number>()

  constructor(options: HttpOptions) {
    this.options = { ...options, timeout: Math.min(options.timeout, patience) }
  }

  /** Ends a session whose tokens are stored nowhere else any more. */
  async end(session: Session): Promise<void> {
    const keeper = new SessionKeeper(memoryStorage(), (token) => renewalBy(http)(token))
    const http: Http = new Http(this.options, keeper)
    await keeper.set(session)
    await this.tell(http)
  }

  /** Ends the session of a token that the app manages itself. */
  async endByToken(token: string): Promise<void> {
    await this.tell(new Http(this.options, givenTokens(() => token, () => {})))
  }

  /** Retries all pending sign-outs. Called when the service can be reached again. */
  retry(): void {
    for (const [http, tries] of this.untold) void this.tell(http, tries)
  }

  private async tell(http: Http, tries = 0): Promise<void> {
    this.untold.delete(http)
    try {
      await http.send('post', { route: '/auth/logout', body: { scope: 'local' } })
    } catch (error) {
      // An error that is not temporary means that the session no longer exists.
      if (!isApiError(error)) throw error
      if (error.temporary && tries < mostTries) this.untold.set(http, tries + 1)
    }
  }
}
