import type { Config, SocialProvider } from '../config/config-toml.ts'
import type { KeyRing } from '../config/signing-keys.ts'
import { getUser, logout, putUser } from './account.ts'
import { adminUsers } from './admin.ts'
import { checkCaptcha, isGuarded } from './captcha.ts'
import { openDatabase } from './database.ts'
import { type Answer, AuthError, badRequest, errorAnswer } from './errors.ts'
import { factors } from './factors.ts'
import { openPasswords } from './passwords.ts'
import { openRates } from './rates.ts'
import type { AuthRequest, Context } from './request.ts'
import { otp, reauthenticate, recover, resend, signup, verify } from './sending.ts'
import { token } from './token.ts'

type Handler = (context: Context, request: AuthRequest) => Promise<Answer> | Answer

const routes: Record<string, Handler> = {
  'POST /token': token,
  'GET /user': getUser,
  'PUT /user': putUser,
  'POST /logout': logout,
  'POST /signup': signup,
  'POST /otp': otp,
  'POST /magiclink': otp,
  'POST /recover': recover,
  'POST /resend': resend,
  'POST /verify': verify,
  'GET /reauthenticate': reauthenticate,
  'GET /authorize': authorize,
  'GET /settings': settings,
  'GET /health': health,
  'GET /.well-known/jwks.json': jwks,
  'GET /.well-known/openid-configuration': discovery,
}

/** Paths that work without an API key. */
export const openPaths = ['/.well-known/jwks.json', '/.well-known/openid-configuration']

const timeLimit = 10_000

export type Auth = ReturnType<typeof openAuth>

/** The stand-in for the parts of Supabase Auth that this project uses. It runs in the proxy's process. */
export function openAuth(options: {
  databaseUrl: string
  keys: KeyRing
  config: Config['auth']
  issuer: string
  rates: boolean
  hashCost: number
  /** Off by default, as in a deployed project (audit_log_disable_postgres). */
  auditLog?: boolean
}) {
  const { keys, config, issuer } = options
  const pool = openDatabase(options.databaseUrl)
  const passwords = openPasswords(options.hashCost)
  const { auditLog = false } = options
  const context: Context = { pool, keys, config, issuer, passwords, auditLog }
  const limit = openRates(options.rates)
  const run = async (request: AuthRequest): Promise<Answer> => {
    const { method, path } = request
    // Two routes count towards the rate limit only after the captcha check, the others before it.
    const countsLate = path === '/token' || path === '/signup'
    if (countsLate && isGuarded(request)) await checkCaptcha(context, request)
    limit(method, path, request.ip)
    if (!countsLate && isGuarded(request)) await checkCaptcha(context, request)
    const route = routes[`${method} ${path}`]
    if (route) return await route(context, request)
    if (path === '/admin/users' || path.startsWith('/admin/users/')) {
      return await adminUsers(context, request)
    }
    if (path === '/factors' || path.startsWith('/factors/')) return await factors(context, request)
    const known = Object.keys(routes).some((name) => name.split(' ')[1] === path)
    throw known
      ? new AuthError(405, '', 'Method Not Allowed')
      : new AuthError(404, '', 'Requested path is invalid')
  }
  return {
    handle: async (request: AuthRequest): Promise<Answer> => {
      const version = request.headers['x-supabase-api-version']
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const message = 'Processing this request timed out, please retry after a moment.'
          reject(new AuthError(504, 'request_timeout', message))
        }, timeLimit)
      })
      try {
        return await Promise.race([run(request), late])
      } catch (error) {
        if (!(error instanceof Error) || isUnexpected(error)) console.error('auth:', error)
        return errorAnswer(error, Array.isArray(version) ? version[0] : version)
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => pool.end(),
  }
}

/** Whether to log an error. SQL raises PTnnn with a reason to reject a request, so that is not logged. */
const isUnexpected = (error: Error & { code?: string }) =>
  !['AuthError', 'OAuthError'].includes(error.constructor.name) &&
  !/^PT\d{3}$/.test(error.code ?? '')

function jwks(context: Context): Answer {
  const headers = { 'cache-control': 'public, max-age=600' }
  return { status: 200, headers, body: context.keys.jwks() }
}

function discovery(context: Context): Answer {
  const { issuer } = context
  const body = {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
  return { status: 200, headers: { 'cache-control': 'public, max-age=600' }, body }
}

/** Always throws: no provider has a client secret (config.toml), so there is nowhere to redirect to. */
function authorize({ config }: Context, { query }: AuthRequest): Answer {
  const name = query.get('provider')?.toLowerCase() ?? ''
  const provider = config.social[name as SocialProvider]
  const reason = !provider
    ? `Provider ${name} could not be found`
    : provider.clientIds.length === 0
    ? 'provider is not enabled'
    : 'missing OAuth secret'
  throw badRequest(`Unsupported provider: ${reason}`)
}

function settings(context: Context): Answer {
  const { config } = context
  const body = {
    external: {
      anonymous_users: config.anonymous,
      apple: config.social.apple.clientIds.length > 0,
      google: config.social.google.clientIds.length > 0,
      email: config.email,
      phone: config.phone,
    },
    disable_signup: !config.signups,
    mailer_autoconfirm: false,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  }
  return { status: 200, body }
}

function health(): Answer {
  return {
    status: 200,
    body: {
      version: 'embedded',
      name: 'GoTrue',
      description: 'GoTrue is a user registration and authentication API',
    },
  }
}
