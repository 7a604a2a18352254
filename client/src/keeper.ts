// Stores the session, so that it survives a restart and is shared between tabs, and renews it for all
// callers.
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
/** How many milliseconds before its expiry a token is renewed. */
const margin = 30_000

/** `until` is the expiry by the clock of this device, which may differ from the server's. */
type Cached = { session: Session; until: number }

export const renewalBy = (http: Http) => async (refreshToken: string): Promise<Session> => {
  const call = { route: '/auth/refresh', body: { refreshToken }, asGuest: true }
  return asSession(await http.send<Session>('post', call))
}

/** The browser's events: another tab has stored something, or the user has returned to this tab. */
const page = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>
const occasions = ['storage', 'visibilitychange']

const cachedFrom = (session: Session | undefined): Cached | undefined =>
  session && { session, until: Date.now() + session.expiresIn * 1000 }

const isOf = (cached: Cached | undefined, session: Session) =>
  cached !== undefined && sessionOf(cached.session.accessToken) === sessionOf(session.accessToken)

export class SessionKeeper implements TokenSource {
  private readonly storage: Storage
  private readonly refresh: (refreshToken: string) => Promise<Session>
  private readonly listeners = new Set<SessionListener>()
  private cached: Cached | undefined
  /**
   * The stored text when this tab last read or wrote it. If the text differs now, another tab has written it.
   * Undefined if it could not be read after writing.
   */
  private seen: string | null | undefined = null
  private loaded = false
  private turn: Promise<unknown> = Promise.resolve()
  private renewal: Promise<void> | undefined

  constructor(storage: Storage, refresh: (refreshToken: string) => Promise<Session>) {
    this.storage = storage
    this.refresh = refresh
  }

  /** The session that this tab knows, without reading the storage. */
  get known(): Session | undefined {
    return this.cached?.session
  }

  async current(): Promise<Session | undefined> {
    await this.reload()
    return this.known
  }

  set(session: Session): Promise<void> {
    return this.inTurn(() => this.save(cachedFrom(session)))
  }

  /** Stores changes of the account or its identity. The tokens stay the same. */
  update(changes: Pick<Session, 'user'> & Partial<Session>): Promise<void> {
    return this.inTurn(async () => {
      await this.takeStored()
      const { cached } = this
      if (cached?.session.user.id !== changes.user.id) return
      await this.save({ ...cached, session: { ...cached.session, ...changes } })
    })
  }

  /** Removes and returns `known` or, if it is undefined, the current session. Keeps a newer session. */
  leave(known: Session | undefined): Promise<Session | undefined> {
    return this.inTurn(async () => {
      await this.takeStored()
      const left = known ?? this.known
      if (!left || !isOf(this.cached, left)) return left
      const newest = this.known
      await this.save(undefined)
      return newest
    })
  }

  onChange(listen: SessionListener): () => void {
    this.listeners.add(listen)
    if (this.listeners.size === 1) {
      // Loads the existing session now, so that listeners are told only of changes.
      void this.reload()
      for (const one of occasions) page.addEventListener?.(one, this.reload)
    }
    return () => {
      this.listeners.delete(listen)
      if (this.listeners.size) return
      for (const one of occasions) page.removeEventListener?.(one, this.reload)
    }
  }

  /** Calls every listener, even if one throws. */
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
    let begun = this.cached
    const tokenNow = async (refused?: string) => {
      const token = await this.tokenNow(refused)
      begun ??= this.cached
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
    await this.reload()
    const { cached } = this
    const isOld = refused ? cached?.session.accessToken === refused : cached && isEnding(cached)
    if (isOld) await this.renew()
    return this.cached?.session.accessToken
  }

  /** Renews the session. Concurrent callers share one renewal. */
  private renew(): Promise<void> {
    return this.renewal ??= this.renewNow().finally(() => (this.renewal = undefined))
  }

  private async renewNow(): Promise<void> {
    const { session } = this.cached!
    try {
      await this.replace(session, await this.refresh(session.refreshToken))
    } catch (error) {
      // Only the service can end a session; a response from a proxy does not.
      const isRefused = isApiError(error) && error.code !== 'connection' &&
        (error.status === 401 || error.status === 403)
      if (!isRefused) throw error
      await this.replace(session, undefined, error)
    }
  }

  /** Stores the renewed session, or removes the old one. Does nothing if another session has replaced it. */
  private replace(old: Session, next: Session | undefined, reason?: unknown): Promise<void> {
    return this.inTurn(async () => {
      await this.takeStored()
      if (this.cached?.session.refreshToken === old.refreshToken) {
        await this.save(cachedFrom(next), reason)
      }
    })
  }

  /** Runs steps one after another, so that no other step runs between the read and the write of one. */
  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.turn.then(work, work)
    this.turn = done
    return done
  }

  private readonly reload = (): Promise<void> => this.inTurn(() => this.takeStored())

  /** Adopts the session if another tab has stored one. */
  private async takeStored(): Promise<void> {
    const text = await this.stored()
    const { cached, loaded, seen } = this
    this.loaded = true
    if (text === undefined || text === seen) return
    this.seen = text
    if (seen === undefined) return
    this.cached = cachedIn(text)
    if (loaded && (cached || this.cached)) this.tell(this.cached?.session)
  }

  private async save(cached: Cached | undefined, reason?: unknown): Promise<void> {
    await this.store(cached ? JSON.stringify(cached) : null)
    this.loaded = true
    this.cached = cached
    this.tell(cached?.session, reason)
  }

  /** Writes to the storage. If that fails, the session lasts until the app is closed. */
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
    // Some storages store nothing and report no error; then the old text is still there. Any other text comes
    // from another tab and is adopted when the storage is next read.
    const found = await this.stored()
    this.seen = failed || found === null || found === before ? found : text
  }

  /** Returns the stored text, or undefined if it cannot be read now. */
  private async stored(): Promise<string | null | undefined> {
    try {
      return await this.storage.getItem(key) ?? null
    } catch {
      return undefined
    }
  }
}

const isEnding = ({ until }: Cached) => until - Date.now() < margin

/** Parses a session; invalid text is treated as no session. */
function cachedIn(text: string | null): Cached | undefined {
  try {
    const cached = JSON.parse(text ?? 'null')
    return asSession(cached.session) && cached
  } catch {
    return undefined
  }
}
