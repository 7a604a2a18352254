/** Who is signed in: kept between starts of the app, renewed once for all that need it. */
import { isApiError } from './errors.ts'
import type { Schemas } from './operations.ts'

export type Session = Schemas['Session']

/** Where texts are kept. `localStorage` is one, AsyncStorage of React Native another. */
export type Storage = {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
}

/** Gone when the app ends. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>()
  return {
    getItem: (key) => texts.get(key),
    setItem: (key, value) => texts.set(key, value),
    removeItem: (key) => texts.delete(key),
  }
}

/** What a request needs to know of a session. */
export type TokenSource = {
  /** A token that is good for a moment at least; undefined for a guest. */
  accessToken(): Promise<string | undefined>
  /** A token after this one was refused; undefined when there is no other. */
  tokenAfter(refused: string): Promise<string | undefined>
}

/** Hears who is signed in from now on; `reason` when the service ended it. */
export type SessionListener = (session: Session | undefined, reason?: unknown) => void

const key = 'kuwait-property.session'
/** Milliseconds before its end in which a token is renewed. */
const margin = 30_000

/** `until` is by the clock of this device, which may differ from the server's. */
type Kept = { session: Session; until: number }

export class SessionKeeper implements TokenSource {
  private readonly storage: Storage
  private readonly refresh: (refreshToken: string) => Promise<Session>
  private readonly listeners = new Set<SessionListener>()
  private kept: Kept | undefined
  private loaded: Promise<void> | undefined
  private renewal: Promise<void> | undefined

  constructor(storage: Storage, refresh: (refreshToken: string) => Promise<Session>) {
    this.storage = storage
    this.refresh = refresh
  }

  async current(): Promise<Session | undefined> {
    await this.load()
    return this.kept?.session
  }

  /** Somebody signed in, or out. */
  async set(session: Session | undefined, reason?: unknown): Promise<void> {
    await this.load()
    this.kept = session && { session, until: Date.now() + session.expiresIn * 1000 }
    await this.store()
    for (const listen of [...this.listeners]) listen(session, reason)
  }

  /** The account or its identity changed; the tokens are the same. */
  async update(changes: Partial<Session>): Promise<void> {
    if (!this.kept) return
    this.kept = { ...this.kept, session: { ...this.kept.session, ...changes } }
    await this.store()
    for (const listen of [...this.listeners]) listen(this.kept.session)
  }

  onChange(listen: SessionListener): () => void {
    this.listeners.add(listen)
    return () => this.listeners.delete(listen)
  }

  async accessToken(): Promise<string | undefined> {
    await this.load()
    if (this.kept && this.kept.until - Date.now() < margin) await this.renew()
    return this.kept?.session.accessToken
  }

  async tokenAfter(refused: string): Promise<string | undefined> {
    if (this.kept?.session.accessToken === refused) await this.renew()
    return this.kept?.session.accessToken
  }

  /** One renewal at a time, for whoever needs it. */
  private renew(): Promise<void> {
    return this.renewal ??= this.renewNow().finally(() => (this.renewal = undefined))
  }

  private async renewNow(): Promise<void> {
    const { session } = this.kept!
    if (await this.takeStored(session)) return
    try {
      const renewed = await this.refresh(session.refreshToken)
      // Signed out meanwhile: then nobody is signed in again.
      if (this.kept?.session.refreshToken === session.refreshToken) await this.set(renewed)
    } catch (error) {
      if (!isApiError(error) || error.status !== 401 && error.status !== 403) throw error
      if (await this.takeStored(session)) return
      if (this.kept?.session.refreshToken === session.refreshToken) await this.set(undefined, error)
    }
  }

  /** Takes what another tab of the same app has renewed already. */
  private async takeStored({ refreshToken }: Session): Promise<boolean> {
    const stored = await this.read()
    if (!stored || stored.session.refreshToken === refreshToken) return false
    if (stored.until - Date.now() < margin) return false
    this.kept = stored
    return true
  }

  private load(): Promise<void> {
    return this.loaded ??= this.read().then((kept) => {
      this.kept = kept
    })
  }

  private async read(): Promise<Kept | undefined> {
    try {
      return JSON.parse(await this.storage.getItem(key) ?? 'null') ?? undefined
    } catch {
      // What cannot be read is no session.
      return undefined
    }
  }

  private async store(): Promise<void> {
    // One that cannot be kept still holds until the app ends.
    try {
      if (this.kept) await this.storage.setItem(key, JSON.stringify(this.kept))
      else await this.storage.removeItem(key)
    } catch (error) {
      console.warn('The session could not be stored.', error)
    }
  }
}
