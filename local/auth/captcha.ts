import { badRequest } from './errors.ts'
import { type AuthRequest, type Context, readBody, requireAdmin } from './request.ts'

const routes = ['/signup', '/recover', '/resend', '/magiclink', '/otp', '/token']
const exempt = ['pkce', 'refresh_token', 'id_token']

export const isGuarded = ({ method, path }: AuthRequest) =>
  method === 'POST' && routes.includes(path)

/**
 * Rejects every request that needs a captcha, because this stand-in accepts no captcha token. Requests with
 * the secret key need none, nor do grants that carry their own credentials, such as a refresh token.
 */
export async function checkCaptcha(context: Context, request: AuthRequest): Promise<void> {
  if (!context.config.captcha || await isAdmin(context, request)) return
  if (request.path === '/token' && exempt.includes(request.query.get('grant_type') ?? '')) return
  const { gotrue_meta_security: security } = readBody(request, { gotrue_meta_security: 'object' })
  const solved = security?.captcha_token ?? ''
  if (typeof solved !== 'string') {
    throw badRequest('Could not parse request body as JSON: captcha_token', 'bad_json')
  }
  // invalid-input-secret is the provider's error code for a secret that it never issued.
  const reason = solved.trim() ? 'invalid-input-secret' : 'no captcha_token found'
  throw badRequest(`captcha protection: request disallowed (${reason})`, 'captcha_failed')
}

const isAdmin = (context: Context, request: AuthRequest) =>
  requireAdmin(context, request).then(() => true, () => false)
