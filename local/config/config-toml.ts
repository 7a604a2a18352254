import { readFileSync } from 'node:fs'
import { variable } from './environment.ts'
import { UserError } from './user-error.ts'

type Value = string | number | boolean | string[]
type Table = { [key: string]: Value | Table }

export type Hook = { schema: string; name: string }

export type SocialProvider = 'google' | 'apple'
type Social = { clientIds: string[]; keysUrl: string; skipNonce: boolean }

export type Config = {
  api: { schemas: string[]; searchPath: string[]; maxRows: number }
  auth: {
    jwtExpiry: number
    rotation: boolean
    reuseInterval: number
    /** How many token requests, of all grant types together, one address may send in five minutes. */
    tokenRate: number
    refreshTokens: 1 | 2
    signups: boolean
    anonymous: boolean
    passwordLength: number
    currentPassword: boolean
    /** Whether public requests need a captcha. This stack accepts no captcha token. */
    captcha: boolean
    email: boolean
    phone: boolean
    /** A provider is enabled if its client ids are set. A hosted project also needs `enabled = true`. */
    social: Record<SocialProvider, Social>
    hooks: Partial<Record<'custom_access_token' | 'send_sms' | 'send_email', Hook>>
  }
  storage: { limit: number }
  /** The entry points are file URLs. */
  functions: { name: string; entrypoint: string }[]
}

const file = new URL('../../supabase/config.toml', import.meta.url)

export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const toml = parseToml(readFileSync(file, 'utf8'))
  const at = <T extends Value>(path: string, otherwise: T): T =>
    (path.split('.').reduce<Value | Table | undefined>(
      (table, key) => (table as Table | undefined)?.[key],
      toml,
    ) ?? otherwise) as T
  return {
    api: {
      schemas: at('api.schemas', ['public']),
      searchPath: at('api.extra_search_path', ['public', 'extensions']),
      maxRows: at('api.max_rows', 1000),
    },
    auth: {
      jwtExpiry: at('auth.jwt_expiry', 3600),
      rotation: at('auth.enable_refresh_token_rotation', true),
      reuseInterval: at('auth.refresh_token_reuse_interval', 10),
      tokenRate: at('auth.rate_limit.token_refresh', 150),
      refreshTokens: variable('REFRESH_TOKENS', env) === '1' ? 1 : 2,
      signups: at('auth.enable_signup', true),
      anonymous: at('auth.enable_anonymous_sign_ins', false),
      // Auth itself never accepts fewer than 6.
      passwordLength: Math.max(6, at('auth.minimum_password_length', 6)),
      currentPassword: at('auth.email.require_current_password', false),
      captcha: at('auth.captcha.enabled', false),
      email: at('auth.email.enabled', true),
      phone: at('auth.sms.enabled', false),
      social: {
        google: social(
          env,
          at('auth.external.google.client_id', ''),
          at('auth.external.google.skip_nonce_check', false),
          'GOOGLE_JWKS_URL',
          'https://www.googleapis.com/oauth2/v3/certs',
        ),
        apple: social(
          env,
          at('auth.external.apple.client_id', ''),
          at('auth.external.apple.skip_nonce_check', false),
          'APPLE_JWKS_URL',
          'https://appleid.apple.com/auth/keys',
        ),
      },
      hooks: Object.fromEntries(
        (['custom_access_token', 'send_sms', 'send_email'] as const)
          .filter((name) => at(`auth.hook.${name}.enabled`, false))
          .map((name) => [name, parseHook(name, at(`auth.hook.${name}.uri`, ''))]),
      ),
    },
    storage: { limit: parseSize(at('storage.file_size_limit', '50MiB')) },
    functions: Object.entries((toml.functions ?? {}) as Table)
      .filter(([, settings]) => (settings as Table).enabled !== false)
      .map(([name, settings]) => ({
        name,
        entrypoint: new URL(
          String((settings as Table).entrypoint ?? `./functions/${name}/index.ts`),
          file,
        ).href,
      })),
  }
}

/** Reads comma-separated client ids, or `env(NAME)` as the CLI does. Tests set another URL of the key set. */
function social(
  env: NodeJS.ProcessEnv,
  clientId: string,
  skipNonce: boolean,
  keysName: string,
  fallback: string,
): Social {
  const name = /^env\((\w+)\)$/.exec(clientId)?.[1]
  const given = name ? env[name] ?? '' : clientId
  return {
    clientIds: given.split(',').map((text) => text.trim()).filter(Boolean),
    keysUrl: env[keysName] || fallback,
    skipNonce,
  }
}

function parseHook(name: string, uri: string): Hook {
  const [, schema, fn] = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/.exec(uri) ?? []
  if (schema && fn) return { schema, name: fn }
  throw new UserError(
    `supabase/config.toml: the hook ${name} needs a uri of the form ` +
      'pg-functions://postgres/<schema>/<function>; the embedded stack supports no other.',
  )
}

/** Parses a size as the CLI does, with units that are powers of 1,024. */
function parseSize(text: string): number {
  const [, count, unit = ''] = /^(\d+) ?([kmg]?)i?b?$/i.exec(text) ?? []
  if (count) return Number(count) * 1024 ** ' kmg'.indexOf(unit.toLowerCase() || ' ')
  throw new UserError(`supabase/config.toml: ${text} is not a size; write one such as "10MiB".`)
}

/** Parses the subset of TOML that config.toml uses: tables, scalars, and arrays of strings on one line. */
export function parseToml(text: string): Table {
  const root: Table = {}
  let table = root
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const heading = /^\[([\w.-]+)\]\s*(#.*)?$/.exec(line)
    if (heading) {
      table = root
      for (const key of heading[1]!.split('.')) table = (table[key] ??= {}) as Table
      continue
    }
    const pair = /^([\w-]+)\s*=\s*(.+)$/.exec(line)
    const value = pair && parseValue(pair[2]!)
    if (!pair || value === undefined || value === null) {
      throw new UserError(
        `supabase/config.toml, line ${index + 1}: the embedded stack reads tables, strings, ` +
          'numbers, booleans and one-line arrays of strings only.',
      )
    }
    table[pair[1]!] = value
  }
  return root
}

function parseValue(text: string): Value | undefined {
  const bare =
    /^("(?:[^"\\]|\\.)*"|\[(?:[^\]"]|"[^"]*")*\]|true|false|-?[\d_]+(?:\.\d+)?)\s*(#.*)?$/.exec(
      text,
    )
  if (!bare) return undefined
  // All accepted values are valid JSON, except for underscores in numbers and trailing commas in arrays.
  const json = bare[1]!.startsWith('"')
    ? bare[1]!
    : bare[1]!.startsWith('[')
    ? bare[1]!.replace(/,\s*\]$/, ']')
    : bare[1]!.replaceAll('_', '')
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
