/**
 * Who is signed in: kept between starts of the app, the same in all its tabs, renewed once for all that
 * need it.
 */
import { isApiError } from './errors.ts'
import type { Http } from './http.ts'
import {
  asSession,
  boundTo,
  type Caller,
  type Session,
  type SessionListener,
  sessionOf,
  type Storage,
  type TokenSource,
} from './session.ts'

const key = 'kuwait-property.session'
/** Milliseconds before its end in which a token is renewed. */
const margin = 30_000

/** `until` is by the clock of this device, which may differ from the server's. */
type Kept = { session: Session; until: number }

/** How a session is renewed. */
export const renewalBy = (http: Http) => async (refreshToken: string): Promise<Session> => {
  const call = { route: '/auth/refresh', body: { refreshToken }, asGuest: true }
  return asSession(await http.send<Session>('post', call))
}

/** Browsers tell of what another tab has stored, and when somebody comes back to this one. */
const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>
const occasions = ['storage', 'visibilitychange']

const keptFrom = (session: Session | undefined): Kept | undefined =>
  session && { session, until: Date.now() + session.expiresIn * 1000 }

const isOf = (kept: Kept | undefined, session: Session) =>
  kept !== undefined && sessionOf(kept.session.accessToken) === sessionOf(session.accessToken)

export class SessionKeeper implements TokenSource {
  private readonly storage: Storage
  private readonly refresh: (refreshToken: string) => Promise<Session>
  private readonly listeners = new Set<SessionListener>()
  private kept: Kept | undefined
  /**
   * What the storage had when it was last read or written: anything else is another tab's. Undefined
   * where it could not be read after it was written.
   */
  private seen: string | null | undefined = null
  private loaded = false
  private turn: Promise<unknown> = Promise.resolve()
  private renewal: Promise<void> | undefined

  constructor(storage: Storage, refresh: (refreshToken: string) => Promise<Session>) {
    this.storage = storage
    this.refresh = refresh
  }

  /** Who is signed in, as far as this tab knows. */
  get known(): Session | undefined {
    return this.kept?.session
  }

  async current(): Promise<Session | undefined> {
    await this.look()
    return this.known
  }

  /** Somebody signed in. */
  set(session: Session): Promise<void> {
    return this.inTurn(() => this.keep(keptFrom(session)))
  }

  /** The account or its identity changed; the tokens are the same. */
  update(changes: Pick<Session, 'user'> & Partial<Session>): Promise<void> {
    return this.inTurn(async () => {
      await this.takeStored()
      const { kept } = this
      if (kept?.session.user.id !== changes.user.id) return
      await this.keep({ ...kept, session: { ...kept.session, ...changes } })
    })
  }

  /** Forgets this session, or whichever there is, and gives it; one that took its place stays. */
  leave(known: Session | undefined): Promise<Session | undefined> {
    return this.inTurn(async () => {
      await this.takeStored()
      const left = known ?? this.known
      if (!left || !isOf(this.kept, left)) return left
      const newest = this.known
      await this.keep(undefined)
      return newest
    })
  }

  onChange(listen: SessionListener): () => void {
    this.listeners.add(listen)
    if (this.listeners.size === 1) {
      // What is there already is not told, what comes is.
      void this.look()
      for (const one of occasions) page.addEventListener?.(one, this.look)
    }
    return () => {
      this.listeners.delete(listen)
      if (this.listeners.size) return
      for (const one of occasions) page.removeEventListener?.(one, this.look)
    }
  }

  /** Tells every listener, whatever one of them throws. */
  tell(session: Session | undefined, reason?: unknown): void {
    for (const listen of [...this.listeners]) {
      try {
        listen(session, reason)
      } catch (error) {
        console.error(error)
      }
    }
  }

  caller(): Caller {
    let begun = this.kept
    const tokenNow = async (refused?: string) => {
      const token = await this.tokenNow(refused)
      begun ??= this.kept
      return token
    }
    return {
      ...boundTo(begun && sessionOf(begun.session.accessToken), tokenNow),
      identityId: () => begun?.session.activeIdentity?.id,
    }
  }

  accessToken(): Promise<string | undefined> {
    return this.tokenNow()
  }

  private async tokenNow(refused?: string): Promise<string | undefined> {
    await this.look()
    const { kept } = this
    const isOld = refused ? kept?.session.accessToken === refused : kept && isEnding(kept)
    if (isOld) await this.renew()
    return this.kept?.session.accessToken
  }

  /** One renewal at a time, for whoever needs it. */
  private renew(): Promise<void> {
    return this.renewal ??= this.renewNow().finally(() => (this.renewal = undefined))
  }

  private async renewNow(): Promise<void> {
    const { session } = this.kept!
    try {
      await this.replace(session, await this.refresh(session.refreshToken))
    } catch (error) {
      // Only the service ends a session, not what stands between.
      const isRefused = isApiError(error) && error.code !== 'connection' &&
        (error.status === 401 || error.status === 403)
      if (!isRefused) throw error
      await this.replace(session, undefined, error)
    }
  }

  /** The renewed session or none in its place, unless this tab or another has another by now. */
  private replace(old: Session, next: Session | undefined, reason?: unknown): Promise<void> {
    return this.inTurn(async () => {
      await this.takeStored()
      if (this.kept?.session.refreshToken === old.refreshToken) {
        await this.keep(keptFrom(next), reason)
      }
    })
  }

  // The storage -----------------------------------------------------------------------------------

  /** One after another, so that nothing comes between what is read and what is written. */
  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.turn.then(work, work)
    this.turn = done
    return done
  }

  private readonly look = (): Promise<void> => this.inTurn(() => this.takeStored())

  /** Takes over what another tab of the app has stored. */
  private async takeStored(): Promise<void> {
    const text = await this.stored()
    const { kept, loaded, seen } = this
    this.loaded = true
    if (text === undefined || text === seen) return
    this.seen = text
    if (seen === undefined) return
    this.kept = keptIn(text)
    if (loaded && (kept || this.kept)) this.tell(this.kept?.session)
  }

  private async keep(kept: Kept | undefined, reason?: unknown): Promise<void> {
    await this.store(kept ? JSON.stringify(kept) : null)
    this.loaded = true
    this.kept = kept
    this.tell(kept?.session, reason)
  }

  /** Stores it. One that cannot be stored still holds until the app ends. */
  private async store(text: string | null): Promise<void> {
    const before = this.seen
    let failed = false
    try {
      if (text === null) await this.storage.removeItem(key)
      else await this.storage.setItem(key, text)
    } catch (error) {
      failed = true
      console.warn('The session could not be stored.', error)
    }
    // Not every storage says that it keeps nothing. Whatever else is there is another tab's.
    const found = await this.stored()
    this.seen = failed || found === null || found === before ? found : text
  }

  /** What is stored; undefined where that cannot be read now. */
  private async stored(): Promise<string | null | undefined> {
    try {
      return await this.storage.getItem(key) ?? null
    } catch {
      return undefined
    }
  }
}

const isEnding = ({ until }: Kept) => until - Date.now() < margin

/** The session in a text; what is none is nobody's. */
function keptIn(text: string | null): Kept | undefined {
  try {
    const kept = JSON.parse(text ?? 'null')
    return asSession(kept.session) && kept
  } catch {
    return undefined
  }
}
