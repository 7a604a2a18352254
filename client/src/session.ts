// Sessions, their storage, and the callers of the API.
import { ApiError, connectionError } from './errors.ts'
import type { Schemas } from './operations.ts'

export type Session = Schemas['Session']

/** A store for texts, such as `localStorage` or React Native's AsyncStorage. */
export type Storage = {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>
  setItem(key: string, value: string): unknown
  removeItem(key: string): unknown
}

/** Makes a storage whose content is lost when the app is closed. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>()
  return {
    getItem: (key) => texts.get(key),
    setItem: (key, value) => texts.set(key, value),
    removeItem: (key) => texts.delete(key),
  }
}

/** Called when the session changes. `reason` is set if the service has ended it. */
export type SessionListener = (session: Session | undefined, reason?: unknown) => void

/** Who makes a call. It stays the same for all attempts. */
export type Caller = {
  /** Returns a token that does not expire within the next seconds, or undefined for a guest. */
  token(): Promise<string | undefined>
  /** Returns a replacement for a refused token, if there is one. */
  tokenAfter(refused: string): Promise<string | undefined>
  /** Returns the identity that was acting when the call began. Known once `token` has returned a token. */
  identityId(): string | undefined
}

export const guest: Caller = {
  token: () => Promise.resolve(undefined),
  tokenAfter: () => Promise.resolve(undefined),
  identityId: () => undefined,
}

export type TokenSource = {
  caller(): Caller
  accessToken(): Promise<string | undefined>
}

/** Returns the current token. If `refused` is given, returns a different token if there is one. */
type TokenNow = (refused?: string) => Promise<string | undefined>

/**
 * Binds a caller to the session that is known when the call begins or, if none is known, to the first one
 * that is found. If another session replaces it, the call fails. If the session ends, the call is sent as a
 * guest, unless it has already used a token.
 */
export function boundTo(known: string | undefined, tokenNow: TokenNow): Omit<Caller, 'identityId'> {
  let session = known
  let hadToken = false
  const own = async (refused?: string) => {
    const token = await tokenNow(refused)
    if (token && session && sessionOf(token) !== session) throw sessionChanged()
    return token
  }
  return {
    async token() {
      const token = await own()
      if (!token && hadToken) throw sessionChanged()
      if (token) {
        hadToken = true
        session = sessionOf(token)
      }
      return token
    },
    tokenAfter: own,
  }
}

const sessionChanged = () =>
  new ApiError({
    code: 'session_changed',
    message: 'The session of this call has ended, or another has taken its place.',
  })

/** A source for tokens that the app manages itself. Calls `changed` when their session changes or ends. */
export function givenTokens(
  given: () => string | undefined | Promise<string | undefined>,
  changed: () => void,
): TokenSource {
  let known: string | undefined
  async function tokenNow(refused?: string) {
    const token = await given() || undefined
    const before = known
    known = token && sessionOf(token)
    if (before && before !== known) changed()
    return token === refused ? undefined : token
  }
  return {
    caller: () => ({
      ...boundTo(known, tokenNow),
      identityId: () => undefined,
    }),
    accessToken: () => tokenNow(),
  }
}

/** Returns the account and session of a token. A token that cannot be parsed counts as a separate session. */
export function sessionOf(token: string): string {
  try {
    const { sub, session_id } = JSON.parse(decoded(token.split('.')[1]!))
    return `${sub} ${session_id}`
  } catch {
    return token
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Decodes base64url to a string of bytes without atob, which React Native may lack. */
function decoded(text: string): string {
  let letters = ''
  let held = 0
  let bits = 0
  for (const digit of text) {
    held = (held << 6 | digits.indexOf(digit)) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    letters += String.fromCharCode(held >> bits & 0xff)
  }
  return letters
}

/** Throws if the response contains no session: then it cannot come from the service. */
export function asSession<S extends Session>(answer: S): S {
  const { accessToken, refreshToken, user } = Object(answer) as Partial<S>
  if (accessToken && refreshToken && user?.id) return answer
  throw connectionError('The answer has no session.')
}
