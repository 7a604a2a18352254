import type { Http } from './http.ts'
import type { SessionKeeper } from './keeper.ts'
import type { Answer, Input, Route, Schemas } from './operations.ts'
import { asSession, type Session, type SessionListener, type TokenSource } from './session.ts'
import type { SignOuts } from './sign-out.ts'

type BodyOf<Path extends Route<'post'>> = Required<NonNullable<Input<'post', Path>[0]>> extends
  { body: infer Body } ? Body : never

export type Auth = {
  /** Registers an account. With an email, the account exists at once; with a phone, `verify` needs a code. */
  register(details: BodyOf<'/auth/register'>): Promise<Answer<'post', '/auth/register'>>
  /** Verifies the code from the SMS, and signs in. */
  verify(proof: BodyOf<'/auth/register/verify-otp'>): Promise<Session>
  signIn(credentials: BodyOf<'/auth/login'>): Promise<Session>
  signInWithGoogle(proof: BodyOf<'/auth/google'>): Promise<Schemas['SocialSession']>
  signInWithApple(proof: BodyOf<'/auth/apple'>): Promise<Schemas['SocialSession']>
  /**
   * Signs out this device, all other devices, or all devices. This device is always signed out: its session
   * is deleted at once, and the service is notified as soon as it can be reached. For other devices,
   * `signOut` throws if the service cannot be reached, and changes nothing.
   */
  signOut(scope?: 'local' | 'others' | 'global'): Promise<void>
  /** Switches to another identity of the account, which all later calls act as. */
  switchIdentity(identityId: string): Promise<Schemas['Switched']>
  session(): Promise<Session | undefined>
  /**
   * Calls `listen` on sign-in, sign-out, token renewal and change of identity, including those in other tabs.
   * Returns a function that stops listening. If the app manages the session itself, `listen` is called when
   * the tokens belong to another session or are missing.
   */
  onChange(listen: SessionListener): () => void
  /** Returns the current token, renewed if necessary. Can be passed to supabase-js as `accessToken`. */
  accessToken(): Promise<string | undefined>
}

type Parts = { http: Http; keeper: SessionKeeper; tokens: TokenSource; signOuts: SignOuts }

export function authOf({ http, keeper, tokens, signOuts }: Parts): Auth {
  const post = <Value>(route: string, body: unknown) =>
    http.send<Value>('post', { route, body, asGuest: true })
  async function signedIn<S extends Session>(route: string, body: unknown): Promise<S> {
    const session = asSession(await post<S>(route, body))
    await keeper.set(session)
    return session
  }
  return {
    register: (details) => post('/auth/register', details),
    verify: (proof) => signedIn('/auth/register/verify-otp', proof),
    signIn: (credentials) => signedIn('/auth/login', credentials),
    signInWithGoogle: (proof) => signedIn('/auth/google', proof),
    signInWithApple: (proof) => signedIn('/auth/apple', proof),
    async signOut(scope = 'local') {
      const { known } = keeper
      if (scope !== 'local') {
        await http.send('post', { route: '/auth/logout', body: { scope } })
        if (scope === 'global') await keeper.leave(known)
        return
      }
      const left = await keeper.leave(known)
      if (left) return await signOuts.end(left)
      const token = await tokens.accessToken().catch(() => undefined)
      if (token) await signOuts.endByToken(token)
    },
    async switchIdentity(identityId) {
      const body = { identityId }
      const switched = await http.send<Schemas['Switched']>('post', {
        route: '/auth/identity/switch',
        body,
      })
      await keeper.update(switched)
      return switched
    },
    session: () => keeper.current(),
    onChange: (listen) => keeper.onChange(listen),
    accessToken: () => tokens.accessToken(),
  }
}
