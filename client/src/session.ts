/** What a session is, where it is kept, and whom a call acts for. */
import { ApiError, connectionError } from './errors.ts'
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

/** Hears who is signed in from now on; `reason` when the service ended it. */
export type SessionListener = (session: Session | undefined, reason?: unknown) => void

/** Whom a call acts for, from its first attempt to its last: never for another session. */
export type Caller = {
  /** A token that is good for a moment at least; undefined for a guest. */
  token(): Promise<string | undefined>
  /** Another one after this one was refused; undefined when there is none. */
  tokenAfter(refused: string): Promise<string | undefined>
  /** The acting identity, as the app knew it when the call began; known from the first token on. */
  identityId(): string | undefined
}

export const guest: Caller = {
  token: () => Promise.resolve(undefined),
  tokenAfter: () => Promise.resolve(undefined),
  identityId: () => undefined,
}

export type TokenSource = {
  /** Whoever is signed in now, for one call. */
  caller(): Caller
  /** The token of the moment, whoever is signed in. */
  accessToken(): Promise<string | undefined>
}

/** The token of the moment, another one than the refused if there is another. */
type TokenNow = (refused?: string) => Promise<string | undefined>

/**
 * A caller of the session that the app knew when the call began, else of the first that is found. When
 * another has taken its place, the call fails. When it has ended, the first attempt is a guest's, and none
 * follows one that had a token.
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

/** Tokens that something else keeps; `changed` hears that they are of another session, or none. */
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

/** The account and the session that a token is of. One that cannot be read is of its own. */
export function sessionOf(token: string): string {
  try {
    const { sub, session_id } = JSON.parse(decoded(token.split('.')[1]!))
    return `${sub} ${session_id}`
  } catch {
    return token
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Bytes as letters, from base64url: React Native may have no atob. */
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

/** An answer that holds a session; anything else did not come from the service. */
export function asSession<S extends Session>(answer: S): S {
  const { accessToken, refreshToken, user } = Object(answer) as Partial<S>
  if (accessToken && refreshToken && user?.id) return answer
  throw connectionError('The answer has no session.')
}
