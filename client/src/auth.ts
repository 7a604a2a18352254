/** Signing in and out, and what else changes the session. */
import type { Http } from './http.ts'
import type { Answer, Input, Route, Schemas } from './operations.ts'
import type { Session, SessionKeeper, SessionListener } from './session.ts'

type BodyOf<Path extends Route<'post'>> = Required<NonNullable<Input<'post', Path>[0]>> extends
  { body: infer Body } ? Body : never

export type Auth = {
  /** By email the account is there at once; by phone a code comes, for `verify`. */
  register(details: BodyOf<'/auth/register'>): Promise<Answer<'post', '/auth/register'>>
  /** Takes the code that came by SMS, and signs in. */
  verify(proof: BodyOf<'/auth/register/verify-otp'>): Promise<Session>
  signIn(credentials: BodyOf<'/auth/login'>): Promise<Session>
  signInWithGoogle(proof: BodyOf<'/auth/google'>): Promise<Schemas['SocialSession']>
  signInWithApple(proof: BodyOf<'/auth/apple'>): Promise<Schemas['SocialSession']>
  /** Of this device, the others or all. This device forgets the session even if it is offline. */
  signOut(scope?: 'local' | 'others' | 'global'): Promise<void>
  /** Acts as another identity of the account from now on. */
  switchIdentity(identityId: string): Promise<Schemas['Switched']>
  /** Who is signed in. */
  session(): Promise<Session | undefined>
  /** Hears who signed in or out, and of renewals; returns what ends the listening. */
  onChange(listen: SessionListener): () => void
  /** The token of the moment, renewed if need be: what supabase-js takes as `accessToken`. */
  accessToken(): Promise<string | undefined>
}

export function authOf(http: Http, keeper: SessionKeeper): Auth {
  const post = <Value>(route: string, body: unknown) =>
    http.send<Value>('post', { route, body, asGuest: true })
  async function signedIn<S extends Session>(route: string, body: unknown): Promise<S> {
    const session = await post<S>(route, body)
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
      try {
        await http.send('post', { route: '/auth/logout', body: { scope } })
      } finally {
        if (scope !== 'others') await keeper.set(undefined)
      }
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
    accessToken: () => keeper.accessToken(),
  }
}
